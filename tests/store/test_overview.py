"""Operational figures, on both stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from moot.core.pace import Rates
from moot.core.settings import RateLimit
from moot.core.types import Debate, Failure, Gate
from moot.runtime.presence import present
from moot.store import Commit, Store
from moot.store.overview import SILENT_SECONDS, Presence, group_failures
from moot.store.postgres import PostgresStore
from moot.store.postgres.pace import SharedPace
from moot.store.sqlite import SqliteStore

NOW = 1_700_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def run(request: Any, tmp_path: Any, clock: Clock) -> Callable[[Callable[[Store], Awaitable[None]]], None]:
    url = request.getfixturevalue("database_url") if request.param == "postgres" else ""

    def run(check: Callable[[Any], Awaitable[None]]) -> None:
        async def main() -> None:
            store = PostgresStore(url, clock=clock) if url else SqliteStore(tmp_path / "moot.db", clock=clock)
            try:
                await check(store)
            finally:
                await store.close()

        asyncio.run(main())

    return run


async def made(store: Any, debate_id: str) -> Debate:
    return await store.create(
        Debate(id=debate_id, topic="t", format="classic", format_version=1, status="pending", config={}, cast=())
    )


async def driven(store: Any, debate_id: str, owner: str, seconds: float = 15) -> Debate:
    await made(store, debate_id)
    claimed = await store.claim(debate_id, owner, seconds, expect=("pending",))
    assert claimed is not None
    return claimed


async def failed(store: Any, debate_id: str, kind: Any, message: str) -> None:
    debate = await driven(store, debate_id, "one")
    error = Failure(kind=kind, message=message)
    commit = Commit(debate_id=debate_id, epoch=debate.epoch, status="failed", error=error, release=True)
    assert await store.commit(commit) is not None


async def asked(store: Any, debate_id: str, expires_at: float | None) -> None:
    debate = await driven(store, debate_id, "one")
    gate = Gate(debate_id=debate_id, key="1/ask/you", kind="checkpoint", question="?", expires_at=expires_at)
    commit = Commit(debate_id=debate_id, epoch=debate.epoch, status="waiting", gates=[gate], release=True)
    assert await store.commit(commit) is not None


def test_an_empty_database(run):
    async def check(store):
        found = await store.overview(60)
        assert (found.now, found.debates, found.failed, found.gates_open, found.queue) == (NOW, {}, 0, 0, None)

    run(check)


def test_debates_drivers_and_leases(run, clock):
    async def check(store):
        await made(store, "a")
        await driven(store, "b", "one", 15)
        await driven(store, "c", "one", 30)
        await driven(store, "d", "two", 5)
        clock.now += 10
        found = await store.overview(60)
        assert found.debates == {"pending": 1, "running": 3}
        (one,) = found.drivers
        assert (one.name, one.debates, one.lease_until) == ("one", 2, NOW + 15)
        assert found.leases_expired == 1

    run(check)


def test_open_and_overdue_gates(run, clock):
    async def check(store):
        await asked(store, "a", None)
        await asked(store, "b", NOW + 5)
        await asked(store, "c", NOW + 50)
        await asked(store, "d", NOW + 1)
        assert await store.move("d", "canceled", expect=("waiting",)) is not None
        clock.now += 10
        found = await store.overview(60)
        assert (found.gates_open, found.gates_overdue) == (3, 1)

    run(check)


def test_recent_failures_are_grouped_most_frequent_first(run, clock):
    async def check(store):
        await failed(store, "old", "error", "long ago")
        clock.now += 100
        await failed(store, "a", "unavailable", "no key")
        await failed(store, "b", "overloaded", "try again in 3.5 s, request 7fa3")
        clock.now += 1
        await failed(store, "c", "overloaded", "try again in 12 s, request 9b01")
        found = await store.overview(60)
        assert found.failed == 3
        assert [(each.kind, each.debates, each.newest) for each in found.troubles] == [
            ("overloaded", 2, "c"),
            ("unavailable", 1, "a"),
        ]
        assert found.troubles[0].message == "try again in 12 s, request 9b01"

    run(check)


def test_a_failure_without_a_reason_is_counted():
    (group,) = group_failures([{"id": "a", "error": None}])  # type: ignore[list-item]
    assert (group.kind, group.message) == ("error", "")


def test_workers_come_and_go(database_url, clock):
    async def main() -> None:
        store = PostgresStore(database_url, clock=clock)
        debates = [0]

        def now() -> Presence:
            return Presence(name="one", version="1", started_at=NOW, debates=debates[0], room=10)

        async def seen() -> list[tuple[str, int]]:
            return [(each.name, each.debates) for each in (await store.overview(60)).workers]

        async with asyncio.timeout(20):
            async with present(store, now, 0.01):
                while await seen() != [("one", 0)]:
                    await asyncio.sleep(0.01)
                debates[0] = 3
                while await seen() != [("one", 3)]:
                    await asyncio.sleep(0.01)
            assert await seen() == []
        await store.check_in(now())
        clock.now += SILENT_SECONDS + 1
        found = await store.overview(60)
        assert (list(found.workers), [each.name for each in found.silent]) == ([], ["one"])
        clock.now += 3600
        await store.check_in(replace(now(), name="two"))  # a check-in deletes stale rows
        found = await store.overview(60)
        assert ([each.name for each in found.workers], list(found.silent)) == (["two"], [])
        await store.close()

    asyncio.run(main())


def test_rate_limit_status(database_url, clock):
    async def main() -> None:
        store = PostgresStore(database_url, clock=clock)
        pace, rates = SharedPace(store, clock=clock), Rates.of(RateLimit(requests_per_minute=10))
        for _ in range(3):
            await pace.take("busy", rates, 1)
        await pace.pause("paused", rates, 9)
        busy, paused = (await store.overview(60)).limits
        assert (busy.name, busy.paused_seconds, busy.line_seconds) == ("busy", 0, pytest.approx(2 * 6 / 0.97))
        assert (paused.name, paused.paused_seconds) == ("paused", 9)
        await store.close()

    asyncio.run(main())
