"""Operational figures, on both stores."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from moot.core.pace import Rates
from moot.core.settings import RateLimit
from moot.core.types import Failure, Gate
from moot.runtime.presence import present
from moot.store import Commit, Store
from moot.store.overview import SILENT_SECONDS, Presence
from moot.store.postgres.pace import SharedPace
from tests.store.samples import Clock, claimed, debate

NOW = Clock().now


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, loop) -> Store:
    return request.getfixturevalue(f"on_{request.param}")


async def driven(store: Store, n: int, owner: str, seconds: float) -> None:
    await store.create(debate(n))
    assert await store.claim(debate(n).id, owner, seconds, expect=("pending",)) is not None


async def failed(store: Store, n: int, kind: Any, message: str) -> None:
    made, error = await claimed(store, n), Failure(kind=kind, message=message)
    commit = Commit(debate_id=made.id, epoch=1, status="failed", error=error, release=True)
    assert await store.commit(commit) is not None


async def asked(store: Store, n: int, expires_at: float | None) -> None:
    made = await claimed(store, n)
    gate = Gate(debate_id=made.id, key="1/ask/you", kind="checkpoint", question="?", expires_at=expires_at)
    commit = Commit(debate_id=made.id, epoch=1, status="waiting", gates=[gate], release=True)
    assert await store.commit(commit) is not None


async def test_an_empty_database(store: Store):
    found = await store.overview(60)
    assert (found.now, found.debates, found.failed, found.gates_open, found.queue) == (NOW, {}, 0, 0, None)


async def test_debates_drivers_and_leases(store: Store, clock):
    await store.create(debate(0))
    await driven(store, 1, "one", 15)
    await driven(store, 2, "one", 30)
    await driven(store, 3, "two", 5)
    clock.now += 10
    found = await store.overview(60)
    assert found.debates == {"pending": 1, "running": 3}
    (one,) = found.drivers
    assert (one.name, one.debates, one.lease_until) == ("one", 2, NOW + 15)
    assert found.leases_expired == 1


async def test_open_and_overdue_gates(store: Store, clock):
    for n, seconds in enumerate((None, 5, 50, 1)):
        await asked(store, n, seconds and NOW + seconds)
    assert await store.move(debate(3).id, "canceled", expect=("waiting",)) is not None
    clock.now += 10
    found = await store.overview(60)
    assert (found.gates_open, found.gates_overdue) == (3, 1)


async def test_recent_failures_are_grouped_most_frequent_first(store: Store, clock):
    await failed(store, 0, "error", "long ago")
    clock.now += 100
    await failed(store, 1, "unavailable", "no key")
    await failed(store, 2, "overloaded", "try again in 3.5 s, request 7fa3")
    clock.now += 1
    await failed(store, 3, "overloaded", "try again in 12 s, request 9b01")
    found = await store.overview(60)
    assert found.failed == 3
    assert [(each.kind, each.debates, each.newest) for each in found.troubles] == [
        ("overloaded", 2, debate(3).id),
        ("unavailable", 1, debate(1).id),
    ]
    assert found.troubles[0].message == "try again in 12 s, request 9b01"


async def test_workers_come_and_go(on_postgres, clock):
    store, debates = on_postgres, [0]

    def now() -> Presence:
        return Presence(name="one", version="1", started_at=NOW, debates=debates[0], room=10)

    async def seen() -> list[tuple[str, int]]:
        return [(each.name, each.debates) for each in (await store.overview(60)).workers]

    async with asyncio.timeout(60):
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


async def test_rate_limit_status(on_postgres, clock):
    pace, rates = SharedPace(on_postgres, clock=clock), Rates.of(RateLimit(requests_per_minute=10))
    for _ in range(3):
        await pace.take("busy", rates, 1)
    await pace.pause("paused", rates, 9)
    busy, paused = (await on_postgres.overview(60)).limits
    assert (busy.name, busy.paused_seconds, busy.line_seconds) == ("busy", 0, pytest.approx(2 * 6 / 0.97))
    assert (paused.name, paused.paused_seconds) == ("paused", 9)
