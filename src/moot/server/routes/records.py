"""Documents made from debates: the record, the draft of an issue, the ledger of claims, the difference to another."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from moot.caller import Caller
from moot.core.errors import WrongStatus
from moot.records.argument_map import ledger_json, mermaid
from moot.records.issue import draft
from moot.records.markdown import render
from moot.runtime.threads import in_thread
from moot.server import schemas, views
from moot.server.context import Context, DebateId, Reader, ServerContext
from moot.server.documents import Diff, Record
from moot.server.problems import Refused, documented
from moot.server.wordings import wording_after

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
async def record(
    request: Request, debate_id: DebateId, context: Context, caller: Reader, format: As = None
) -> Response:
    made = await _record(context, caller, debate_id)
    if _markdown(request, format):
        return Response(await in_thread(lambda: render(made)), media_type=f"{MARKDOWN}; charset=utf-8")
    return Response(views.json_of(Record(**made.as_json())), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}/issue",
    operation_id="draftIssue",
    summary="The draft of an issue that follows up on the decision",
    response_model=schemas.IssueDraft,
    responses={200: _AS_MARKDOWN, **KEPT},
)
async def issue(request: Request, debate_id: DebateId, context: Context, caller: Reader, format: As = None) -> Response:
    record = await _record(context, caller, debate_id)
    made = await in_thread(lambda: draft(record))
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
async def diff(debate_id: DebateId, other_id: DebateId, context: Context, caller: Reader) -> Response:
    one, two = await context.find(debate_id, caller), await context.find(other_id, caller)
    compared = await context.client.compare(one, two)
    return Response(views.json_of(Diff(**compared.as_json())), media_type="application/json")


@router.get(
    "/v1/debates/{debate_id}/claims",
    operation_id="getClaims",
    summary="The claims made in a debate, and what became of each",
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
    context: Context,
    caller: Reader,
    format: Annotated[Literal["json", "mermaid"], Query()] = "json",
) -> Response:
    """Only debates with the setting `claims` keep a ledger. Not every format has that setting."""
    debate = await context.find(debate_id, caller)
    ledger = await context.client.claims(debate)
    if ledger is None:
        format_ = context.app.formats.get(debate.format)
        advice = (
            "Create one with the setting `claims`, or fork this one before its verdict with that setting."
            if format_ is not None and format_.keeps_ledger
            else f"The format {debate.format!r} has none."
        )
        raise Refused("not-found", f"Debate {debate.short} keeps no ledger of claims. {advice}")
    names = (await wording_after(context.store, debate, debate.last_seq)).names
    if format == "mermaid":
        return Response(mermaid(ledger, names), media_type="text/plain; charset=utf-8")
    return Response(views.json_of(schemas.Claims(**ledger_json(debate, ledger, names))), media_type="application/json")


async def _record(context: ServerContext, caller: Caller, debate_id: str) -> Any:
    debate = await context.find(debate_id, caller)
    try:
        return await context.client.record(debate)
    except WrongStatus as error:
        raise context.refusal(error, debate) from None


def _markdown(request: Request, format: str | None) -> bool:
    return format == "markdown" or (format is None and MARKDOWN in request.headers.get("accept", ""))
