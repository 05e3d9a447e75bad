"""Debates: create, list, get, estimate."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from moot import formats
from moot.app import Plan
from moot.config import masked, reaching
from moot.errors import AmbiguousId, InputError, NoSuchDebate, UnknownName
from moot.request import Request
from moot.server import repeats, schemas, views
from moot.server.estimate import estimated
from moot.server.etags import etag, same
from moot.server.house import DebateId, Here, House, Reader, Runner
from moot.server.problems import Refused, documented
from moot.server.tokens import Caller
from moot.types import Debate, Json, Status

router = APIRouter(tags=["debates"])

Html = Annotated[bool, Query(description="give text as sanitised HTML, too")]


def created(house: House, debate: Debate) -> Response:
    view = views.debate(house.app, debate)
    headers = {"Location": f"/v1/debates/{debate.id}", "ETag": etag(debate)}
    return Response(views.json_of(view), 201, headers, "application/json")


def given(house: House, debate: Debate, *, with_html: bool = False) -> Response:
    view = views.debate(house.app, debate, with_html=with_html)
    return Response(views.json_of(view), 200, {"ETag": etag(debate), "Cache-Control": "no-cache"}, "application/json")


def distrust(caller: Caller, settings: Json) -> None:
    """A model with an address is sent our key, and a scripted one reads a file: for those who may do anything only."""
    found = None if caller.may("admin") else reaching(settings)
    if found is not None:
        raise Refused(
            "scope-missing",
            f"The setting {found[0]} names the model {masked(found[1])[:80]!r}, which has an address or reads files; "
            "that takes the scope 'admin'. Choose a model of a known provider.",
        )


async def planned(house: House, caller: Caller, new: schemas.NewDebate) -> Plan:
    distrust(caller, new.settings)
    request = Request(topic=new.topic, format=new.format, settings=new.settings)
    # Others are served meanwhile: the first look at a price list, or for Ollama, takes a while.
    return await asyncio.to_thread(house.app.plan, request)


@router.post(
    "/v1/debates",
    operation_id="createDebate",
    summary="Create a debate, and start it",
    status_code=201,
    response_model=schemas.Debate,
    responses=documented("invalid", "unknown-name", "unknown-model", "key-reused", "wrong-status"),
)
async def create(new: schemas.NewDebate, house: Here, caller: Runner, key: repeats.Key = None) -> Response:
    """The settings are checked before anything is written. With `Idempotency-Key`, a repetition creates nothing."""
    plan = await planned(house, caller, new)

    async def make(debate_id: str) -> Debate:
        try:
            return await house.app.create(plan, by=caller.name, debate_id=debate_id)
        except (NoSuchDebate, AmbiguousId) as error:  # the one that a `replay:` model names
            raise InputError(str(error)) from None

    async def answer(debate: Debate) -> Response:
        debate = await house.started(debate) if new.start else debate
        house.live.poke()
        return created(house, debate)

    return await repeats.once(house, caller, key, "create", new, make, answer)


@router.post(
    "/v1/debates/estimate",
    operation_id="estimateDebate",
    summary="What a debate would take at most",
    response_model=schemas.Estimate,
    responses=documented("invalid", "unknown-name", "unknown-model"),
)
async def estimate(new: schemas.NewDebate, house: Here, caller: Runner) -> schemas.Estimate:
    """Takes what creating one takes; nothing is stored and no model is asked."""
    return await estimated(house.app, await planned(house, caller, new))


@router.get(
    "/v1/debates",
    operation_id="listDebates",
    summary="List debates, newest first",
    response_model=schemas.DebatePage,
    responses=documented("invalid", "unknown-name", "unknown-debate", "ambiguous-id"),
)
async def list_debates(
    house: Here,
    caller: Reader,
    status: Annotated[Status | None, Query(description="only these")] = None,
    format: Annotated[str | None, Query(max_length=100, description="only of this format")] = None,
    q: Annotated[
        str | None,
        Query(
            min_length=1, max_length=200, description="only questions that contain these very characters, in any case"
        ),
    ] = None,
    parent: Annotated[
        str | None, Query(max_length=64, description="only forks of this debate: its id, or a beginning of it")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[
        str | None, Query(max_length=200, description="`next` of the page before, with the same filters")
    ] = None,
) -> Response:
    """Filters can be combined. `GET /v1/search` finds completed debates by what they are about, best first."""
    if format is not None and format not in formats.installed():
        raise UnknownName("format", format, formats.installed())
    mark = None if cursor is None else _read_cursor(cursor)
    forked = None if parent is None else (await house.find(parent)).id
    page = await house.store.page(status=status, format=format, contains=q, parent=forked, limit=limit, after=mark)
    items = [views.summary(house.app, each) for each in page.debates]
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
    house: Here,
    caller: Reader,
    html: Html = False,
    if_none_match: Annotated[str | None, Header(max_length=1000)] = None,
) -> Response:
    """The `ETag` is the version to give as `If-Match` when changing it."""
    debate = await house.find(debate_id)
    tag = etag(debate)
    if same(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})
    return given(house, debate, with_html=html)


def _cursor(mark: str) -> str:
    return base64.urlsafe_b64encode(mark.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InputError(f"{cursor!r} is no cursor. Use the `next` of the page before, unchanged.") from None
