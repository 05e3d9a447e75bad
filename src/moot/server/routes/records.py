"""What remains of a debate: the record, the draft of an issue, the difference to another debate."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from moot.errors import WrongStatus
from moot.records.argument_map import ledger_json, mermaid, names_of
from moot.records.issue import draft
from moot.records.markdown import render
from moot.server import schemas, views
from moot.server.house import DebateId, Here, House, Reader
from moot.server.problems import Refused, documented
from moot.server.shapes import Diff, Record
from moot.types import Debate

router = APIRouter(tags=["records"])

KEPT = documented("unknown-debate", "ambiguous-id", "wrong-status", "invalid")
MARKDOWN = "text/markdown"
_AS_MARKDOWN: dict[str, Any] = {
    "description": "As JSON; or as Markdown, with `format=markdown` or `Accept: text/markdown`",
    "content": {MARKDOWN: {"schema": {"type": "string"}}},
}
As = Annotated[Literal["json", "markdown"] | None, Query(description="what `Accept` says when left out")]


@router.get(
    "/v1/debates/{debate_id}/record",
    operation_id="getRecord",
    summary="The decision record of a completed debate",
    response_model=Record,
    responses={200: _AS_MARKDOWN, **KEPT},
)
async def record(request: Request, debate_id: DebateId, house: Here, caller: Reader, format: As = None) -> Response:
    made = await _record(house, debate_id)
    if _markdown(request, format):
        return Response(render(made), media_type=f"{MARKDOWN}; charset=utf-8")
    return Response(views.json_of(Record(**made.as_json())), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}/issue",
    operation_id="draftIssue",
    summary="The draft of an issue that follows up on the decision",
    response_model=schemas.IssueDraft,
    responses={200: _AS_MARKDOWN, **KEPT},
)
async def issue(request: Request, debate_id: DebateId, house: Here, caller: Reader, format: As = None) -> Response:
    made = draft(await _record(house, debate_id))
    if _markdown(request, format):
        return Response(made.render(), media_type=f"{MARKDOWN}; charset=utf-8")
    return Response(views.json_of(schemas.IssueDraft(**made.as_json())), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}/diff/{other_id}",
    operation_id="compareDebates",
    summary="Where two debates part",
    response_model=Diff,
    responses=documented("unknown-debate", "ambiguous-id", "invalid"),
)
async def diff(debate_id: DebateId, other_id: DebateId, house: Here, caller: Reader) -> Response:
    one, two = await house.find(debate_id), await house.find(other_id)
    compared = await house.app.compare(one.id, two.id)
    return Response(views.json_of(Diff(**compared.as_json())), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}/claims",
    operation_id="getClaims",
    summary="What was claimed in a debate, and what became of it",
    response_model=schemas.Claims,
    responses={
        200: {
            "description": "As JSON; or as an argument map in Mermaid, with `format=mermaid`",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **documented("unknown-debate", "ambiguous-id", "not-found", "invalid"),
    },
)
async def claims(
    debate_id: DebateId,
    house: Here,
    caller: Reader,
    format: Annotated[Literal["json", "mermaid"], Query()] = "json",
) -> Response:
    """Only debates that were asked for it keep a ledger: with the setting `claims`."""
    debate = await house.find(debate_id)
    ledger = await house.app.ledger(debate.id)
    if ledger is None:
        raise Refused(
            "not-found",
            f"Debate {debate.short} keeps no ledger of claims. Create one with the setting `claims`, or fork this one "
            "before its verdict with that setting.",
        )
    names = await _names(house, debate)
    if format == "mermaid":
        return Response(mermaid(ledger, names), media_type="text/plain; charset=utf-8")
    return Response(views.json_of(schemas.Claims(**ledger_json(debate, ledger, names))), media_type="application/json")


async def _names(house: House, debate: Debate) -> dict[str, str]:
    """Those of an unfinished debate are in its events."""
    names, after = names_of(debate), 0
    while debate.outcome is None and (page := await house.store.events(debate.id, after)):
        for event in page:
            names |= event.data.get("names", {}) if event.type == "CAST" else {}
        after = page[-1].seq
    return names


async def _record(house: House, debate_id: str) -> Any:
    debate = await house.find(debate_id)
    try:
        return await house.app.record(debate.id)
    except WrongStatus as error:
        raise house.refusal(error, debate) from None


def _markdown(request: Request, format: str | None) -> bool:
    return format == "markdown" or (format is None and MARKDOWN in request.headers.get("accept", ""))
