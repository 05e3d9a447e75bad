"""What can be done with a debate: start, stop, resume, cancel, retry, fork, rate, guide, label, make private.

Each takes `If-Match`: when the debate has changed since, nothing is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Header, Response

from moot.caller import Caller
from moot.client import Once
from moot.core.errors import WrongStatus
from moot.core.lifecycle import DriveVerb
from moot.core.types import Debate
from moot.server import bodies, etags, idempotency, schemas, views
from moot.server.context import Context, DebateId, Decider, Runner, ServerContext
from moot.server.problems import documented
from moot.server.routes.debates import created, given

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
    async with context.client.alone(found.id):
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
        return given(context, await context.client.acting_for(caller).go_on(debate, verb, seen=seen))


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
        return given(context, await context.client.acting_for(caller).stop(debate, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/cancel",
    operation_id="cancelDebate",
    summary="End a debate for good, without a verdict",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def cancel(debate_id: DebateId, context: Context, caller: Runner, if_match: IfMatch = None) -> Response:
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        return given(context, await context.client.acting_for(caller).cancel(debate, seen=seen))


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
    client = context.client.acting_for(caller)
    parent = await client.find(debate_id)

    async def answer(once: Once) -> Response:
        debate = await client.fork(
            parent, wanted.at, wanted.settings, guidance=wanted.guidance, once=once, start=wanted.start
        )
        context.live.poke()
        return created(context, debate)

    return await idempotency.once(client, key, f"fork {parent.id}", wanted, answer)


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
        return given(context, await context.client.acting_for(caller).rate(debate, wanted.rating, seen=seen))


@router.patch(
    "/v1/debates/{debate_id}",
    operation_id="labelDebate",
    summary="Rename, pin, tag or archive a debate",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def label(
    debate_id: DebateId, wanted: bodies.LabelChanges, context: Context, caller: Runner, if_match: IfMatch = None
) -> Response:
    """Changes nothing of what is debated. Everyone who sees the debate sees its labels."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        changes = wanted.model_dump()
        return given(context, await context.client.acting_for(caller).label(debate, **changes, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/turned-out",
    operation_id="recordHowItTurnedOut",
    summary="Record how the decision of a completed debate turned out",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def turned_out(
    debate_id: DebateId, wanted: bodies.HowItTurnedOut, context: Context, caller: Decider, if_match: IfMatch = None
) -> Response:
    """It can be given again; the last one counts."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        client = context.client.acting_for(caller)
        return given(context, await client.turned_out(debate, wanted.right, wanted.note, seen=seen))


@router.post(
    "/v1/debates/{debate_id}/privacy",
    operation_id="setPrivacy",
    summary="Show a debate to its own token alone, or to everyone",
    response_model=schemas.Debate,
    responses={**MOVES, **documented("scope-missing")},
)
async def privacy(
    debate_id: DebateId, wanted: bodies.Privacy, context: Context, caller: Runner, if_match: IfMatch = None
) -> Response:
    """For the token that made it, and for `admin`. Streams of others to a debate that becomes private end."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        return given(context, await context.client.acting_for(caller).set_private(debate, wanted.private, seen=seen))


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
        gate = await context.client.acting_for(caller).guide(debate, said.text, seen=seen)
        now = await context.store.get(debate.id)
        return schemas.Guided(key=gate.key, debate=views.summary(context.app, now))
