"""Leases and times go by the server's clock, whatever the wall clock of a process shows, and however it is set."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from moot.store.postgres import PostgresStore
from moot.store.postgres.clock import JUMP_SECONDS, SLOW_SECONDS, SYNC_SECONDS, ServerClock
from tests.store.conftest import closing_store
from tests.store.samples import debate
from tests.store.using import rows


class World:
    """A server, and a machine with a wall clock, which can be set, and a monotonic one."""

    def __init__(self) -> None:
        self.server, self.wall, self.monotonic = 1_000_000.0, 1_000_300.0, 50.0
        self.round_trip = 0.01  # seconds
        self.outward = 0.5  # share of the round trip
        self.syncs = 0
        self.clock = ServerClock(monotonic=lambda: self.monotonic, wall=lambda: self.wall)

    def advance(self, seconds: float) -> None:
        self.server, self.wall, self.monotonic = self.server + seconds, self.wall + seconds, self.monotonic + seconds

    async def fetch(self, query: str, *args: Any) -> list[dict[str, float]]:
        self.syncs += 1
        self.advance(self.round_trip * self.outward)
        now = self.server
        self.advance(self.round_trip * (1 - self.outward))
        return [{"now": now}]

    def sync(self) -> float:
        """Sync if it is due; return the remaining error."""
        asyncio.run(self.clock.sync(self))  # type: ignore[arg-type]
        return self.clock() - self.server


class TestServerClock:
    def test_a_wrong_wall_clock_does_not_matter(self):
        world = World()
        assert world.sync() == pytest.approx(0, abs=1e-6)
        world.advance(SYNC_SECONDS - 1)
        assert world.sync() == pytest.approx(0, abs=1e-6)
        assert world.syncs == 1

    def test_it_syncs_again_after_a_while(self):
        world = World()
        world.sync()
        world.advance(SYNC_SECONDS + 1)
        world.server += 0.2  # drift
        assert world.clock() - world.server == pytest.approx(-0.2, abs=1e-6)
        assert world.sync() == pytest.approx(0, abs=1e-6)
        assert world.syncs == 2

    @pytest.mark.parametrize("by", [-7200, -JUMP_SECONDS - 0.1, JUMP_SECONDS + 0.1, 300])
    def test_setting_the_wall_clock_changes_nothing_and_triggers_a_sync(self, by):
        world = World()
        world.sync()
        world.wall += by
        assert world.clock() - world.server == pytest.approx(0, abs=1e-6)
        assert world.sync() == pytest.approx(0, abs=1e-6)
        world.sync()
        assert world.syncs == 2

    @pytest.mark.parametrize("outward", [0.01, 0.99])
    def test_a_correct_wall_clock_is_used_as_it_is(self, outward):
        """How a round trip divides into its two ways is unknown, so a sync alone would be less exact."""
        world = World()
        world.round_trip, world.outward = 0.4, outward
        world.wall = world.server
        assert world.sync() == 0
        world.advance(SYNC_SECONDS - 1)
        assert world.clock() == world.server
        world.wall += 300
        assert 0 < abs(world.sync()) <= world.round_trip / 2

    def test_a_machine_that_slept_syncs_first(self):
        """Its monotonic clock may have stopped meanwhile."""
        world = World()
        world.sync()
        world.server, world.wall = world.server + 3600, world.wall + 3600
        assert world.sync() == pytest.approx(0, abs=1e-6)

    def test_a_slow_answer_does_not_replace_a_better_one(self):
        world = World()
        world.sync()
        world.advance(SYNC_SECONDS + 1)

        async def late(query: str, *args: Any) -> list[dict[str, float]]:
            now = world.server  # then the process is paused
            world.advance(600)
            return [{"now": now}]

        asyncio.run(world.clock.sync(type("Connection", (), {"fetch": staticmethod(late)})()))
        assert world.clock() - world.server == pytest.approx(0, abs=1e-6)
        world.sync()
        assert world.syncs == 2  # it syncs at the next opportunity

    def test_a_slow_first_answer_is_better_than_none(self):
        world = World()
        world.round_trip = SLOW_SECONDS + 1
        assert abs(world.sync()) <= world.round_trip / 2
        world.round_trip = 0.01
        assert world.sync() == pytest.approx(0, abs=1e-6)

    def test_a_given_clock_is_never_synced(self):
        clock = ServerClock(lambda: 5.0)
        asyncio.run(clock.sync(None))  # type: ignore[arg-type]
        assert clock() == 5.0


@pytest.mark.parametrize("by", [-600, 600])
async def test_leases_on_a_machine_whose_clock_is_wrong(database_url, by):
    """Neither side can claim what the other holds, and no wrong time is written, not even first."""
    async with closing_store(PostgresStore(database_url)) as wrong, closing_store(PostgresStore(database_url)) as right:
        wrong.now = ServerClock(wall=lambda: time.time() + by)
        for n, (first, second) in enumerate([(wrong, right), (right, wrong)]):
            made = await first.create(debate(n))
            assert (await first.claim(made.id, "one", 300, expect=["pending"])) is not None
            assert await second.claim(made.id, "two", 300, expect=["running"]) is None
            assert await second.abandoned(lambda _: False) == []
            await first.heartbeat("one", {made.id: 1}, 300)
            assert await second.claim(made.id, "two", 300, expect=["running"]) is None
            assert await first.claim(made.id, "two", 300, expect=["running"]) is None
        found = await rows(
            right,
            "select lease_until - now.now as left, now.now - created_at as age from debate_sessions,"
            " (select extract(epoch from clock_timestamp())::float8 as now) as now",
        )
    assert len(found) == 2
    for row in found:
        assert 0 < row["left"] <= 301
        assert -299 < row["age"] < 299
