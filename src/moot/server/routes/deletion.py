"""Deleting debates, exporting and importing them. All of it is the operator's: it needs the scope `admin`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from moot.caller import Caller
from moot.core.errors import InputError
from moot.core.types import Debate, Json
from moot.runtime.retention import DAY_SECONDS
from moot.server import bodies, schemas, views
from moot.server.context import Admin, Context, DebateId, ServerContext, until_revoked
from moot.server.guard import IMPORT_PATH, JSON_LINES, OCTETS
from moot.server.problems import Refused, documented
from moot.server.routes.lifecycle import MOVES, IfMatch, moving

router = APIRouter(tags=["deletion"])

MOST_PURGED = 1000  # debates for one request
MAX_EXPORTED = 100  # ids in one request; all debates take none
MOST_PROBLEMS = 100  # that an import lists


@router.delete(
    "/v1/debates/{debate_id}",
    operation_id="deleteDebate",
    summary="Delete a debate and everything of it, for good",
    response_model=schemas.Deleted,
    responses=MOVES,
)
async def delete(debate_id: DebateId, context: Context, caller: Admin, if_match: IfMatch = None) -> schemas.Deleted:
    """In any status: one that runs ends without a trace. Its forks stay. Afterwards its id gives `410`."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        gone = await context.client.acting_for(caller).delete(debate.id, seen=seen)
    return views.filled(schemas.Deleted, gone)


@router.post(
    "/v1/purge",
    operation_id="purgeDebates",
    summary="Delete debates that have not changed for long",
    response_model=schemas.Purged,
    responses=documented("invalid"),
)
async def purge_debates(wanted: bodies.Purge, context: Context, caller: Admin) -> schemas.Purged:
    """The oldest first, at most 1,000 for one request. Debates that run are never purged."""
    runtime = context.app.runtime
    before = runtime.now() - wanted.older_than_days * DAY_SECONDS
    ids: list[str] = []
    if wanted.dry_run:
        found = await context.store.untouched(before, wanted.statuses, MOST_PURGED + 1)
        return schemas.Purged(ids=[each.id for each in found[:MOST_PURGED]], more=len(found) > MOST_PURGED)
    async with aclosing(context.client.acting_for(caller).purge(before, wanted.statuses)) as gone:
        async for each in gone:
            ids.append(each.id)
            if len(ids) >= MOST_PURGED:
                break
    await context.store.scrub()
    context.live.poke()
    more = len(ids) >= MOST_PURGED and bool(await context.store.untouched(before, wanted.statuses, 1))
    return schemas.Purged(ids=ids, more=more)


@router.get(
    "/v1/export",
    operation_id="exportDebates",
    summary="Debates as one file that `moot import` reads back",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "JSON lines; the last says that the file is complete",
            "content": {JSON_LINES: {"schema": {"type": "string"}}},
        },
        **documented("unknown-debate", "ambiguous-id", "invalid"),
    },
)
async def export_debates(
    context: Context,
    caller: Admin,
    debates: Annotated[
        str, Query(max_length=5000, description="ids, or beginnings of ids, with commas between them; empty: all")
    ] = "",
) -> StreamingResponse:
    asked = [each.strip() for each in debates.split(",") if each.strip()]
    if len(asked) > MAX_EXPORTED:
        raise InputError(f"{len(asked)} debates were asked for; {MAX_EXPORTED} is the most, or leave `debates` out.")
    found = [await context.find(each, caller) for each in asked]
    lines = _lines(context, caller, found or None)
    headers = {"Content-Disposition": 'attachment; filename="moot.jsonl"'}
    return StreamingResponse(lines, headers=headers, media_type=JSON_LINES)


async def _lines(
    context: ServerContext, caller: Caller, debates: Sequence[Debate] | None
) -> AsyncGenerator[bytes, None]:
    """The lines, as long as the caller's token is valid. Breaks off without the last line when it no longer is."""
    revoked = asyncio.ensure_future(until_revoked(context, caller, "admin")())
    try:
        async with aclosing(context.client.acting_for(caller).transfer.export(debates)) as lines:
            async for line in lines:
                if context.closing.is_set() or revoked.done():
                    return
                yield line
    finally:
        revoked.cancel()


_LINES: Json = {"schema": {"type": "string", "format": "binary"}}


@router.post(
    IMPORT_PATH,
    operation_id="importDebates",
    summary="Read debates back that were exported",
    response_model=schemas.Imports,
    responses=documented("invalid"),
    openapi_extra={"requestBody": {"required": True, "content": {OCTETS: _LINES}}},
)
async def import_debates(request: Request, context: Context, caller: Admin) -> schemas.Imports:
    """Takes what `GET /v1/export` and `moot export` give, packed by gzip or not. Each debate is stored whole or not at
    all; one that is damaged, that was deleted here, or that differs from the one here is refused, and the others are
    imported. To repeat it is safe. One import runs at a time."""
    request.state.uploads = True  # its body has no end in sight: only a pause in it is too slow
    most, done = context.app.settings.serve_import_mb * 1_000_000, Counter[str]()
    problems: list[schemas.NotImported] = []
    async with context.client.alone("import"):
        client = context.client.acting_for(caller)
        async with aclosing(client.transfer.adopt(_received(request, context, caller), most=most)) as adopted:
            async for each in adopted:
                done[each.result] += 1
                if each.result == "refused" and len(problems) < MOST_PROBLEMS:
                    problems.append(schemas.NotImported(id=each.id, why=each.why))
    context.live.poke()
    return schemas.Imports(new=done["new"], same=done["same"], refused=done["refused"], problems=problems)


async def _received(request: Request, context: ServerContext, caller: Caller) -> AsyncIterable[bytes]:
    """The body, as long as the caller's token is valid."""
    revoked = asyncio.ensure_future(until_revoked(context, caller, "admin")())
    try:
        async for chunk in request.stream():
            if revoked.done():
                raise Refused("token-needed", "The token was revoked meanwhile. What had arrived was imported.")
            yield chunk
    finally:
        revoked.cancel()
