"""How events are put on the wire: as moot's own, or in a dialect that the debate's format offers."""

from __future__ import annotations

import json
from typing import Protocol

from fastapi.sse import format_sse_event

from moot.app import App
from moot.client import documents
from moot.core.stage import VERDICT
from moot.core.types import Debate, Event, Json
from moot.formats.format import Dialect, Format
from moot.server import markdown, schemas, views
from moot.server.live import Channel, Delta
from moot.server.problems import Refused

OWN = "moot"  # the name of moot's own wording

# ASCII: text in flight can end in the middle of a character, which UTF-8 has no form for.
_dumps = json.JSONEncoder(separators=(",", ":")).encode


class Encoder(Protocol):
    """Turns what happens into bytes to send; empty bytes are not sent.

    `place` becomes the event's id, for a client that reconnects. Encoders of the same `kind` give the same bytes.
    """

    @property
    def kind(self) -> str: ...

    async def event(self, channel: Channel, event: Event, place: str) -> bytes: ...

    def delta(self, debate_id: str, delta: Delta) -> bytes: ...

    def debate(self, debate: Debate) -> bytes: ...

    def end(self, channel: Channel, place: str, *, gone: bool) -> bytes: ...


class EventEncoder:
    """Durable events have no name, so that `onmessage` gets them all; `delta`, `debate` and `end` have."""

    def __init__(self, app: App, *, with_html: bool) -> None:
        self._app, self._with_html = app, with_html
        self.kind = f"{OWN} with html" if with_html else OWN

    async def event(self, channel: Channel, event: Event, place: str) -> bytes:
        if self._with_html and event.turn is not None:
            await markdown.prepare(event.turn.content)
        view = views.event(channel.id, event, await channel.wording(), with_html=self._with_html)
        return format_sse_event(data_str=view.model_dump_json(), id=place)

    def delta(self, debate_id: str, delta: Delta) -> bytes:
        flight = delta.flight
        data = {
            "debate": debate_id,
            "key": flight.key,
            "seat": flight.seat,
            "round": flight.round,
            "phase": flight.phase,
            "shows": flight.shows,
            "attempt": delta.attempt,
            "offset": delta.offset,
            "end": delta.offset + len(delta.text),
            "text": delta.text,
            "done": delta.done,
        }
        return format_sse_event(data_str=_dumps(data), event="delta")

    def debate(self, debate: Debate) -> bytes:
        view = views.summary(self._app, debate)
        return format_sse_event(data_str=view.model_dump_json(), event="debate")

    def end(self, channel: Channel, place: str, *, gone: bool) -> bytes:
        debate = channel.debate
        view = schemas.End(debate=debate.id, status=debate.status, last_seq=debate.last_seq, deleted=gone)
        return format_sse_event(data_str=view.model_dump_json(), event="end", id=place)


class DialectEncoder:
    """Sends only what the dialect has words for. Its `type` is the name of the event."""

    def __init__(self, app: App, format_: Format, name: str) -> None:
        self.kind = f"{format_.name}/{name}"
        self._app, self._traced = app, format_.trace is not None
        self._dialect: Dialect = format_.dialects[name]

    async def event(self, channel: Channel, event: Event, place: str) -> bytes:
        trace = await documents.trace(self._app, channel.id) if self._traced and event.type == VERDICT else None
        return _named(self._dialect.event(event, channel.debate, trace), place)

    def delta(self, debate_id: str, delta: Delta) -> bytes:
        flight = delta.flight
        return _named(self._dialect.chunk(flight.phase, flight.round, delta.text)) if delta.text else b""

    def debate(self, debate: Debate) -> bytes:
        return b""

    def end(self, channel: Channel, place: str, *, gone: bool) -> bytes:
        return b""


def encoder_of(name: str, app: App, debate: Debate, *, with_html: bool) -> Encoder:
    """The encoder for the query parameter `dialect`. Raises Refused when the debate's format has no such dialect."""
    if name == OWN:
        return EventEncoder(app, with_html=with_html)
    format_ = app.formats.get(debate.format)
    if format_ is None or name not in format_.dialects:
        known = [OWN, *(format_.dialects if format_ else ())]
        raise Refused(
            "invalid",
            f"The events of a {debate.format} have no dialect {name!r}. Known: {', '.join(known)}. Leave `dialect` out "
            "for moot's own.",
        )
    return DialectEncoder(app, format_, name)


def _named(data: Json | None, place: str | None = None) -> bytes:
    return b"" if data is None else format_sse_event(data_str=_dumps(data), event=str(data["type"]), id=place)
