"""Deleting debates, one or by age, and exporting them. All of it is the operator's: it needs the scope `admin`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from moot.core.errors import InputError
from moot.runtime.retention import DAY_SECONDS, purge
from moot.runtime.transfer import export
from moot.server import bodies, schemas, views
from moot.server.context import Admin, Context, DebateId, ServerContext, until_revoked
from moot.server.problems import documented
from moot.server.routes.lifecycle import MOVES, IfMatch, moving
from moot.server.tokens import Caller

router = APIRouter(tags=["deletion"])

MOST_PURGED = 1000  # debates for one request
MAX_EXPORTED = 100  # ids in one request; all debates take none
JSON_LINES = "application/jsonl"


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
        gone = await context.app.runtime.delete(debate.id, by=caller.name, seen=seen)
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
    async with aclosing(purge(runtime, before, by=caller.name, statuses=wanted.statuses)) as gone:
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
    ids = [(await context.find(each, caller)).id for each in asked]
    lines = _lines(context, caller, ids or None)
    headers = {"Content-Disposition": 'attachment; filename="moot.jsonl"'}
    return StreamingResponse(lines, headers=headers, media_type=JSON_LINES)


async def _lines(context: ServerContext, caller: Caller, ids: Sequence[str] | None) -> AsyncGenerator[bytes, None]:
    """The lines, as long as the caller's token is valid. Breaks off without the last line when it no longer is."""
    revoked = asyncio.ensure_future(until_revoked(context, caller, "admin")())
    try:
        async with aclosing(export(context.store, ids, context.app.runtime.now())) as lines:
            async for line in lines:
                if context.closing.is_set() or revoked.done():
                    return
                yield line
    finally:
        revoked.cancel()
