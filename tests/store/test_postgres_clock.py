"""Leases and times go by the server's clock, whatever the clock of a process shows and whatever is done to it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from moot.store.postgres import PostgresStore
from moot.store.postgres.clock import JUMP_SECONDS, LOOK_SECONDS, SLOW_SECONDS, ServerClock
from tests.postgres import execute
from tests.store.samples import debate


class World:
    """A server, and a machine with two clocks: one that people can set, and one that they can't."""

    def __init__(self) -> None:
        self.server, self.wall, self.steady = 1_000_000.0, 1_000_300.0, 50.0
        self.takes = 0.01  # seconds, there and back
        self.there = 0.5  # of them
        self.looks = 0
        self.clock = ServerClock(steady=lambda: self.steady, wall=lambda: self.wall)

    def go_on(self, seconds: float) -> None:
        self.server, self.wall, self.steady = self.server + seconds, self.wall + seconds, self.steady + seconds

    async def fetch(self, query: str, *args: Any) -> list[dict[str, float]]:
        self.looks += 1
        self.go_on(self.takes * self.there)
        now = self.server
        self.go_on(self.takes * (1 - self.there))
        return [{"now": now}]

    def look(self) -> float:
        """By how much it is wrong afterwards."""
        asyncio.run(self.clock.look(self))  # type: ignore[arg-type]
        return self.clock() - self.server


class TestReckoning:
    def test_a_wall_clock_that_is_wrong_does_not_matter(self):
        world = World()
        assert world.look() == pytest.approx(0, abs=1e-6)
        world.go_on(LOOK_SECONDS - 1)
        assert world.look() == pytest.approx(0, abs=1e-6)
        assert world.looks == 1

    def test_it_is_asked_again_after_a_while(self):
        world = World()
        world.look()
        world.go_on(LOOK_SECONDS + 1)
        world.server += 0.2  # the two clocks have not run quite alike
        assert world.clock() - world.server == pytest.approx(-0.2, abs=1e-6)
        assert world.look() == pytest.approx(0, abs=1e-6)
        assert world.looks == 2

    @pytest.mark.parametrize("by", [-7200, -JUMP_SECONDS - 0.1, JUMP_SECONDS + 0.1, 300])
    def test_a_wall_clock_that_is_set_changes_nothing_and_has_the_server_asked(self, by):
        world = World()
        world.look()
        world.wall += by
        assert world.clock() - world.server == pytest.approx(0, abs=1e-6)
        assert world.look() == pytest.approx(0, abs=1e-6)
        world.look()
        assert world.looks == 2

    @pytest.mark.parametrize("there", [0.01, 0.99])
    def test_a_wall_clock_that_is_right_is_taken_as_it_is(self, there):
        """What an answer took on its way there and back can't be told."""
        world = World()
        world.takes, world.there = 0.4, there
        world.wall = world.server
        assert world.look() == 0
        world.go_on(LOOK_SECONDS - 1)
        assert world.clock() == world.server
        world.wall += 300
        assert 0 < abs(world.look()) <= world.takes / 2

    def test_a_machine_that_was_asleep_asks_before_it_does_anything(self):
        """Its steady clock may have stood still."""
        world = World()
        world.look()
        world.server, world.wall = world.server + 3600, world.wall + 3600
        assert world.look() == pytest.approx(0, abs=1e-6)

    def test_an_answer_that_took_long_is_not_believed_when_there_is_a_better_one(self):
        world = World()
        world.look()
        world.go_on(LOOK_SECONDS + 1)

        async def late(query: str, *args: Any) -> list[dict[str, float]]:
            now = world.server  # then the process stands still
            world.go_on(600)
            return [{"now": now}]

        asyncio.run(world.clock.look(type("Link", (), {"fetch": staticmethod(late)})()))
        assert world.clock() - world.server == pytest.approx(0, abs=1e-6)
        world.look()
        assert world.looks == 2  # it is asked again at the next opportunity

    def test_the_first_is_better_than_none(self):
        world = World()
        world.takes = SLOW_SECONDS + 1
        assert abs(world.look()) <= world.takes / 2
        world.takes = 0.01
        assert world.look() == pytest.approx(0, abs=1e-6)

    def test_one_that_is_given_is_never_compared(self):
        clock = ServerClock(lambda: 5.0)
        asyncio.run(clock.look(None))  # type: ignore[arg-type]
        assert clock() == 5.0


@pytest.mark.parametrize("by", [-600, 600])
def test_on_a_machine_whose_clock_is_wrong(database_url, by):
    """It neither takes what others drive, nor is what it drives taken by others, nor does it write wrong times."""

    async def main() -> None:
        astray, sound = PostgresStore(database_url), PostgresStore(database_url)
        astray.now = ServerClock(wall=lambda: time.time() + by)
        try:
            for n, (first, second) in enumerate([(astray, sound), (sound, astray)]):
                made = await first.create(debate(n))
                assert (await first.claim(made.id, "one", 300, expect=["pending"])) is not None
                assert await second.claim(made.id, "two", 300, expect=["running"]) is None
                assert await second.abandoned(lambda _: False) == []
                await first.pulse("one", {made.id: 1}, 300)
                assert await second.claim(made.id, "two", 300, expect=["running"]) is None
                assert await first.claim(made.id, "two", 300, expect=["running"]) is None
        finally:
            await astray.close()
            await sound.close()

    asyncio.run(main())
    rows = execute(
        database_url,
        "select lease_until - now.now as left, now.now - created_at as age from debate_sessions,"
        " (select extract(epoch from clock_timestamp())::float8 as now) as now",
    )
    assert len(rows) == 2
    for row in rows:
        assert 0 < row["left"] <= 301
        assert -299 < row["age"] < 299


def test_whatever_comes_first_goes_by_the_server(database_url):
    async def main() -> None:
        for n, by in enumerate((-600, 600)):
            store = PostgresStore(database_url)
            store.now = ServerClock(wall=lambda by=by: time.time() + by)
            await store.create(debate(n))
            await store.close()

    asyncio.run(main())
    rows = execute(
        database_url,
        "select extract(epoch from clock_timestamp())::float8 - created_at as age from debate_sessions",
    )
    assert all(-300 < row["age"] < 300 for row in rows), rows
