"""Transcripts: turns, events (a page, or live), audit, trace, proof."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse
from pydantic_core import to_json

from moot.config import masked, shown
from moot.core.types import Debate, Json
from moot.runtime.threads import in_thread
from moot.server import schemas, stream_schema, views
from moot.server.context import Context, DebateId, Reader, ServerContext, take_room, until_revoked
from moot.server.encoders import OWN, encoder_of
from moot.server.problems import Refused, documented
from moot.server.routes.debates import Html
from moot.server.sse import Events, Stream
from moot.server.wordings import wording_after

router = APIRouter(tags=["transcript"])

LOOKS = documented("unknown-debate", "ambiguous-id", "invalid")
After = Annotated[int, Query(ge=0, le=2**53, description="only what comes after this number")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Step = Annotated[str | None, Query(max_length=200, description="only the turn and the events of this step")]

_EVENTS: dict[str, Any] = {
    "description": "A page of events; with `Accept: text/event-stream` the live stream. A dialect has other events",
    "content": stream_schema.CONTENT,
}


@router.get(
    "/v1/debates/{debate_id}/turns",
    operation_id="listTurns",
    summary="The turns of a debate, in the order in which they were stored",
    response_model=schemas.TurnPage,
    responses=LOOKS,
)
async def turns(
    debate_id: DebateId, context: Context, caller: Reader, after: After = 0, limit: Limit = 500, html: Html = False
) -> Response:
    debate = await context.find(debate_id, caller)
    found = await context.store.turns(debate.id, after)

    def page() -> bytes:
        items = [views.turn(turn, with_html=html) for turn in found[:limit]]
        return views.json_of(schemas.TurnPage(items=items, next=items[-1].seq if len(found) > limit else None))

    return Response(await in_thread(page), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}/events",
    operation_id="getEvents",
    summary="The events of a debate: as a page, or live",
    response_model=schemas.EventPage,
    responses={
        200: _EVENTS,
        204: {"description": "The debate is over and the client has every event: `EventSource` stops reconnecting"},
        **LOOKS,
        **documented("too-many-streams"),
    },
)
async def events(
    request: Request,
    debate_id: DebateId,
    context: Context,
    caller: Reader,
    after: After = 0,
    limit: Limit = 500,
    html: Html = False,
    until: Annotated[
        Literal["end", "rest"],
        Query(description="the stream ends when the debate is completed or canceled, or as soon as it rests"),
    ] = "end",
    dialect: Annotated[
        str, Query(max_length=100, description="how the stream's events are worded: `moot`, or a dialect of its format")
    ] = OWN,
    last_event_id: Annotated[
        str | None, Header(max_length=100, description="set by a browser that reconnects; wins over `after`")
    ] = None,
) -> Response:
    """A page of durable events; with `Accept: text/event-stream` a live stream of them, from `after` on, and of the
    text that is being written. A client that reconnects with the last id misses nothing, and gets nothing twice."""
    debate = await context.find(debate_id, caller)
    encoder = encoder_of(dialect, context.app, debate, with_html=html)
    if not _wants_stream(request.headers.get("accept", "")):
        return await _page(context, debate, after, limit, with_html=html)
    returning = last_event_id is not None and last_event_id.isdecimal()
    if returning:
        after = int(last_event_id or 0)
        if debate.terminal and after >= debate.last_seq:
            return Response(status_code=204)
    take_room(request.scope, context, caller)
    stream = Stream(
        context.live,
        encoder,
        [(debate, after)],
        viewer=caller.viewer(context.app.settings),
        until_rest=until == "rest",
        closing=context.closing,
    )
    return Events(stream, heartbeat_seconds=context.heartbeat_seconds, revoked=until_revoked(context, caller, "read"))


def _wants_stream(accept: str) -> bool:
    return EventSourceResponse.media_type in [each.partition(";")[0].strip().lower() for each in accept.split(",")]


async def _page(context: ServerContext, debate: Debate, after: int, limit: int, *, with_html: bool) -> Response:
    found = await context.store.events(debate.id, after, limit + 1)
    wording = await wording_after(context.store, debate, after)

    def page() -> bytes:
        items = [views.event(debate.id, event, wording, with_html=with_html) for event in found[:limit]]
        return views.json_of(schemas.EventPage(items=items, next=items[-1].seq if len(found) > limit else None))

    return Response(await in_thread(page), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}/audit",
    operation_id="auditDebate",
    summary="Everything that is known of a debate, with every word that was sent to a model",
    response_model=schemas.Audit,
    responses={**LOOKS, **documented("rules-changed")},
)
async def audit(debate_id: DebateId, context: Context, caller: Reader, step: Step = None) -> Response:
    """Each turn has the whole conversation that it answers, so this is far larger than the debate: ask for one step
    where one is enough."""
    debate = await context.find(debate_id, caller)
    found = await context.client.audit(debate, step)
    return StreamingResponse(_audit(found), media_type="application/json")


async def _audit(found: Json) -> AsyncGenerator[bytes, None]:
    """The JSON of an audit, in parts: the whole of a long debate would take tens of megabytes."""
    about: Json = found["debate"]
    about = {**about, "config": shown(about["config"]), "cast": shown(about["cast"]), "error": shown(about["error"])}
    yield b'{"debate":' + _json(about)
    parts: Sequence[tuple[str, Callable[[Json], Json], int]] = (
        ("turns", _without_addresses, 1),  # each has a whole conversation
        ("events", _event, 100),
    )
    for name, view, at_once in parts:
        yield f',"{name}":['.encode()
        for n in range(0, len(found[name]), at_once):
            some = map(view, found[name][n : n + at_once])
            yield (b"," if n else b"") + await in_thread(lambda some=some: b",".join(map(_json, some)))
        yield b"]"
    yield b"}"


def _json(value: Json) -> bytes:
    return to_json(value, inf_nan_mode="null")


def _event(event: Json) -> Json:
    return event if event["type"].isupper() else {**event, "data": shown(event["data"])}


def _without_addresses(turn: Json) -> Json:
    return {
        **turn,
        "model": masked(turn["model"]),
        "metadata": shown(turn["metadata"]),
        "failure": shown(turn["failure"]),
    }


@router.get(
    "/v1/debates/{debate_id}/trace",
    operation_id="traceDebate",
    summary="The format's own account of a debate",
    response_model=schemas.Trace,
    responses={**LOOKS, **documented("not-found")},
)
async def trace(debate_id: DebateId, context: Context, caller: Reader) -> schemas.Trace:
    """Not every format has one."""
    debate = await context.find(debate_id, caller)
    found = await context.client.trace(debate)
    if found is None:
        raise Refused("not-found", f"The format {debate.format!r} keeps no account of its own. See its turns.")
    return schemas.Trace(format=debate.format, trace=shown(found))


@router.get(
    "/v1/debates/{debate_id}/proof",
    operation_id="proveDebate",
    summary="Whether the record leads to the same transcript, byte for byte",
    response_model=schemas.Proof,
    responses={**LOOKS, **documented("rules-changed")},
)
async def proof(debate_id: DebateId, context: Context, caller: Reader) -> schemas.Proof:
    debate = await context.find(debate_id, caller)
    proof = await context.client.replay(debate)
    line, recorded, replayed = await in_thread(lambda: proof.first_difference) or (None, None, None)
    return schemas.Proof(
        same=proof.same,
        sha256=proof.sha256,
        bytes=len(proof.recorded),
        turns=debate.turn_count,
        line=line,
        recorded=recorded,
        replayed=replayed,
    )
