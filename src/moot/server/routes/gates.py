"""Questions to people: list, answer, approve, reject."""

from __future__ import annotations

from fastapi import APIRouter, Response

from moot.caller import Caller
from moot.core.errors import WrongStatus
from moot.runtime.threads import in_thread
from moot.server import bodies, etags, schemas, views
from moot.server.context import Context, DebateId, Decider, Reader, ServerContext
from moot.server.problems import Refused, documented
from moot.server.routes.debates import Html
from moot.server.routes.lifecycle import IfMatch

router = APIRouter(tags=["gates"])

ANSWERS = documented(
    "unknown-debate",
    "ambiguous-id",
    "wrong-status",
    "already-answered",
    "rules-changed",
    "stale",
    "invalid",
    "unknown-name",
)


@router.get(
    "/v1/gates",
    operation_id="listOpenGates",
    summary="Everything that debates ask people now, oldest first",
    response_model=schemas.GateList,
)
async def open_gates(context: Context, caller: Reader) -> schemas.GateList:
    found = await context.client.acting_for(caller).gates()
    return schemas.GateList(items=[views.gate(gate) for gate in found])


@router.get(
    "/v1/debates/{debate_id}/gates",
    operation_id="listGates",
    summary="What a debate asks and has asked people",
    response_model=schemas.GateList,
    responses=documented("unknown-debate", "ambiguous-id"),
)
async def gates(debate_id: DebateId, context: Context, caller: Reader, html: Html = False) -> Response:
    debate = await context.find(debate_id, caller)
    found = await context.store.gates(debate.id)

    def listed() -> bytes:
        items = [views.gate(gate, with_html=html and gate.status == "open") for gate in found]
        return views.json_of(schemas.GateList(items=items))

    return Response(await in_thread(listed), media_type="application/json")


@router.post(
    "/v1/debates/{debate_id}/answer",
    operation_id="answerGate",
    summary="Answer what a debate asks, and let it go on",
    response_model=schemas.Answered,
    responses=ANSWERS,
)
async def answer(
    debate_id: DebateId, given: bodies.GateAnswer, context: Context, caller: Decider, if_match: IfMatch = None
) -> schemas.Answered:
    """A question is answered once: a second answer is refused with `already-answered`, which names who was first."""
    return await _answer(context, caller, debate_id, given, if_match)


@router.post(
    "/v1/debates/{debate_id}/approve",
    operation_id="approveGate",
    summary="Approve what a debate wants to do next",
    response_model=schemas.Answered,
    responses=ANSWERS,
)
async def approve(
    debate_id: DebateId,
    context: Context,
    caller: Decider,
    verdict: bodies.Verdict | None = None,
    if_match: IfMatch = None,
) -> schemas.Answered:
    return await _rule(context, caller, debate_id, "approve", verdict, if_match)


@router.post(
    "/v1/debates/{debate_id}/reject",
    operation_id="rejectGate",
    summary="Reject what a debate wants to do next",
    response_model=schemas.Answered,
    responses=ANSWERS,
)
async def reject(
    debate_id: DebateId,
    context: Context,
    caller: Decider,
    verdict: bodies.Verdict | None = None,
    if_match: IfMatch = None,
) -> schemas.Answered:
    return await _rule(context, caller, debate_id, "reject", verdict, if_match)


async def _rule(
    context: ServerContext,
    caller: Caller,
    debate_id: str,
    choice: str,
    verdict: bodies.Verdict | None,
    if_match: str | None,
) -> schemas.Answered:
    key, reason = (None, "") if verdict is None else (verdict.key, verdict.reason)
    given = bodies.GateAnswer(key=key, choice=choice, text=reason)
    return await _answer(context, caller, debate_id, given, if_match)


async def _answer(
    context: ServerContext, caller: Caller, debate_id: str, given: bodies.GateAnswer, if_match: str | None
) -> schemas.Answered:
    client = context.client.acting_for(caller)
    found = await client.find(debate_id)
    async with client.alone(found.id):
        seen = etags.seen(if_match, await context.store.get(found.id))
        try:
            decided = await client.answer(found, given.choice, given.text, key=given.key, seen=seen)
        except WrongStatus as error:
            etags.check(if_match, await context.store.get(found.id))
            raise await _too_late(context, error, found.id, given.key) from None
    context.live.poke()
    debate = await context.store.get(found.id)
    return schemas.Answered(gate=views.gate(decided), debate=views.summary(context.app, debate))


async def _too_late(context: ServerContext, error: WrongStatus, debate_id: str, key: str | None) -> Refused:
    debate = await context.store.get(debate_id)
    asked = [
        gate for gate in await context.store.gates(debate_id) if gate.kind != "guidance" and key in (None, gate.key)
    ]
    if asked and asked[-1].status == "decided":
        return Refused("already-answered", str(error), answered_by=asked[-1].reviewer)
    return context.refusal(error, debate)
