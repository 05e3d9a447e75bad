"""From a question to its debate: a new one, the one that the same request has begun before, or the named one."""

from __future__ import annotations

import json
from dataclasses import replace

from fastapi import Response
from pydantic import BaseModel

from moot.caller import Caller
from moot.client import Client, Once
from moot.core.types import Debate
from moot.planning import Plan
from moot.server import idempotency
from moot.server.chat import retries
from moot.server.chat.retries import Place
from moot.server.chat.wanted import Question, check_room
from moot.server.context import ServerContext
from moot.server.routes.debates import created


async def begun(
    context: ServerContext, caller: Caller, question: Question, given: BaseModel, *, key: str | None, retry: str | None
) -> tuple[Debate, Place | None]:
    """The debate, which runs, and the request's place among others like it. `key` is an idempotency key, `retry` how
    often the client says that it has tried before."""
    client = context.client.acting_for(caller)
    if question.attach:
        return await client.keep_running(await client.find(question.attach)), None
    plan = await client.plan(question.request, given=question.own)
    await check_room(context.app, question, plan)
    # What a private debate has said becomes part of those that follow it.
    plan = replace(
        plan,
        metadata=question.about.json,
        private=plan.private or question.wanted.private,
        follows=question.wanted.previous,
    )
    if key is not None:
        return await _once(context, client, question, given, plan, key), None
    same = retries.fingerprint(caller, plan, question.context)
    async with client.alone(f"chat {same}"):
        place = await retries.place(context, same, again=retry is not None and retry.strip("0 ").isdecimal())
        if place.joins is not None:
            return await client.keep_running(place.joins), place
        try:
            debate = await client.create(plan, once=place.once, guidance=question.context)
        except BaseException:
            await place.give_up(context.store)
            raise
    context.live.poke()
    return debate, place


async def _once(
    context: ServerContext, client: Client, question: Question, given: BaseModel, plan: Plan, key: str
) -> Debate:
    async def answer(once: Once) -> Response:
        debate = await client.create(plan, once=once, guidance=question.context)
        context.live.poke()
        return created(context, debate)

    what = f"chat {json.dumps(question.own, sort_keys=True)}"
    response = await idempotency.once(client, key, what, given, answer)
    debate = await context.store.get(response.headers["location"].rpartition("/")[2])
    return await client.keep_running(debate) if "idempotency-replayed" in response.headers else debate
