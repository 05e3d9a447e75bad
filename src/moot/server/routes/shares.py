"""Links that show one debate to everyone who has them, and the debate as one file."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Response
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from moot.records.page import policy
from moot.server import bodies, schemas
from moot.server.context import Context, DebateId, Reader, Runner, ServerContext
from moot.server.guard import SHARED
from moot.server.problems import documented

router = APIRouter(tags=["sharing"])

DAY_SECONDS = 86_400
HTML = "text/html"
FOUND = documented("unknown-debate", "ambiguous-id", "invalid")
_AS_HTML: dict[str, Any] = {"description": "One HTML file", "content": {HTML: {"schema": {"type": "string"}}}}
_NOT_VALID = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>This link is not valid</title>
<h1>This link is not valid</h1>
<p>It was revoked, it has ended, or what it showed was deleted. Ask the person who gave it to you for another.</p>
</html>
"""


@router.get(
    "/v1/debates/{debate_id}/document",
    operation_id="getDocument",
    summary="The debate as one HTML file that needs nothing else",
    response_class=Response,
    responses={200: _AS_HTML, **FOUND},
)
async def document(debate_id: DebateId, context: Context, caller: Reader) -> Response:
    """The answer, the record and what was said, without private thoughts. Of an unfinished debate, what there is."""
    client = context.client.acting_for(caller)
    return _page(await client.html(await client.find(debate_id)))


@router.post(
    "/v1/debates/{debate_id}/shares",
    operation_id="shareDebate",
    summary="Make a link that shows the debate and nothing else",
    status_code=201,
    response_model=schemas.NewShare,
    responses=FOUND,
)
async def share(debate_id: DebateId, wanted: bodies.ShareTerms, context: Context, caller: Runner) -> schemas.NewShare:
    """Everyone who has the link sees the debate as it stands, also a private one. For the token that made the debate,
    and for `admin`."""
    client = context.client.acting_for(caller)
    days = wanted.expires_in_days
    ends = None if days is None else time.time() + days * DAY_SECONDS
    secret, made = await client.shares.make(await client.find(debate_id), ends)
    return schemas.NewShare(id=made.id, path=f"{SHARED}{secret}", expires_at=made.expires_at)


@router.get(
    "/v1/debates/{debate_id}/shares",
    operation_id="listShares",
    summary="The links that show the debate",
    response_model=schemas.Shares,
    responses=FOUND,
)
async def shares(debate_id: DebateId, context: Context, caller: Runner) -> schemas.Shares:
    """Without their addresses, which are not stored. For the token that made the debate, and for `admin`."""
    client = context.client.acting_for(caller)
    found = await client.shares.valid(await client.find(debate_id))
    return schemas.Shares(
        items=[
            schemas.Share(
                id=each.id,
                made_by=each.name,
                created_at=each.created_at,
                expires_at=each.expires_at,
                last_used_at=each.last_used_at,
            )
            for each in found
        ]
    )


@router.delete(
    "/v1/debates/{debate_id}/shares/{share_id}",
    operation_id="unshareDebate",
    summary="Make a link invalid",
    status_code=204,
    responses=documented("unknown-debate", "ambiguous-id", "unknown-name", "invalid"),
)
async def unshare(debate_id: DebateId, share_id: str, context: Context, caller: Runner) -> None:
    """At once, for everyone who has it."""
    client = context.client.acting_for(caller)
    await client.shares.revoke(await client.find(debate_id), share_id)


def route() -> BaseRoute:
    """What a link leads to. It needs no token: the secret in the address is the right to see one debate."""
    return Route(f"{SHARED}{{secret}}", _shared, methods=["GET"], include_in_schema=False)


async def _shared(request: Request) -> Response:
    context: ServerContext = request.app.state.context
    debate = await context.client.shares.shown_by(request.path_params["secret"])
    if debate is None:
        return Response(_NOT_VALID, 404, media_type=HTML)
    return _page(await context.client.html(debate))


def _page(text: str) -> Response:
    headers = {"Content-Security-Policy": f"{policy()}; frame-ancestors 'none'", "X-Robots-Tag": "noindex"}
    return Response(text, 200, headers, HTML)
