"""Draining a worker, and what becomes of its debates."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from moot.client import documents
from moot.core.errors import InputError
from moot.runtime.drive import Drive
from moot.store.queue import Swept
from tests.running import answers_file, until
from tests.workers.crew import jobs, new, on, rows, status, turns, working

pytestmark = pytest.mark.slow


class Calls:
    """A scripted model that notes its calls."""

    def __init__(self, folder: Path, delay_ms: int) -> None:
        self._log = folder / "scripted.log"
        self.model = answers_file(folder, log=str(self._log), delay_ms=delay_ms)

    @property
    def lines(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    @property
    def begun(self) -> list[str]:
        return [line.split("\t")[0] for line in self.lines if not line.startswith("done ")]


class TestDrain:
    def test_steps_in_flight_finish_and_another_goes_on_at_once(self, database_url, tmp_path):
        calls = Calls(tmp_path, delay_ms=150)

        async def main() -> None:
            async with on(database_url, tmp_path) as app:
                made = [await new(app, calls.model, "duel") for _ in range(3)]
                async with working(database_url, tmp_path, "first") as (_, worker):
                    for debate in made:
                        await app.hand_over(debate)
                    for debate in made:
                        await turns(app, debate.id, 3)
                    worker.stop()
                handed = [await app.runtime.store.get(debate.id) for debate in made]
                assert {(debate.status, debate.owner) for debate in handed} == {("running", None)}
                assert sorted(job["payload"].decode() for job in await jobs(app)) == sorted(each.id for each in made)
                # Every call that was begun became a turn.
                assert len(calls.begun) == sum(debate.turn_count for debate in handed)
                async with working(database_url, tmp_path, "second"):
                    for debate in made:
                        done = await status(app, debate.id, "completed")
                        assert done.epoch == 2
                        assert (await documents.prove(app, debate.id)).same
                assert Counter(calls.begun).most_common(1)[0][1] == len(made)  # each key once for each debate

        asyncio.run(main())

    def test_what_takes_longer_than_the_limit_is_asked_again_elsewhere(self, database_url, tmp_path):
        calls = Calls(tmp_path, delay_ms=60_000)

        async def main() -> None:
            async with on(database_url, tmp_path) as app:
                debate = await new(app, calls.model, "classic")
                async with working(database_url, tmp_path, "first", worker_drain_seconds=0.2) as (_, worker):
                    await app.hand_over(debate)
                    await until(lambda: calls.begun)
                    worker.stop()
                left = await app.runtime.store.get(debate.id)
                assert (left.status, left.owner, left.turn_count) == ("running", None, 0)
                async with working(database_url, tmp_path, "second", worker_drain_seconds=0):
                    await until(lambda: len(calls.begun) == 2)
                assert len(set(calls.begun)) == 1
                await app.runtime.cancel(debate.id)

        asyncio.run(main())

    def test_told_twice_it_does_not_wait(self, database_url, tmp_path):
        calls = Calls(tmp_path, delay_ms=60_000)

        async def main() -> None:
            async with on(database_url, tmp_path) as app:
                debate = await new(app, calls.model, "classic")
                async with (
                    asyncio.timeout(30),
                    working(database_url, tmp_path, worker_drain_seconds=600) as (_, worker),
                ):
                    await app.hand_over(debate)
                    await until(lambda: calls.begun)
                    worker.stop()
                    worker.stop()
                left = await app.runtime.store.get(debate.id)
                assert (left.status, left.owner) == ("running", None)
                assert len(await jobs(app)) == 1

        asyncio.run(main())

    def test_what_it_was_given_but_had_not_begun_is_another_s_at_once(self, database_url, tmp_path):
        async def main() -> None:
            async with on(database_url, tmp_path) as app:
                made = [await new(app, "sim:?latency_ms=30", max_rounds=1) for _ in range(60)]
                for debate in made:
                    await app.hand_over(debate)
                async with working(database_url, tmp_path, "first", worker_debates=10) as (its, worker):
                    await until(lambda: its.runtime._drives)
                    worker.stop()
                async with working(database_url, tmp_path, "second"):
                    for debate in made:
                        await status(app, debate.id, "completed")

        asyncio.run(main())

    def test_what_is_being_claimed_at_that_moment_is_handed_back_too(self, database_url, tmp_path):
        async def main() -> None:
            async with on(database_url, tmp_path) as app:
                debate = await new(app, "sim:?latency_ms=60000")
                claiming, go_on = asyncio.Event(), asyncio.Event()
                async with (
                    asyncio.timeout(30),
                    working(database_url, tmp_path, worker_drain_seconds=0.1) as (its, worker),
                ):
                    claim = its.runtime.store.claim

                    async def slow(*args, **more):
                        claimed = await claim(*args, **more)
                        claiming.set()
                        await go_on.wait()
                        return claimed

                    its.runtime.store.claim = slow
                    await app.hand_over(debate)
                    await claiming.wait()
                    worker.stop()
                    await asyncio.sleep(0.3)  # past the limit
                    go_on.set()
                left = await app.runtime.store.get(debate.id)
                assert (left.status, left.owner, left.turn_count) == ("running", None, 0)
                assert len(await jobs(app)) == 1

        asyncio.run(main())

    def test_whoever_stops_it_meanwhile_has_stopped_it(self, database_url, tmp_path):
        calls = Calls(tmp_path, delay_ms=1000)

        async def main() -> None:
            async with on(database_url, tmp_path) as app:
                debate = await new(app, calls.model, "classic")
                async with working(database_url, tmp_path) as (_, worker):
                    await app.hand_over(debate)
                    await until(lambda: calls.begun)
                    worker.stop()
                    await app.runtime.stop(debate.id)
                left = await app.runtime.store.get(debate.id)
                assert (left.status, left.owner, left.turn_count) == ("stopped", None, 1)
                assert await jobs(app) == []

        asyncio.run(main())


def test_without_the_queue_s_package_it_says_what_to_install(database_url, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pgqueuer.domain.settings", None)

    async def main() -> None:
        async with on(database_url, tmp_path) as app:
            async with asyncio.timeout(30):
                with pytest.raises(InputError, match=r"pip install \"moot\[postgres\]\""):
                    await app.worker().run()

    asyncio.run(main())


def test_a_sweep_that_fails_is_not_the_last(database_url, tmp_path, caplog):
    async def main() -> None:
        async with working(database_url, tmp_path, sweep=0.05) as (app, worker):
            sweep, tried = worker.queue.sweep, 0

            async def fails_at_first(*args: Any) -> Swept:
                nonlocal tried
                tried += 1
                if tried == 1:
                    raise ZeroDivisionError("a bug")
                return await sweep(*args)

            worker.queue.sweep = fails_at_first
            await until(lambda: tried > 1)
            debate = await new(app)
            await app.hand_over(debate)
            await status(app, debate.id, "completed")

    asyncio.run(main())
    assert "The sweep failed" in caplog.text


def test_many_questions_whose_time_is_over_at_once_are_looked_at_once_or_twice(database_url, tmp_path):
    async def main() -> None:
        async with working(database_url, tmp_path) as (app, worker):
            expire, looked = app.runtime.expire, 0

            async def counted():
                nonlocal looked
                looked += 1
                return await expire()

            app.runtime.expire = counted
            made = [await new(app, format="asking", timeout_seconds=0.5) for _ in range(20)]
            for debate in made:
                await app.hand_over(debate)
            for debate in made:
                await status(app, debate.id, "stopped")
            before = looked
            await asyncio.gather(*(worker._expire() for _ in range(50)))
            assert 1 <= looked - before <= 2

    asyncio.run(main())


def test_a_dead_worker_s_debates_are_taken_within_the_time_of_a_lease_and_two_sweeps(database_url, tmp_path):
    """The owner is on another machine, so that it can't be seen that its process has ended."""

    async def main() -> None:
        async with on(database_url, tmp_path) as app:
            debate = await new(app)
            await app.hand_over(debate)
            gone = await app.runtime.store.claim(debate.id, "another machine", 1.0, expect=("running",))
            assert gone is not None
            async with working(database_url, tmp_path, sweep=0.2):
                done = await status(app, debate.id, "completed")
                events = await app.runtime.store.events(debate.id)
                taken = next(event.created_at for event in events if event.data.get("status") == "running")
                assert gone.lease_until is not None
                assert taken >= gone.lease_until
                assert done.epoch == 2

    asyncio.run(main())


def test_at_the_default_settings_that_time_is_short(tmp_path):
    from moot.core.settings import Settings
    from moot.store.postgres import queue

    settings = Settings()
    # The lease runs out; a sweep finds the debate, if it has been quiet for as long as a sweep; its job is noticed.
    worst = settings.lease_seconds + 2 * settings.worker_sweep_seconds + queue.POLL_SECONDS
    assert worst < 30
    assert settings.lease_seconds > queue.HEARTBEAT_SECONDS  # on the same machine it is known to be dead by then


def test_the_woken_worker_deletes_the_new_owner_s_job_and_a_sweep_repairs_it(database_url, tmp_path):
    """No queue fences completion: forced here, by what PgQueuer does when a paused worker wakes up."""

    async def main() -> None:
        async with on(database_url, tmp_path) as app:
            debate = await new(app, "sim:?latency_ms=60000")
            await app.hand_over(debate)
            async with working(database_url, tmp_path, "new owner", lease_seconds=1) as (its, _):
                await until(lambda: its.runtime._drives)
                await rows(app, "delete from moot_jobs")
                # It dies: neither a job nor, soon, a lease speaks for the debate.
                await rows(app, "update debate_sessions set owner = 'gone', epoch = epoch + 1")
                await until(lambda: not its.runtime._drives)
                await rows(
                    app, "update debate_sessions set lease_until = updated_at - 60, updated_at = updated_at - 60"
                )
                assert [each.why for each in await app.workers_queue().stuck(10)] == ["neither driven nor queued"]
                async with working(database_url, tmp_path, "sweeper", sweep=0.1, worker_drain_seconds=0) as (other, _):
                    await until(lambda: other.runtime._drives or its.runtime._drives)
                    assert await app.workers_queue().stuck(10) == []
                await app.runtime.cancel(debate.id)

    asyncio.run(main())


def test_nothing_is_left_in_memory_of_debates_that_ended(database_url, tmp_path):
    async def main() -> None:
        async with working(database_url, tmp_path) as (app, worker):
            made = [await new(app, f"sim:?seed={n}", name) for n, name in enumerate(("classic", "duel", "council") * 2)]
            made.append(await new(app, format="asking"))  # this one only waits
            for debate in made:
                await app.hand_over(debate)
            for debate in made:
                await status(app, debate.id, "completed", "waiting")
            runtime = app.runtime
            await until(lambda: not worker._driving and not runtime._drives)
            assert not runtime._tasks
            assert not runtime._broken
            assert not runtime.hub._flights
            assert not runtime.hub._listeners

            def kept() -> list[object]:
                gc.collect()
                return [each for each in gc.get_objects() if isinstance(each, Drive) and each.store is runtime.store]

            await until(lambda: len(kept()) <= 1)  # the heartbeat still has a reference to the last one

    asyncio.run(main())
