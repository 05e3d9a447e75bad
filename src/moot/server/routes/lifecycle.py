"""What can be done with a debate: start, stop, resume, cancel, retry, fork, rate, guide.

Each takes `If-Match`: when the debate has changed since, nothing is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Header, Response

from moot.errors import WrongStatus
from moot.server import etags, repeats, schemas, views
from moot.server.going import Verb
from moot.server.house import DebateId, Decider, Here, House, Runner
from moot.server.problems import documented
from moot.server.routes.debates import created, distrust, given
from moot.types import Debate

router = APIRouter(tags=["lifecycle"])

IfMatch = Annotated[
    str | None, Header(max_length=1000, description="an `ETag`: do nothing unless the debate is still that version")
]
MOVES = documented("unknown-debate", "ambiguous-id", "wrong-status", "rules-changed", "stale", "invalid")


@asynccontextmanager
async def moving(house: House, debate_id: str, if_match: str | None) -> AsyncGenerator[tuple[Debate, Debate | None]]:
    """The debate, to be changed by one at a time, and what it must still be then: another process may be faster."""
    found = await house.find(debate_id)
    async with house.alone(found.id):
        debate = await house.store.get(found.id)
        seen = etags.seen(if_match, debate)
        try:
            yield debate, seen
        except WrongStatus as error:
            now = await house.store.get(found.id)
            etags.check(if_match, now)
            raise house.refusal(error, now) from None
    house.live.poke()


async def _go_on(house: House, debate_id: str, verb: Verb, if_match: str | None) -> Response:
    async with moving(house, debate_id, if_match) as (debate, seen):
        if not debate.terminal:
            house.app.check(debate)  # refused before anything changes, rather than failed at the first step
        return given(house, await house.runs.go_on(debate.id, verb, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/start",
    operation_id="startDebate",
    summary="Begin a pending debate",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def start(debate_id: DebateId, house: Here, caller: Runner, if_match: IfMatch = None) -> Response:
    return await _go_on(house, debate_id, "start", if_match)


@router.post(
    "/v1/debates/{debate_id}/resume",
    operation_id="resumeDebate",
    summary="Go on with a debate that was stopped, or whose process died",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def resume(debate_id: DebateId, house: Here, caller: Runner, if_match: IfMatch = None) -> Response:
    return await _go_on(house, debate_id, "resume", if_match)


@router.post(
    "/v1/debates/{debate_id}/retry",
    operation_id="retryDebate",
    summary="Try the open steps of a failed debate again",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def retry(debate_id: DebateId, house: Here, caller: Runner, if_match: IfMatch = None) -> Response:
    return await _go_on(house, debate_id, "retry", if_match)


@router.post(
    "/v1/debates/{debate_id}/stop",
    operation_id="stopDebate",
    summary="Stop a debate after the step in progress",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def stop(debate_id: DebateId, house: Here, caller: Runner, if_match: IfMatch = None) -> Response:
    """It is `stopping` until the step in progress is done, then `stopped`."""
    async with moving(house, debate_id, if_match) as (debate, seen):
        return given(house, await house.app.runtime.stop(debate.id, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/cancel",
    operation_id="cancelDebate",
    summary="End a debate for good, without a verdict",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def cancel(debate_id: DebateId, house: Here, caller: Runner, if_match: IfMatch = None) -> Response:
    async with moving(house, debate_id, if_match) as (debate, seen):
        return given(house, await house.app.runtime.cancel(debate.id, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/fork",
    operation_id="forkDebate",
    summary="Branch a debate off at a step",
    status_code=201,
    response_model=schemas.Debate,
    responses=documented(
        "unknown-debate",
        "ambiguous-id",
        "wrong-status",
        "rules-changed",
        "invalid",
        "unknown-name",
        "unknown-model",
        "key-reused",
    ),
)
async def fork(
    debate_id: DebateId, wanted: schemas.Fork, house: Here, caller: Runner, key: repeats.Key = None
) -> Response:
    """A new debate with the turns before `at`, and other settings or guidance from there on. The parent stays as it
    is. A completed debate needs `at`."""
    distrust(caller, wanted.settings)
    parent = await house.find(debate_id)

    async def make(fork_id: str) -> Debate:
        if wanted.at is None and parent.outcome is not None:
            last = (await house.store.turns(parent.id))[-1].key
            raise WrongStatus(
                f"Debate {parent.short} is complete: say in `at` which step to ask anew, for example {last!r}."
            )
        return await house.app.fork(
            parent.id, wanted.at, wanted.settings, guidance=wanted.guidance, by=caller.name, fork_id=fork_id
        )

    async def answer(debate: Debate) -> Response:
        debate = await house.started(debate) if wanted.start else debate
        house.live.poke()
        return created(house, debate)

    return await repeats.once(house, caller, key, f"fork {parent.id}", wanted, make, answer)


@router.post(
    "/v1/debates/{debate_id}/rate",
    operation_id="rateDebate",
    summary="Say how good a completed debate was",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def rate(
    debate_id: DebateId, wanted: schemas.Rating, house: Here, caller: Decider, if_match: IfMatch = None
) -> Response:
    """It can be given again; the last one counts."""
    async with moving(house, debate_id, if_match) as (debate, seen):
        return given(house, await house.app.runtime.rate(debate.id, wanted.rating, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/guide",
    operation_id="guideDebate",
    summary="Say something between steps",
    response_model=schemas.Guided,
    responses=MOVES,
)
async def guide(
    debate_id: DebateId, said: schemas.Guidance, house: Here, caller: Decider, if_match: IfMatch = None
) -> schemas.Guided:
    """Whoever is asked next hears it; a debate that waits or rests hears it when it goes on."""
    async with moving(house, debate_id, if_match) as (debate, seen):
        gate = await house.app.runtime.guide(debate.id, said.text, by=caller.name, seen=seen)
        now = await house.store.get(debate.id)
        return schemas.Guided(key=gate.key, debate=views.summary(house.app, now))
