"""One event stream for a whole page: browsers open no more than six connections to a server."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from moot.core.errors import InputError, NoSuchDebate
from moot.core.types import Debate
from moot.server import stream_schema
from moot.server.context import Context, Reader, take_room, until_revoked
from moot.server.encoders import EventEncoder
from moot.server.problems import documented
from moot.server.routes.debates import Html
from moot.server.sse import Events, Stream

router = APIRouter(tags=["transcript"])

MAX_DEBATES = 20

_STREAM: dict[str, Any] = {
    "description": "The live stream; it ends only with the connection",
    "content": stream_schema.CONTENT,
}


@router.get(
    "/v1/stream",
    operation_id="watchMany",
    summary="Several debates and the list of the newest ones, live in one stream",
    response_class=Response,
    responses={
        200: _STREAM,
        **documented("unknown-debate", "invalid", "too-many-streams"),
    },
)
async def watch_many(
    request: Request,
    context: Context,
    caller: Reader,
    debates: Annotated[
        str,
        Query(
            max_length=2000,
            description="full ids with commas between them; `id:seq` begins after that event. Empty: none",
        ),
    ] = "",
    newest: Annotated[
        bool, Query(description="also send the newest debates, now and whenever one of them changes")
    ] = False,
    html: Html = False,
    last_event_id: Annotated[
        str | None, Header(max_length=2000, description="set by a browser that reconnects; wins over `debates`")
    ] = None,
) -> Response:
    """Every event says which debate it is about. An `end` ends a debate, not the stream."""
    wanted = {**_places(debates), **{name: at for name, at in _places(last_event_id or "").items() if name in debates}}
    if len(wanted) > MAX_DEBATES:
        raise InputError(f"{len(wanted)} debates were asked for; {MAX_DEBATES} is the most for one stream.")
    viewer = caller.viewer(context.app.settings)
    found: list[tuple[Debate, int]] = []
    for debate_id, after in wanted.items():
        debate = await context.store.get(debate_id)
        if viewer is not None and not viewer.sees(debate):
            raise NoSuchDebate(debate_id)
        found.append((debate, after))
    take_room(request.scope, context, caller)
    stream = Stream(
        context.live,
        EventEncoder(context.app, with_html=html),
        found,
        with_list=newest,
        viewer=viewer,
        lasting=True,
        closing=context.closing,
    )
    return Events(stream, heartbeat_seconds=context.heartbeat_seconds, revoked=until_revoked(context, caller, "read"))


def _places(text: str) -> dict[str, int]:
    places: dict[str, int] = {}
    for each in filter(None, text.split(",")):
        debate_id, _, seq = each.strip().partition(":")
        if seq and not (seq.isdecimal() and seq.isascii() and len(seq) < 16):
            raise InputError(f"{each!r} is no place in a debate. Write the id, or id:seq.")
        places[debate_id] = int(seq or 0)
    return places
