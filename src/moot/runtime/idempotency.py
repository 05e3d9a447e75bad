"""Idempotency keys: a request that creates a debate, sent again with the same key, creates no second one.

The key is stored with the id of the debate before the debate is created. If the process dies in between, a repetition
creates the debate under that id; otherwise it finds it.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from moot.core.errors import DebateDeleted, KeyReused, NoSuchDebate, StoreError
from moot.core.types import Debate
from moot.store import Access, Debates, IdempotencyKey

KEEP_SECONDS = 7 * 86_400

Make = Callable[[str], Awaitable[Debate]]


def key_name(caller: str, key: str) -> str:
    """The name under which a caller's key is stored: two callers may use the same key."""
    return hashlib.sha256(json.dumps([caller, key]).encode()).hexdigest()


async def reserve(store: Access, name: str, asked: Any) -> IdempotencyKey:
    """Store the key, or return the request that holds it. Raises KeyReused when that is for another request."""
    wanted = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    held = await store.reserve_key(IdempotencyKey(key=name, hash=wanted, debate_id=str(uuid.uuid4())), KEEP_SECONDS)
    if held.hash != wanted:
        raise KeyReused("This idempotency key belongs to another request. Use a new key for a new request.")
    return held


async def create_once(store: Debates, held: IdempotencyKey, make: Make) -> Debate:
    """Return the reserved debate; `make` creates it under the given id if it does not exist yet."""
    return await _found(store, held.debate_id) or await _make(store, held.debate_id, make)


async def _found(store: Debates, debate_id: str) -> Debate | None:
    """Raises DebateDeleted: what was deleted is not created anew."""
    try:
        return await store.get(debate_id)
    except DebateDeleted:
        raise
    except NoSuchDebate:
        return None


async def _make(store: Debates, debate_id: str, make: Make) -> Debate:
    try:
        return await make(debate_id)
    except StoreError:
        found = await _found(store, debate_id)  # created meanwhile by a concurrent repetition
        if found is None:
            raise
        return found
