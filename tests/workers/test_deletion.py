"""Debates that are deleted while real workers drive them, on PostgreSQL."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import DebateDeleted
from moot.store.postgres import PostgresStore
from moot.store.postgres.connections import connect, sql
from tests.postgres import execute
from tests.store.samples import debate
from tests.store.using import using
from tests.workers.crew import Crew, jobs, new, on, rows, status, turns, wait_until

SLOW = "sim:?latency_ms=200"
TABLES = (
    "debate_turns", "debate_events", "debate_gates", "memories", "code_versions", "episodes", "lessons", "lesson_uses",
)  # fmt: skip


@pytest.fixture
def crew(database_url: str, tmp_path: Path):
    with Crew(database_url, tmp_path) as crew:
        yield crew


async def left_of(app: Any, debate_id: str) -> dict[str, int]:
    counts = {t: await rows(app, f"select 1 from {t} where session_id = $1", debate_id) for t in TABLES}
    counts["debate_sessions"] = await rows(app, "select 1 from debate_sessions where id = $1", debate_id)
    return {table: len(found) for table, found in counts.items() if found}


@pytest.mark.slow
def test_a_worker_whose_debate_is_deleted_loses_cleanly(crew: Crew):
    worker = crew.worker().ready()

    async def main() -> None:
        async with on(crew.url, crew.folder) as app:
            gone = [await new(app, SLOW, max_rounds=9, max_runtime_seconds=3600) for _ in range(3)]
            kept = await new(app, SLOW, max_rounds=1)
            for each in (*gone, kept):
                await app.hand_over(each)
            for each in gone:
                await turns(app, each.id, 1)
            for each in gone:
                done = crew.run("delete", each.short, "--yes")
                assert done.returncode == 0, done.stderr
            await status(app, kept.id, "completed")
            for each in gone:
                assert await left_of(app, each.id) == {}
                with pytest.raises(DebateDeleted):
                    await app.runtime.store.get(each.id)
            # The worker is free: nothing of them is queued or driven, and it takes the next.
            async with asyncio.timeout(60):
                while await jobs(app) or (await app.runtime.store.overview(60)).drivers:
                    await asyncio.sleep(0.02)
            following = await new(app, "sim:", max_rounds=1)
            await app.hand_over(following)
            await status(app, following.id, "completed")
            for each in gone:
                assert await left_of(app, each.id) == {}

    asyncio.run(main())
    worker.send(signal.SIGTERM)
    assert worker.ended() == 0
    assert "Traceback" not in worker.said
    assert "ERROR" not in worker.said
    assert "could not be driven" not in worker.said


@pytest.mark.slow
def test_a_worker_that_was_away_when_its_debate_was_deleted_does_not_bring_it_back(crew: Crew):
    worker = crew.worker(MOOT_LEASE_SECONDS="2").ready()

    async def main() -> None:
        async with on(crew.url, crew.folder) as app:
            gone = await new(app, SLOW, max_rounds=9, max_runtime_seconds=3600)
            await app.hand_over(gone)
            await turns(app, gone.id, 1)
            worker.send(signal.SIGSTOP)
            assert crew.run("delete", gone.short, "--yes").returncode == 0
            worker.send(signal.SIGCONT)
            following = await new(app, "sim:", max_rounds=1)
            await app.hand_over(following)
            await status(app, following.id, "completed")
            worker.send(signal.SIGTERM)
            wait_until(lambda: worker.popen.poll() is not None)
            assert await left_of(app, gone.id) == {}
            assert await app.runtime.store.tombstone(gone.id) is not None

    asyncio.run(main())
    assert "Traceback" not in worker.said


@pytest.mark.slow
def test_a_purge_of_a_worker_by_its_setting(crew: Crew):
    async def main() -> None:
        async with on(crew.url, crew.folder) as app:
            made = [await new(app, "sim:", max_rounds=1) for _ in range(3)]
            for each in made:
                await app.runtime.start(each.id)
                await app.runtime.wait(each.id)
            old = made[0].id
            await rows(app, "update debate_sessions set created_at = 1, updated_at = 1 where id = $1", old)
            workers = [crew.worker(MOOT_RETENTION_DAYS="30") for _ in range(2)]
            for worker in workers:
                worker.ready()
            async with asyncio.timeout(60):
                while await app.runtime.store.tombstone(old) is None:
                    await asyncio.sleep(0.02)
            assert await left_of(app, old) == {}
            assert {each.id for each in (await app.runtime.store.page()).debates} == {each.id for each in made[1:]}
            wait_until(lambda: any("Deleted 1 debates" in worker.said for worker in workers))
            for worker in workers:
                worker.send(signal.SIGTERM)
            assert [worker.ended() for worker in workers] == [0, 0]

    asyncio.run(main())


def test_jobs_of_a_deleted_debate_go_with_it(database_url: str, tmp_path: Path):
    async def main() -> None:
        async with on(database_url, tmp_path) as app:
            one, two = [await new(app, "sim:", max_rounds=1) for _ in range(2)]
            for each in (one, two):
                await app.hand_over(each)
            await app.runtime.delete(one.id, by="ann")
            assert [bytes(job["payload"]).decode() for job in await jobs(app)] == [two.id]

    asyncio.run(main())


def test_a_create_that_overlaps_the_deletion_does_not_bring_the_debate_back(database_url: str):
    """A repeated request to create it waits for the id until the deletion is committed."""

    async def check(store: PostgresStore) -> None:
        made = await store.create(debate(1))
        deleting = await connect(store.address)
        values = {"id": made.id, "by": "ann", "now": 1.0}
        await deleting.execute("begin")
        await sql("delete").on(deleting, values)
        await sql("bury").on(deleting, values)
        again = asyncio.create_task(store.create(debate(1)))
        waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%debate_sessions%'"
        async with asyncio.timeout(30):
            while not await deleting.fetch(waiting):
                assert not again.done()
                await asyncio.sleep(0.01)
        await deleting.execute("commit")
        with pytest.raises(DebateDeleted):
            await again
        await deleting.close()

    using(database_url, check)
    assert execute(database_url, "select count(*) as n from debate_sessions")[0]["n"] == 0
