"""Draining a worker, and what becomes of its debates."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any

import pytest

from moot.app import App
from moot.core.errors import InputError
from moot.core.settings import Settings
from moot.runtime.drive import Drive
from moot.runtime.worker import SWEEPS
from moot.store.postgres import queue
from moot.store.queue import Swept
from tests.running import Held, until
from tests.workers.crew import jobs, new, on, one_is_driven, queued, status, working

pytestmark = pytest.mark.slow


class TestDrain:
    async def test_what_takes_longer_than_the_limit_is_asked_again_elsewhere(self, app: App, database_url, tmp_path):
        held = Held(tmp_path)
        debate = await new(app, held.model, "classic")
        async with working(database_url, tmp_path, "first", drain=0.2) as (_, worker):
            await app.hand_over(debate)
            await until(lambda: held.calls)
            worker.stop()
        left = await app.runtime.store.get(debate.id)
        assert (left.status, left.owner, left.turn_count) == ("running", None, 0)
        async with working(database_url, tmp_path, "second", drain=0):
            await until(lambda: len(held.calls) == 2)
        assert len(set(held.calls)) == 1
        await app.runtime.cancel(debate.id)

    async def test_what_it_was_given_but_had_not_begun_is_another_s_at_once(self, app: App, database_url, tmp_path):
        made = [await queued(app, "sim:?latency_ms=30", max_rounds=1) for _ in range(60)]
        async with working(database_url, tmp_path, "first", worker_debates=10) as (its, worker):
            await until(lambda: its.runtime._drives)
            worker.stop()
        async with working(database_url, tmp_path, "second"):
            for debate in made:
                await status(app, debate.id, "completed")

    async def test_what_is_being_claimed_at_that_moment_is_handed_back_too(self, app: App, database_url, tmp_path):
        debate = await new(app, "sim:?latency_ms=60000")
        claiming, past_the_limit, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
        async with (
            asyncio.timeout(60),
            working(database_url, tmp_path, drain=0.1) as (its, worker),
        ):
            claim, hand_back = its.runtime.store.claim, its.runtime.hand_back

            async def slow(*args, **more):
                claimed = await claim(*args, **more)
                claiming.set()
                await go_on.wait()
                return claimed

            async def handed_back(seconds: float) -> None:
                await hand_back(seconds)
                past_the_limit.set()

            its.runtime.store.claim, its.runtime.hand_back = slow, handed_back
            await app.hand_over(debate)
            await claiming.wait()
            worker.stop()
            await past_the_limit.wait()
            go_on.set()
        left = await app.runtime.store.get(debate.id)
        assert (left.status, left.owner, left.turn_count) == ("running", None, 0)
        assert len(await jobs(app)) == 1

    async def test_whoever_stops_it_meanwhile_has_stopped_it(self, app: App, database_url, tmp_path):
        held = Held(tmp_path)
        debate = await new(app, held.model, "classic")
        async with working(database_url, tmp_path) as (_, worker):
            await app.hand_over(debate)
            await until(lambda: held.calls)
            worker.stop()
            await app.runtime.stop(debate.id)
            held.release()
        left = await app.runtime.store.get(debate.id)
        assert (left.status, left.owner, left.turn_count) == ("stopped", None, 1)
        assert await jobs(app) == []


async def test_without_the_queue_s_package_it_says_what_to_install(database_url, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pgqueuer.domain.settings", None)
    async with on(database_url, tmp_path) as app, asyncio.timeout(60):
        with pytest.raises(InputError, match=r"pip install \"moot\[postgres\]\""):
            await app.worker().run()


async def test_a_sweep_that_fails_is_not_the_last(database_url, tmp_path, caplog):
    tried = 0
    async with working(database_url, tmp_path, sweep=0.05) as (app, worker):
        sweep = worker.queue.sweep

        async def fails_at_first(*args: Any) -> Swept:
            nonlocal tried
            tried += 1
            if tried == 1:
                raise ZeroDivisionError("a bug")
            return await sweep(*args)

        worker.queue.sweep = fails_at_first
        await until(lambda: tried > 1)
        await one_is_driven(app)
    assert "The sweep failed" in caplog.text


async def test_many_questions_whose_time_is_over_at_once_are_looked_at_once_or_twice(database_url, tmp_path):
    async with working(database_url, tmp_path) as (app, worker):
        expire, looked = app.runtime.gates.expire, 0

        async def counted():
            nonlocal looked
            looked += 1
            return await expire()

        app.runtime.gates.expire = counted
        await asyncio.gather(*(worker._expire() for _ in range(50)))
        assert 1 <= looked <= 2


def test_at_the_default_settings_a_dead_worker_s_debates_are_taken_within_thirty_seconds():
    settings = Settings()
    # The lease runs out; a sweep finds the debate, if it has been quiet for as long as a sweep; its job is noticed.
    worst = settings.lease_seconds * (1 + 2 / SWEEPS) + queue.POLL_SECONDS
    assert worst < 30
    assert settings.lease_seconds > queue.HEARTBEAT_SECONDS  # on the same machine it is known to be dead by then


async def test_nothing_is_left_in_memory_of_debates_that_ended(database_url, tmp_path):
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
