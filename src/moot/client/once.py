"""Idempotency keys for callers: a repeated request creates no second debate."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from moot.core.types import Debate
from moot.runtime.idempotency import Make, create_once
from moot.store import IdempotencyKey, Store


@dataclass(frozen=True, kw_only=True)
class Once:
    """A request that creates a debate. With a key, it is carried out once. Made by `Client.once`."""

    store: Store
    held: IdempotencyKey | None = None  # None: the request has no key

    @property
    def response(self) -> str | None:
        """What `keep` has stored for an earlier request with the same key."""
        return None if self.held is None else self.held.response

    async def made(self, make: Make) -> Debate:
        """The debate of this request; `make` creates it under the given id, unless an earlier request has."""
        if self.held is None:
            return await make(str(uuid.uuid4()))
        return await create_once(self.store, self.held, make)

    async def keep(self, response: str) -> None:
        """Store the response, for repetitions of the request."""
        if self.held is not None:
            await self.store.answer_key(self.held.key, response)
