"""Debates: create, list, get, estimate."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from moot.client import Once
from moot.core.errors import InputError
from moot.core.types import Debate, Status
from moot.request import Request
from moot.server import bodies, idempotency, schemas, views
from moot.server.context import Context, DebateId, Reader, Runner, ServerContext
from moot.server.estimate import estimated
from moot.server.etags import etag, same
from moot.server.markdown import prepare
from moot.server.problems import documented

router = APIRouter(tags=["debates"])

Html = Annotated[bool, Query(description="give text as sanitised HTML, too")]


def created(context: ServerContext, debate: Debate) -> Response:
    view = views.debate(context.app, debate)
    headers = {"Location": f"/v1/debates/{debate.id}", "ETag": etag(debate)}
    return Response(views.json_of(view), 201, headers, "application/json")


def given(context: ServerContext, debate: Debate, *, with_html: bool = False) -> Response:
    view = views.debate(context.app, debate, with_html=with_html)
    return Response(views.json_of(view), 200, {"ETag": etag(debate), "Cache-Control": "no-cache"}, "application/json")


def requested(new: bodies.NewDebate) -> Request:
    return Request(
        topic=new.topic,
        format=new.format,
        settings=new.settings,
        effort=new.effort,
        private=new.private,
        follows=new.follows,
    )


@router.post(
    "/v1/debates",
    operation_id="createDebate",
    summary="Create a debate, and start it",
    status_code=201,
    response_model=schemas.Debate,
    responses=documented(
        "invalid",
        "unknown-name",
        "unknown-model",
        "unknown-debate",
        "ambiguous-id",
        "key-reused",
        "wrong-status",
        "over-budget",
        "deleted",
    ),
)
async def create(new: bodies.NewDebate, context: Context, caller: Runner, key: idempotency.Key = None) -> Response:
    """The settings are checked before anything is written. With `Idempotency-Key`, a repetition creates nothing."""
    client = context.client.acting_for(caller)
    plan = await client.plan(requested(new))

    async def answer(once: Once) -> Response:
        debate = await client.create(
            plan, once=once, start=new.start, remedy='"recall_decisions": true in the settings'
        )
        context.live.poke()
        return created(context, debate)

    return await idempotency.once(client, key, "create", new, answer)


@router.post(
    "/v1/debates/estimate",
    operation_id="estimateDebate",
    summary="What a debate would take at most",
    response_model=schemas.Estimate,
    responses=documented("invalid", "unknown-name", "unknown-model", "unknown-debate", "ambiguous-id"),
)
async def estimate(new: bodies.NewDebate, context: Context, caller: Runner) -> schemas.Estimate:
    """Takes what creating one takes; nothing is stored and no model is asked."""
    return await estimated(context.app, await context.client.acting_for(caller).plan(requested(new)))


@router.get(
    "/v1/debates",
    operation_id="listDebates",
    summary="List debates, newest first",
    response_model=schemas.DebatePage,
    responses=documented("invalid", "unknown-name", "unknown-debate", "ambiguous-id"),
)
async def list_debates(
    context: Context,
    caller: Reader,
    status: Annotated[Status | None, Query(description="only these")] = None,
    format: Annotated[str | None, Query(max_length=100, description="only of this format")] = None,
    q: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            description="only questions or titles that contain these very characters, in any case",
        ),
    ] = None,
    tag: Annotated[str | None, Query(max_length=100, description="only those with this tag")] = None,
    pinned: Annotated[bool | None, Query(description="only those that are pinned, or with `false` the others")] = None,
    archived: Annotated[bool, Query(description="those in the archive, instead of all others")] = False,
    parent: Annotated[
        str | None, Query(max_length=64, description="only forks of this debate: its id, or a beginning of it")
    ] = None,
    follows: Annotated[
        str | None, Query(max_length=64, description="only those asked after this debate: its id, or a beginning of it")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[
        str | None, Query(max_length=200, description="`next` of the page before, with the same filters")
    ] = None,
) -> Response:
    """Filters can be combined. `GET /v1/search` finds completed debates by what they are about, best first."""
    mark = None if cursor is None else _read_cursor(cursor)
    client = context.client.acting_for(caller)
    forked, followed = [None if each is None else await client.parent_id(each) for each in (parent, follows)]
    page = await client.page(
        status=status,
        format=format,
        contains=q,
        parent=forked,
        follows=followed,
        tag=tag,
        pinned=pinned,
        archived=archived,
        limit=limit,
        after=mark,
    )
    items = [views.summary(context.app, each) for each in page.debates]
    view = schemas.DebatePage(items=items, next=None if page.next is None else _cursor(page.next))
    return Response(views.json_of(view), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}",
    operation_id="getDebate",
    summary="A debate, as it stands",
    response_model=schemas.Debate,
    responses={
        304: {"description": "It has not changed since the version in `If-None-Match`"},
        **documented("unknown-debate", "ambiguous-id", "invalid"),
    },
)
async def get(
    debate_id: DebateId,
    context: Context,
    caller: Reader,
    html: Html = False,
    if_none_match: Annotated[str | None, Header(max_length=1000)] = None,
) -> Response:
    """Send its `ETag` as `If-Match` to change this very version."""
    debate = await context.find(debate_id, caller)
    tag = etag(debate)
    if same(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})
    if html and debate.outcome is not None and debate.outcome.statement:
        await prepare(debate.outcome.statement)
    return given(context, debate, with_html=html)


def _cursor(mark: str) -> str:
    return base64.urlsafe_b64encode(mark.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InputError(f"{cursor!r} is no cursor. Use the `next` of the page before, unchanged.") from None
