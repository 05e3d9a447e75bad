"""The queue on PostgreSQL keeps the contract that the simulated one keeps (tests/simulation/test_queue.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from moot.store.postgres import PostgresStore
from moot.store.postgres.queue import PgQueue
from tests.store.samples import Clock
from tests.workers.contract import QueueContract, Yard

pytestmark = pytest.mark.slow


class Postgres:
    def __init__(self, url: str) -> None:
        self.clock = Clock()
        self.store = PostgresStore(url, clock=self.clock)
        self.queue = PgQueue(self.store)

    async def jobs(self) -> list[str]:
        return [row["payload"].decode() for row in await self._rows("select payload from moot_jobs order by id")]

    async def priorities(self) -> list[int]:
        return [row["priority"] for row in await self._rows("select priority from moot_jobs order by id")]

    async def lose_jobs(self) -> None:
        await self._rows("delete from moot_jobs")

    async def silence(self) -> None:
        await self._rows("update moot_jobs set heartbeat = now() - interval '1 hour' where status = 'picked'")

    async def later(self, seconds: float) -> None:
        self.clock.now += seconds

    async def _rows(self, statement: str) -> list[Any]:
        await self.queue.open()
        return list(await self.store.with_connection(lambda connection, _: connection.fetch(statement)))


class TestPostgres(QueueContract):
    @pytest.fixture
    def run(self, database_url):
        def go(check: Callable[[Yard], Awaitable[None]]) -> None:
            async def main() -> None:
                yard = Postgres(database_url)
                try:
                    await check(yard)
                finally:
                    await yard.store.close()

            asyncio.run(main())

        return go
