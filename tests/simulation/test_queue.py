"""The simulated queue does what the one on PostgreSQL does (tests/workers/test_contract.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulation.plan import Plan
from tests.simulation.process import Process
from tests.simulation.world import World
from tests.workers.contract import QueueContract


class Idle(Process):
    """Drives nothing, and looks for nothing."""

    async def _sweep(self) -> None:
        pass


class Simulated:
    def __init__(self, world: World) -> None:
        process = Idle(world, 1, 1)
        self._world, self.store, self.queue = world, process.store, process.queue

    async def jobs(self) -> list[str]:
        return [row["debate_id"] for row in self._do("select debate_id from simulated_jobs order by rowid")]

    async def priorities(self) -> list[int]:
        return [row["priority"] for row in self._do("select priority from simulated_jobs order by rowid")]

    async def lose_jobs(self) -> None:
        self._do("delete from simulated_jobs")

    async def silence(self) -> None:
        self._do("update simulated_jobs set beat = beat - 3600 where taken_by is not null")

    async def later(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def _do(self, statement: str) -> list[Any]:
        return self._world.database.execute(statement).fetchall()


class TestSimulated(QueueContract):
    @pytest.fixture
    def world(self) -> Iterator[World]:
        world = World(Plan(seed=1, plays=()))
        asyncio.set_event_loop(world.loop)
        yield world
        world._clear()
        asyncio.set_event_loop(None)
        world.loop.close()
        world.database.close()

    @pytest.fixture
    def loop(self, world: World) -> asyncio.Runner:
        """In which the tests run."""
        return asyncio.Runner(loop_factory=lambda: world.loop)

    @pytest.fixture
    def yard(self, world: World, loop: asyncio.Runner) -> Simulated:
        return Simulated(world)
