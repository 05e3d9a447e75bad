"""Rate limits shared by all processes on one database. Each reservation is one statement, by the server's clock."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from moot.core.errors import StoreError
from moot.core.pace import InProcessPace, Rates, Reservation
from moot.store.columns import Row
from moot.store.postgres import PostgresStore
from moot.store.postgres.connections import sql

log = logging.getLogger("moot.core.pace")


class SharedPace:
    def __init__(self, store: PostgresStore, *, clock: Callable[[], float] | None = None) -> None:
        """`clock`: used instead of the server's."""
        self._store, self._clock = store, clock
        self._alone = InProcessPace(time.monotonic)  # the fallback while the database is gone

    async def take(self, name: str, rates: Rates, tokens: int) -> Reservation:
        try:
            (row,) = await self._do("pace_take", name, rates, size=float(tokens))
        except StoreError as error:
            log.warning("The limit of %s is kept by this process alone for now: %s", name, error)
            return await self._alone.take(name, rates, tokens)
        return Reservation(wait=row["wait"], start=row["start"])

    async def left(self, name: str, rates: Rates, reservation: Reservation) -> float:
        try:
            rows = await self._do("pace_left", name, rates, start=reservation.start)
        except StoreError:
            return 0.0  # the caller has waited as long as `take` said
        return rows[0]["wait"] if rows else 0.0

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        try:
            await self._do("pace_give_back", name, rates, requests_back=float(requests), tokens_back=float(tokens))
        except StoreError:
            pass  # the bucket refills within a minute anyway

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        try:
            await self._do("pace_pause", name, rates, seconds=seconds)
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
        # Not idempotent: a retry may reserve twice, which only delays a call.
        return await self._store.with_connection(lambda connection, _: sql(statement).on(connection, given))
