"""What can be done with a debate: start, stop, resume, cancel, retry, fork, rate, guide.

Each takes `If-Match`: when the debate has changed since, nothing is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Header, Response

from moot.core.errors import WrongStatus
from moot.core.lifecycle import DriveVerb
from moot.core.types import Debate
from moot.server import bodies, etags, idempotency, schemas, views
from moot.server.context import Context, DebateId, Decider, Runner, ServerContext
from moot.server.problems import Refused, documented
from moot.server.routes.debates import created, distrust, given
from moot.server.tokens import Caller

router = APIRouter(tags=["lifecycle"])

IfMatch = Annotated[
    str | None, Header(max_length=1000, description="an `ETag`: do nothing unless the debate is still that version")
]
MOVES = documented("unknown-debate", "ambiguous-id", "wrong-status", "rules-changed", "stale", "invalid")
DRIVES = {**MOVES, **documented("over-budget")}


@asynccontextmanager
async def moving(
    context: ServerContext, caller: Caller, debate_id: str, if_match: str | None
) -> AsyncGenerator[tuple[Debate, Debate | None]]:
    """Lock the debate against other requests to this process; yields it, and the version that it must still have when
    it is changed, since another process may be faster."""
    found = await context.find(debate_id, caller)
    async with context.alone(found.id):
        debate = await context.store.get(found.id)
        seen = etags.seen(if_match, debate)
        try:
            yield debate, seen
        except WrongStatus as error:
            now = await context.store.get(found.id)
            etags.check(if_match, now)
            raise context.refusal(error, now) from None
    context.live.poke()


async def _go_on(
    context: ServerContext, caller: Caller, debate_id: str, verb: DriveVerb, if_match: str | None
) -> Response:
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        if not debate.terminal:
            context.app.check(debate)  # refuse it now rather than fail at the first step
            await context.app.check_budget(debate.token_id)
        return given(context, await context.dispatcher.dispatch(debate.id, verb, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/start",
    operation_id="startDebate",
    summary="Begin a pending debate",
    response_model=schemas.Debate,
    responses=DRIVES,
)
async def start(debate_id: DebateId, context: Context, caller: Runner, if_match: IfMatch = None) -> Response:
    return await _go_on(context, caller, debate_id, "start", if_match)


@router.post(
    "/v1/debates/{debate_id}/resume",
    operation_id="resumeDebate",
    summary="Go on with a debate that was stopped, or whose process died",
    response_model=schemas.Debate,
    responses=DRIVES,
)
async def resume(debate_id: DebateId, context: Context, caller: Runner, if_match: IfMatch = None) -> Response:
    return await _go_on(context, caller, debate_id, "resume", if_match)


@router.post(
    "/v1/debates/{debate_id}/retry",
    operation_id="retryDebate",
    summary="Try the open steps of a failed debate again",
    response_model=schemas.Debate,
    responses=DRIVES,
)
async def retry(debate_id: DebateId, context: Context, caller: Runner, if_match: IfMatch = None) -> Response:
    return await _go_on(context, caller, debate_id, "retry", if_match)


@router.post(
    "/v1/debates/{debate_id}/stop",
    operation_id="stopDebate",
    summary="Stop a debate after the step in progress",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def stop(debate_id: DebateId, context: Context, caller: Runner, if_match: IfMatch = None) -> Response:
    """It is `stopping` until the step in progress is done, then `stopped`."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        return given(context, await context.app.runtime.stop(debate.id, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/cancel",
    operation_id="cancelDebate",
    summary="End a debate for good, without a verdict",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def cancel(debate_id: DebateId, context: Context, caller: Runner, if_match: IfMatch = None) -> Response:
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        return given(context, await context.app.runtime.cancel(debate.id, seen=seen))


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
        "over-budget",
    ),
)
async def fork(
    debate_id: DebateId, wanted: bodies.Fork, context: Context, caller: Runner, key: idempotency.Key = None
) -> Response:
    """A new debate with the turns before `at`, and other settings or guidance from there on. The parent stays as it
    is. A completed debate needs `at`."""
    await distrust(caller, wanted.settings)
    parent = await context.find(debate_id, caller)

    async def make(fork_id: str) -> Debate:
        if wanted.at is None and parent.outcome is not None:
            last = (await context.store.turns(parent.id))[-1].key
            raise Refused(
                "wrong-status",
                f"Debate {parent.short} is complete: say in `at` which step to ask anew, for example {last!r}.",
            )
        return await context.app.fork(
            parent.id,
            wanted.at,
            wanted.settings,
            guidance=wanted.guidance,
            by=caller.name,
            token_id=caller.identity,
            fork_id=fork_id,
        )

    async def answer(debate: Debate) -> Response:
        debate = await context.started(debate) if wanted.start else debate
        context.live.poke()
        return created(context, debate)

    return await idempotency.once(context, caller, key, f"fork {parent.id}", wanted, make, answer)


@router.post(
    "/v1/debates/{debate_id}/rate",
    operation_id="rateDebate",
    summary="Say how good a completed debate was",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def rate(
    debate_id: DebateId, wanted: bodies.Rating, context: Context, caller: Decider, if_match: IfMatch = None
) -> Response:
    """It can be given again; the last one counts."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        return given(context, await context.app.runtime.rate(debate.id, wanted.rating, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/guide",
    operation_id="guideDebate",
    summary="Say something between steps",
    response_model=schemas.Guided,
    responses=MOVES,
)
async def guide(
    debate_id: DebateId, said: bodies.Guidance, context: Context, caller: Decider, if_match: IfMatch = None
) -> schemas.Guided:
    """The seats that are asked next hear it; a debate that waits or rests hears it when it goes on."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        gate = await context.app.runtime.guide(debate.id, said.text, by=caller.name, seen=seen)
        now = await context.store.get(debate.id)
        return schemas.Guided(key=gate.key, debate=views.summary(context.app, now))
