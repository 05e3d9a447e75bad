"""How events are worded on the wire: in moot's own way, or as clients of a crucible or a duel expect them."""

from __future__ import annotations

import json
from typing import Literal, Protocol

from fastapi.sse import format_sse_event

from moot.app import App
from moot.formats.crucible import dialect as crucible
from moot.formats.duel import dialect as duel
from moot.server import schemas, views
from moot.server.live import Said
from moot.server.problems import Refused
from moot.types import Debate, Event, Json

Name = Literal["moot", "crucible", "duel"]

# ASCII: a text in flight can end in half a character, which has no other form.
_dumps = json.JSONEncoder(separators=(",", ":")).encode


class Dialect(Protocol):
    """Each gives the bytes to send, or none. `place` goes into the event's id, for a client that comes back. Two of the
    same `kind` give the same bytes."""

    @property
    def kind(self) -> str: ...

    async def event(self, debate: Debate, event: Event, place: str) -> bytes: ...

    def said(self, debate_id: str, said: Said) -> bytes: ...

    def debate(self, debate: Debate) -> bytes: ...

    def end(self, debate: Debate, place: str) -> bytes: ...


class Moot:
    """Durable events have no name, so that `onmessage` gets them all; `delta`, `debate` and `end` have."""

    def __init__(self, app: App, *, with_html: bool) -> None:
        self._app, self._with_html = app, with_html
        self.kind = "moot with html" if with_html else "moot"

    async def event(self, debate: Debate, event: Event, place: str) -> bytes:
        view = views.event(debate.id, event, with_html=self._with_html)
        return format_sse_event(data_str=view.model_dump_json(), id=place)

    def said(self, debate_id: str, said: Said) -> bytes:
        flight = said.flight
        told = {
            "debate": debate_id,
            "key": flight.key,
            "seat": flight.seat,
            "round": flight.round,
            "phase": flight.phase,
            "shows": flight.shows,
            "attempt": said.attempt,
            "offset": said.offset,
            "end": said.offset + len(said.text),
            "text": said.text,
            "done": said.done,
        }
        return format_sse_event(data_str=_dumps(told), event="delta")

    def debate(self, debate: Debate) -> bytes:
        view = views.summary(self._app, debate)
        return format_sse_event(data_str=view.model_dump_json(), event="debate")

    def end(self, debate: Debate, place: str) -> bytes:
        view = schemas.End(debate=debate.id, status=debate.status, last_seq=debate.last_seq)
        return format_sse_event(data_str=view.model_dump_json(), event="end", id=place)


class _Foreign:
    """Only what the other side knows; there is no word for the rest."""

    def debate(self, debate: Debate) -> bytes:
        return b""

    def end(self, debate: Debate, place: str) -> bytes:
        return b""


class Crucible(_Foreign):
    kind = "crucible"

    def __init__(self, app: App) -> None:
        self._app = app

    async def event(self, debate: Debate, event: Event, place: str) -> bytes:
        trace = await self._app.trace(debate.id) if event.type == "VERDICT" else None
        return _named(crucible.spoken(event, trace or {}), place)

    def said(self, debate_id: str, said: Said) -> bytes:
        flight = said.flight
        return _named(crucible.chunk(flight.phase, flight.round, said.text)) if said.text else b""


class Duel(_Foreign):
    kind = "duel"

    async def event(self, debate: Debate, event: Event, place: str) -> bytes:
        return _named(duel.spoken(event, debate), place)

    def said(self, debate_id: str, said: Said) -> bytes:
        return b""


def dialect_of(name: Name, app: App, debate: Debate, *, with_html: bool) -> Dialect:
    if name == "moot":
        return Moot(app, with_html=with_html)
    if debate.format != name:
        raise Refused(
            "invalid",
            f"Debate {debate.short} is a {debate.format}; only a {name} can be told as one. Leave `dialect` out.",
        )
    return Crucible(app) if name == "crucible" else Duel()


def _named(told: Json | None, place: str | None = None) -> bytes:
    return b"" if told is None else format_sse_event(data_str=_dumps(told), event=str(told["type"]), id=place)
