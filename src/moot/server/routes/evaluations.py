"""Evaluations: stored ones, their reports, and their cells."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from moot.caller import Caller
from moot.core.types import Json
from moot.evaluate.costs import accuracy_over_cost
from moot.evaluate.html import page
from moot.evaluate.model_grading import grading_in_words
from moot.evaluate.power import few
from moot.evaluate.sentences import advice, missing
from moot.models.choice import is_demonstration
from moot.runtime.threads import in_thread
from moot.server import evaluation_schemas as schemas
from moot.server.context import Context, Reader, ServerContext
from moot.server.problems import Refused, documented

MOST_FAILED = 100  # debates in one answer

router = APIRouter(tags=["evaluations"])

EvaluationId = Annotated[
    str, Path(description="the evaluation's id, or an unambiguous beginning of it", min_length=1, max_length=64)
]


@router.get(
    "/v1/evaluations",
    operation_id="listEvaluations",
    summary="Evaluations, newest first",
    response_model=schemas.EvaluationList,
    responses=documented("invalid"),
)
async def list_evaluations(
    context: Context, caller: Reader, limit: Annotated[int, Query(ge=1, le=100)] = 50
) -> schemas.EvaluationList:
    """Those of which the caller sees a cell."""
    found = await context.reports.listed(context.client.acting_for(caller), limit)
    return schemas.EvaluationList(
        items=[
            schemas.EvaluationSummary(
                id=each.stored.id,
                task=each.stored.name,
                created_at=each.stored.created_at,
                stopped=each.stored.stopped_at is not None,
                cells=each.cells,
                begun=each.counts.begun,
                completed=each.counts.completed,
            )
            for each in found
        ]
    )


@router.get(
    "/v1/evaluations/{evaluation_id}",
    operation_id="getEvaluation",
    summary="The report of an evaluation",
    response_model=schemas.EvaluationReport,
    responses=documented("not-found", "invalid"),
)
async def get_evaluation(evaluation_id: EvaluationId, context: Context, caller: Reader) -> schemas.EvaluationReport:
    """Made from the cells that the caller may see; while cells are added, it may be a few seconds old."""
    report = await _report(context, caller, evaluation_id)
    shown = {part: {name: each for name, each in report[part].items() if each["n"]} for part in ("baselines", "arms")}
    head, costs = accuracy_over_cost(report)
    demonstration = any(map(is_demonstration, report["models"]))
    return schemas.EvaluationReport.model_validate(
        {
            **report,
            "id": report["evaluation"],
            **shown,
            "grading": grading_in_words(report["graded_by"]),
            "demonstration": demonstration,
            "costs": {"head": head, "rows": costs},
            "missing": missing(report),
            "failed": report["failed"][:MOST_FAILED],
            "failed_count": len(report["failed"]),
            "can_show": few(report),
            "advice": advice(report),
        }
    )


@router.get(
    "/v1/evaluations/{evaluation_id}/cells",
    operation_id="listCells",
    summary="The answers of an evaluation",
    response_model=schemas.EvaluationCells,
    responses=documented("not-found", "invalid"),
)
async def list_cells(
    evaluation_id: EvaluationId,
    context: Context,
    caller: Reader,
    arm: Annotated[str | None, Query(max_length=100, description="only of this arm")] = None,
    right: Annotated[bool | None, Query(description="only right ones, or only others")] = None,
    answered: Annotated[bool | None, Query(description="only with an answer, or only without")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    after: Annotated[int, Query(ge=0, le=10_000_000, description="`next` of the page before")] = 0,
) -> schemas.EvaluationCells:
    """Of complete items, each with its debate."""
    cells: list[Json] = (await _report(context, caller, evaluation_id))["cells"]
    chosen = [
        each
        for each in cells
        if arm in (None, each["arm"])
        and right in (None, each["right"])
        and answered in (None, each["answer"] is not None)
    ]
    shown = chosen[after : after + limit]
    return schemas.EvaluationCells(
        items=[schemas.EvaluationCell.model_validate(each) for each in shown],
        next=after + limit if len(chosen) > after + limit else None,
    )


@router.get(
    "/v1/evaluations/{evaluation_id}/report",
    operation_id="getEvaluationFile",
    summary="The report as one HTML file",
    response_class=Response,
    responses={
        200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "The file"},
        **documented("not-found", "invalid"),
    },
)
async def get_file(evaluation_id: EvaluationId, request: Request, context: Context, caller: Reader) -> Response:
    """Without scripts, and nothing is loaded from elsewhere. Items link to their debates in this dashboard."""
    report = await _report(context, caller, evaluation_id)
    body = await in_thread(lambda: page(report, str(request.base_url)).encode())
    name = f"evaluation-{report['evaluation'][:8]}.html"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type="text/html; charset=utf-8", headers=headers)


async def _report(context: ServerContext, caller: Caller, evaluation_id: str) -> Json:
    report = await context.reports.report(context.client.acting_for(caller), evaluation_id)
    if report is None:
        raise Refused("not-found", f"There is no evaluation {evaluation_id[:36]!r} that you can see.")
    return report
