"""The arithmetic of rate limits, in one process and in the database."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.core.pace import InProcessPace, Pace, Rates
from moot.core.settings import RateLimit
from moot.store.postgres import PostgresStore
from moot.store.postgres.pace import SharedPace

MINUTE = 60.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def starts(limit: RateLimit, arrivals: list[tuple[float, int]], pauses: list[tuple[float, float]]) -> list[tuple]:
    """Simulate calls that arrive at given times. Returns the start and the tokens of each, in order of their starts."""

    async def main() -> list[tuple]:
        clock = Clock()
        pace, rates = InProcessPace(clock), Rates.of(limit)
        started: list[tuple[float, int]] = []
        agenda: list[tuple] = [(at, number, "take", size) for number, (at, size) in enumerate(arrivals)]
        agenda += [(at, -1 - number, "pause", seconds) for number, (at, seconds) in enumerate(pauses)]
        heapq.heapify(agenda)
        while agenda:
            at, number, what, value = heapq.heappop(agenda)
            clock.now = 1_000.0 + at
            if what == "pause":
                await pace.pause("m", rates, value)
                continue
            size, reservation = value if what == "look" else (value, None)
            if reservation is None:
                reservation = await pace.take("m", rates, size)
                left = reservation.wait
            else:
                left = await pace.left("m", rates, reservation)
            if left > 1e-9:
                heapq.heappush(agenda, (at + left, number, "look", (size, reservation)))
            else:
                started.append((at, size))
        return started

    return asyncio.run(main())


limits = st.builds(
    RateLimit,
    requests_per_minute=st.one_of(st.none(), st.integers(1, 2000)),
    tokens_per_minute=st.one_of(st.none(), st.integers(100, 100_000)),
)
arrivals = st.lists(st.tuples(st.floats(0, 300), st.integers(0, 20_000)), min_size=1, max_size=60)
pauses = st.lists(st.tuples(st.floats(0, 300), st.floats(0, 40)), max_size=3)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(limit=limits, arrivals=arrivals, pauses=pauses)
def test_no_minute_exceeds_the_limit(limit, arrivals, pauses):
    started = starts(limit, arrivals, pauses)
    assert sorted(size for _, size in started) == sorted(size for _, size in arrivals)  # every call starts
    for first, _ in started:
        minute = [size for at, size in started if first <= at < first + MINUTE]
        if limit.requests_per_minute is not None:
            assert len(minute) <= limit.requests_per_minute
        if limit.tokens_per_minute is not None:
            # A call may be larger than the capacity; later calls wait for it.
            at_once = Rates.of(limit).tokens_at_once
            assert sum(minute) <= limit.tokens_per_minute + max(0, max(minute) - at_once) + 1e-6
    for at, seconds in pauses:
        assert not [begin for begin, _ in started if at < begin < at + seconds - 1e-6]


def test_a_burst_starts_at_once_and_the_rest_is_spread():
    started = starts(RateLimit(requests_per_minute=60), [(0.0, 0)] * 10, [])
    assert [at for at, _ in started[:6]] == [0.0] * 6
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(started[5:])]
    assert gaps == pytest.approx([60 / (0.97 * 55)] * 4)


def test_a_limit_of_one_is_one_a_minute():
    started = starts(RateLimit(requests_per_minute=1), [(0.0, 0)] * 3, [])
    assert [at for at, _ in started] == pytest.approx([0, 60 / 0.97, 120 / 0.97])


async def apply(pace: Pace, clock: Clock, actions: list[tuple]) -> list[float]:
    """Apply actions to a pace and return its answers."""
    rates, other = Rates.of(RateLimit(requests_per_minute=30, tokens_per_minute=6000)), Rates.of(RateLimit())
    reservations, answers = [], []
    for seconds, action, value in actions:
        clock.now += seconds
        if action == "take":
            reservations.append(await pace.take("m", rates, value))
            answers += [reservations[-1].wait, reservations[-1].start]
            assert (await pace.take("unlimited", other, value)).wait == pytest.approx(0, abs=1e-6)
        elif action == "left" and reservations:
            answers.append(await pace.left("m", rates, reservations[value % len(reservations)]))
        elif action == "give" and reservations:
            await pace.give_back("m", rates, value % 2, value - 500)
        elif action == "pause":
            await pace.pause("m", rates, value / 100)
    return answers


actions = st.lists(
    st.tuples(st.floats(0, 20), st.sampled_from(["take", "take", "left", "give", "pause"]), st.integers(0, 3000)),
    min_size=1,
    max_size=25,
)


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(actions=actions)
def test_the_database_gives_the_same_answers_as_one_process(on_store, actions):
    expected, found = Clock(), Clock()

    async def main(store: PostgresStore) -> tuple:
        await store.with_connection(lambda connection, _: connection.execute("truncate rate_limits"))
        return await apply(InProcessPace(expected), expected, actions), await apply(
            SharedPace(store, clock=found), found, actions
        )

    one, other = on_store(main)
    assert other == pytest.approx(one, abs=1e-6)


@pytest.fixture(scope="module")
def on_store(shared_server):
    """One store and one loop for all examples."""
    from tests.postgres import Databases

    databases = Databases(shared_server["url"], shared_server["template"])
    url = databases.make()
    with asyncio.Runner() as runner:
        store = PostgresStore(url)

        def run(work: Callable):
            return runner.run(work(store))

        yield run
        runner.run(store.close())
    databases.drop()
