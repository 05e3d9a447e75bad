"""Rate limits that all processes on one database keep together. Each share is one statement, by the server's clock."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from moot.errors import StoreError
from moot.pace import OwnPace, Rates, Share
from moot.store.postgres import PostgresStore
from moot.store.postgres.link import sql
from moot.store.rows import Row

log = logging.getLogger("moot.pace")


class SharedPace:
    def __init__(self, store: PostgresStore, *, clock: Callable[[], float] | None = None) -> None:
        """`clock` is the server's unless given."""
        self._store, self._clock = store, clock
        self._alone = OwnPace(time.monotonic)  # while the database is gone

    async def take(self, name: str, rates: Rates, tokens: int) -> Share:
        try:
            (row,) = await self._do("take_share", name, rates, size=float(tokens))
        except StoreError as error:
            log.warning("The limit of %s is kept by this process alone for now: %s", name, error)
            return await self._alone.take(name, rates, tokens)
        return Share(wait=row["wait"], start=row["start"])

    async def left(self, name: str, rates: Rates, share: Share) -> float:
        try:
            rows = await self._do("left_of_share", name, rates, start=share.start)
        except StoreError:
            return 0.0  # it has waited for what it was told
        return rows[0]["wait"] if rows else 0.0

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        try:
            await self._do("give_share_back", name, rates, requests_back=float(requests), tokens_back=float(tokens))
        except StoreError:
            pass  # it is earned again within the minute

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        try:
            await self._do("pause_shares", name, rates, seconds=seconds)
        except StoreError as error:
            log.warning("Others could not be told to wait for %s: %s", name, error)
            await self._alone.pause(name, rates, seconds)

    async def _do(self, statement: str, name: str, rates: Rates, **values: Any) -> Sequence[Row]:
        now = None if self._clock is None else self._clock()
        given = {
            "name": name,
            "now": now,
            "requests": rates.requests,
            "requests_at_once": rates.requests_at_once,
            "tokens": rates.tokens,
            "tokens_at_once": rates.tokens_at_once,
            **values,
        }
        # What a lost connection leaves open is done again: a share too much is a call too few.
        return await self._store.linked(lambda link, _: sql(statement).on(link, given))
