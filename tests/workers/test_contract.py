"""The queue on PostgreSQL keeps the contract that the simulated one keeps (tests/simulation/test_queue.py)."""

from __future__ import annotations

from typing import Any

import pytest

from moot.store.postgres import PostgresStore
from moot.store.postgres.queue import PgQueue
from tests.coroutines import Opened
from tests.store.conftest import closing_store
from tests.store.samples import Clock
from tests.store.using import rows
from tests.workers.contract import QueueContract

pytestmark = pytest.mark.slow


class Postgres:
    def __init__(self, store: PostgresStore, clock: Clock) -> None:
        self.clock, self.store, self.queue = clock, store, PgQueue(store)

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
        return await rows(self.store, statement)


class TestPostgres(QueueContract):
    @pytest.fixture
    def yard(self, opened: Opened, database_url: str) -> Postgres:
        clock = Clock()
        return Postgres(opened(closing_store(PostgresStore(database_url, clock=clock))), clock)
