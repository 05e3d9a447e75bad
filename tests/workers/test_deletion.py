"""Debates that are deleted while real workers drive them, on PostgreSQL."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest

from moot.app import App
from moot.core.errors import DebateDeleted
from moot.store.postgres.connections import connect, sql
from tests.store.samples import debate
from tests.workers.crew import ENDLESS, Crew, jobs, new, one_is_driven, queued, rows, status, turns, wait_until, when

SLOW = "sim:?latency_ms=200"
TABLES = (
    "debate_turns", "debate_events", "debate_gates", "memories", "code_versions", "episodes", "lessons", "lesson_uses",
)  # fmt: skip


async def left_of(app: Any, debate_id: str) -> dict[str, int]:
    counts = {t: await rows(app, f"select 1 from {t} where session_id = $1", debate_id) for t in TABLES}
    counts["debate_sessions"] = await rows(app, "select 1 from debate_sessions where id = $1", debate_id)
    return {table: len(found) for table, found in counts.items() if found}


@pytest.mark.slow
async def test_a_worker_whose_debate_is_deleted_loses_cleanly(app: App, crew: Crew):
    worker = crew.worker().ready()
    gone = [await new(app, SLOW, **ENDLESS) for _ in range(3)]
    kept = await new(app, SLOW, max_rounds=1)
    for each in (*gone, kept):
        await app.hand_over(each)
    for each in gone:
        await turns(app, each.id, 1)
    for each in gone:
        done = crew.run("delete", each.short, "--yes")
        assert done.returncode == 0, done.stderr
    await status(app, kept.id, "completed")

    async def free() -> bool:
        """Nothing of them is queued or driven."""
        return not await jobs(app) and not (await app.runtime.store.overview(60)).drivers

    await when(free)
    await one_is_driven(app)
    for each in gone:
        assert await left_of(app, each.id) == {}
        with pytest.raises(DebateDeleted):
            await app.runtime.store.get(each.id)
    worker.send(signal.SIGTERM)
    assert worker.ended() == 0
    assert "Traceback" not in worker.said
    assert "ERROR" not in worker.said
    assert "could not be driven" not in worker.said


@pytest.mark.slow
async def test_a_worker_that_was_away_when_its_debate_was_deleted_does_not_bring_it_back(app: App, crew: Crew):
    worker = crew.worker(MOOT_LEASE_SECONDS="2").ready()
    gone = await queued(app, SLOW, **ENDLESS)
    await turns(app, gone.id, 1)
    worker.send(signal.SIGSTOP)
    assert crew.run("delete", gone.short, "--yes").returncode == 0
    worker.send(signal.SIGCONT)
    await one_is_driven(app)
    worker.send(signal.SIGTERM)
    assert worker.ended() == 0
    assert await left_of(app, gone.id) == {}
    assert await app.runtime.store.tombstone(gone.id) is not None
    assert "Traceback" not in worker.said


@pytest.mark.slow
async def test_a_purge_of_a_worker_by_its_setting(app: App, crew: Crew):
    made = [await new(app, "sim:", max_rounds=1) for _ in range(3)]
    for each in made:
        await app.runtime.start(each.id)
        await app.runtime.wait(each.id)
    old = made[0].id
    await rows(app, "update debate_sessions set created_at = 1, updated_at = 1 where id = $1", old)
    workers = [crew.worker(MOOT_RETENTION_DAYS="30").ready() for _ in range(2)]
    await when(lambda: app.runtime.store.tombstone(old))
    assert await left_of(app, old) == {}
    assert {each.id for each in (await app.runtime.store.page()).debates} == {each.id for each in made[1:]}
    wait_until(lambda: any("Deleted 1 debates" in worker.said for worker in workers))
    for worker in workers:
        worker.send(signal.SIGTERM)
    assert [worker.ended() for worker in workers] == [0, 0]


async def test_jobs_of_a_deleted_debate_go_with_it(app: App):
    one, two = [await new(app, "sim:", max_rounds=1) for _ in range(2)]
    for each in (one, two):
        await app.hand_over(each)
    await app.runtime.delete(one.id, by="ann")
    assert [bytes(job["payload"]).decode() for job in await jobs(app)] == [two.id]


async def test_a_create_that_overlaps_the_deletion_does_not_bring_the_debate_back(app: App):
    """A repeated request to create it waits for the id until the deletion is committed."""
    store = app.runtime.store
    made = await store.create(debate(1))
    deleting = await connect(store.address)
    values = {"id": made.id, "by": "ann", "now": 1.0}
    await deleting.execute("begin")
    await sql("delete").on(deleting, values)
    await sql("bury").on(deleting, values)
    again = asyncio.create_task(store.create(debate(1)))
    waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%debate_sessions%'"

    async def waits() -> bool:
        assert not again.done()
        return bool(await deleting.fetch(waiting))

    await when(waits)
    await deleting.execute("commit")
    with pytest.raises(DebateDeleted):
        await again
    await deleting.close()
    assert (await store.page()).debates == []
