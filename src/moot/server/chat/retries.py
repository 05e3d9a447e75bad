"""Requests that are sent again: they join the debate that the first of them has begun, and start no second one.

Many clients repeat a request without saying so: no idempotency key, no count. A repetition follows a connection that
has ended without an answer; a request that comes while another like it is being answered, or after it was, means a
debate of its own. So each request that begins a debate holds a place in the store, which says whether it is being
served, was left without an answer, or was answered. Requests that are the same and come at the same time have a place
each.
"""

from __future__ import annotations

import hashlib
import json
import uuid

from moot.caller import Caller
from moot.client import Once
from moot.core.errors import NoSuchDebate
from moot.core.lifecycle import LIVE
from moot.core.types import Debate, record
from moot.planning import Plan
from moot.runtime.idempotency import KEEP_SECONDS
from moot.runtime.owner import is_dead, this_process
from moot.server.context import ServerContext
from moot.store import Access, Debates, IdempotencyKey

JOIN_SECONDS = 600.0  # after a debate has come to rest, in which the same request joins it
PLACES = 32  # of requests that are the same; further ones are not remembered
_SERVED, _LEFT, _ANSWERED = "served by ", "left", "answered"


@record
class Place:
    """The place of a request. `once` makes its debate, or finds the one that is joined."""

    once: Once
    joins: Debate | None = None
    key: str | None = None  # None: it is not remembered

    async def leave(self, store: Access, *, answered: bool) -> None:
        """Called when the request has ended."""
        if self.key is not None:
            await store.answer_key(self.key, _ANSWERED if answered else _LEFT)

    async def give_up(self, store: Access) -> None:
        """Called when the debate could not be created."""
        if self.once.held is not None:
            await store.release_key(self.once.held.key, self.once.held.debate_id)


def fingerprint(caller: Caller, plan: Plan, context: str) -> str:
    """What makes two requests the same: who asks, the question, the conversation, the format, its settings and cast."""
    cast = [seat.as_json for seat in plan.cast]
    format_ = [plan.format.name, plan.format.version, plan.config]
    asked = [caller.identity, caller.name, plan.topic, context, format_, cast, plan.private]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()


async def place(context: ServerContext, same: str, *, again: bool) -> Place:
    """Find the place of a request. `again`: the client says that it repeats one. Hold the lock of `same` until the
    debate is created."""
    store = context.store
    for n in range(PLACES):
        new = IdempotencyKey(key=f"chat/{same}/{n}", hash=this_process(), debate_id=str(uuid.uuid4()))
        held = await store.reserve_key(new, KEEP_SECONDS)
        if held.debate_id == new.debate_id:
            return Place(once=Once(store=store, held=new), key=new.key)
        debate = await _found(store, held.debate_id)
        served = (held.response or _SERVED + held.hash).startswith(_SERVED)
        if served and not again and not is_dead((held.response or held.hash).removeprefix(_SERVED)):
            continue
        if debate is not None and _recent(context, debate) and (again or held.response != _ANSWERED):
            await store.answer_key(held.key, _SERVED + this_process())
            return Place(once=Once(store=store, held=held), joins=debate, key=held.key)
        await store.release_key(held.key, held.debate_id)
        if (await store.reserve_key(new, KEEP_SECONDS)).debate_id == new.debate_id:
            return Place(once=Once(store=store, held=new), key=new.key)
    return Place(once=Once(store=store))


def _recent(context: ServerContext, debate: Debate) -> bool:
    """Whether a debate is still the one that a repeated request means."""
    if debate.status in ("pending", *LIVE):
        return True
    age = context.app.runtime.now() - debate.updated_at
    return debate.status != "canceled" and age <= JOIN_SECONDS


async def _found(store: Debates, debate_id: str) -> Debate | None:
    try:
        return await store.get(debate_id)
    except NoSuchDebate:
        return None
