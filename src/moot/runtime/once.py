"""A request that creates a debate, sent again with the same key, creates none.

The key is written down with the id of the debate to come before that is made. So if the process dies in between, the
repetition finds either nothing, and makes it under that very id, or the debate, and says so."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from moot.errors import InputError, NoSuchDebate, StoreError
from moot.store import Reservation, Store
from moot.types import Debate

KEEP_SECONDS = 7 * 86_400

Make = Callable[[str], Awaitable[Debate]]


class KeyReused(InputError):
    """The key belongs to another request."""


def key_name(whose: str, key: str) -> str:
    """Everyone has keys of their own."""
    return hashlib.sha256(json.dumps([whose, key]).encode()).hexdigest()


async def reserve(store: Store, name: str, asked: Any) -> Reservation:
    """Raises KeyReused when something else was asked for under that name."""
    wanted = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    held = await store.reserve(Reservation(key=name, hash=wanted, debate_id=str(uuid.uuid4())), KEEP_SECONDS)
    if held.hash != wanted:
        raise KeyReused("This idempotency key belongs to another request. Use a new key for a new request.")
    return held


async def made(store: Store, held: Reservation, make: Make) -> Debate:
    """The debate that the request is for; `make` creates it under the id it is given."""
    return await _found(store, held.debate_id) or await _make(store, held.debate_id, make)


async def _found(store: Store, debate_id: str) -> Debate | None:
    with suppress(NoSuchDebate):
        return await store.get(debate_id)
    return None


async def _make(store: Store, debate_id: str, make: Make) -> Debate:
    try:
        return await make(debate_id)
    except StoreError:
        found = await _found(store, debate_id)  # the same request came twice at once, and the other was faster
        if found is None:
            raise
        return found
