"""What debates have learnt, and the versions of code that they have written."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from moot.core.artifacts import Version
from moot.core.errors import UnknownName
from moot.server import catalog_schemas
from moot.server.context import Admin, Context, DebateId, Reader
from moot.server.problems import Refused, documented
from moot.store import KnownLesson

router = APIRouter(tags=["memory"])

LessonId = Annotated[str, Path(max_length=64, description="its id, or the beginning of it")]


@router.get(
    "/v1/lessons",
    operation_id="listLessons",
    summary="What debates have learnt: the newest, or those about something, best first",
    response_model=catalog_schemas.LessonList,
    responses=documented("invalid", "store-unavailable"),
)
async def list_lessons(
    context: Context,
    caller: Reader,
    q: Annotated[str, Query(max_length=1000, description="words; empty: the newest lessons")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> catalog_schemas.LessonList:
    found = await context.client.acting_for(caller).lessons.search(q, limit)
    items = [_lesson(known, score) for known, score in found.found]
    return catalog_schemas.LessonList(items=items, by=found.by, note=found.note)


@router.delete(
    "/v1/lessons/{lesson_id}",
    operation_id="forgetLesson",
    summary="Forget a lesson, for good",
    response_model=catalog_schemas.Lesson,
    responses=documented("not-found", "invalid"),
)
async def forget_lesson(lesson_id: LessonId, context: Context, caller: Admin) -> catalog_schemas.Lesson:
    """Returns what is forgotten. The turns of its debate stay."""
    lessons = context.client.acting_for(caller).lessons
    try:
        known = await lessons.find(lesson_id)
    except UnknownName as error:
        raise Refused("not-found", str(error)) from None
    await lessons.forget(known)
    return _lesson(known, 0.0)


@router.get(
    "/v1/debates/{debate_id}/versions",
    operation_id="listVersions",
    summary="The versions of code that a debate has written, in order",
    response_model=catalog_schemas.VersionList,
    responses=documented("unknown-debate", "ambiguous-id", "invalid"),
)
async def list_versions(
    debate_id: DebateId,
    context: Context,
    caller: Reader,
    number: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="only this one, with its code")] = None,
) -> catalog_schemas.VersionList:
    debate = await context.find(debate_id, caller)
    found = await context.client.acting_for(caller).versions(debate)
    wanted = [each for each in found if number in (None, each.number)]
    return catalog_schemas.VersionList(items=[_version(each, code=number is not None) for each in wanted])


def _lesson(known: KnownLesson, score: float) -> catalog_schemas.Lesson:
    lesson = known.lesson
    return catalog_schemas.Lesson(
        id=lesson.id,
        text=lesson.text,
        applies_when=lesson.applies_when,
        debate=lesson.debate_id,
        episodes=list(lesson.episodes),
        model=lesson.model,
        confirmed=known.confirmed,
        contradicted=known.contradicted,
        demonstration=lesson.demonstration,
        score=round(score, 4),
        created_at=lesson.created_at,
    )


def _version(version: Version, *, code: bool) -> catalog_schemas.Version:
    return catalog_schemas.Version(
        id=version.id,
        number=version.number,
        author=version.author,
        language=version.language,
        sha256=version.sha256,
        parent=version.parent,
        test_pass_rate=version.test_pass_rate,
        quality_score=version.quality_score,
        metrics=version.metrics,
        diff_from_previous=version.diff_from_previous,
        label=version.label,
        turn=version.turn_key,
        round=version.round,
        phase=version.phase,
        created_at=version.created_at,
        code=version.code if code else None,
    )
