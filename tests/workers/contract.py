"""What every queue must do: the real one, and the one that the simulation has instead. One passes when a subclass with
a `yard` passes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest

from moot.core.errors import WrongStatus
from moot.core.types import Cursor, Debate, Failure, Gate
from moot.store import Commit, Store
from moot.store.queue import Depth, Queue, Swept
from tests.store.samples import debate

ASK = "1/ask/you"


class Yard(Protocol):
    """A queue, the store beside it, and what can happen to both behind their backs."""

    store: Store
    queue: Queue

    async def jobs(self) -> list[str]:
        """The debates that are spoken for, oldest first."""
        ...

    async def priorities(self) -> list[int]:
        """Of the same jobs."""
        ...

    async def lose_jobs(self) -> None: ...

    async def silence(self) -> None:
        """Make the heartbeats of all jobs in progress look expired."""
        ...

    async def later(self, seconds: float) -> None:
        """By the clock that leases go by."""
        ...


async def made(yard: Yard, n: int = 0) -> Debate:
    return await yard.store.create(debate(n))


async def queued(yard: Yard, n: int = 0) -> Debate:
    one = await made(yard, n)
    assert await yard.queue.put(one.id, expect=["pending"]) is not None
    return one


async def asking(yard: Yard, n: int = 0) -> Debate:
    """One that waits for a person."""
    one = await made(yard, n)
    claimed = await yard.store.claim(one.id, "someone", 60, expect=["pending"])
    assert claimed is not None
    gate = Gate(debate_id=one.id, key=ASK, kind="checkpoint", question="Go on?", choices=("yes", "no"))
    commit = Commit(
        debate_id=one.id, epoch=claimed.epoch, cursor=Cursor(open=(ASK,)), status="waiting", gates=[gate], release=True
    )
    assert await yard.store.commit(commit) is not None
    return await yard.store.get(one.id)


class Delivered:
    """A worker that notes what it is given, and does what it was told with each in turn."""

    def __init__(self, *does: bool | Exception) -> None:
        self.does = list(does)
        self.given: list[str] = []
        self.expired = 0
        self.stop = asyncio.Event()

    async def advance(self, debate_id: str) -> float | None:
        self.given.append(debate_id)
        done = self.does.pop(0) if self.does else True
        if isinstance(done, Exception):
            raise done
        return None if done else 0.1

    async def expire(self) -> None:
        self.expired += 1

    async def until(self, yard: Yard, enough: Callable[[], Awaitable[bool]]) -> None:
        running = asyncio.create_task(yard.queue.run(self.advance, self.expire, at_once=10, stop=self.stop))
        try:
            async with asyncio.timeout(60):
                while not await enough():
                    assert not running.done(), running.exception()
                    await asyncio.sleep(0.01)
        finally:
            self.stop.set()
            await running


def is_done(yard: Yard) -> Callable[[], Awaitable[bool]]:
    async def none_left() -> bool:
        return not await yard.jobs()

    return none_left


async def taken_and_left(yard: Yard, owner: str = "") -> None:
    """Have a worker take the one job, and end without a word while it is at it."""
    taken, never, worker = asyncio.Event(), asyncio.Event(), Delivered()

    async def hangs(debate_id: str) -> float | None:
        taken.set()
        await never.wait()
        return None

    running = yard.queue.run(hangs, worker.expire, at_once=10, stop=asyncio.Event(), owner=owner)
    hanging = asyncio.create_task(running)
    await taken.wait()
    assert await yard.queue.depth() == Depth(taken=1)
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)


class QueueContract:
    """In a `yard` no process drives debates."""

    @pytest.fixture
    def yard(self) -> Yard:
        raise NotImplementedError

    async def test_what_is_put_runs_and_is_queued(self, yard: Yard):
        one = await made(yard)
        put = await yard.queue.put(one.id, expect=["pending"])
        assert put is not None
        assert (put.status, put.owner, put.lease_until, put.epoch) == ("running", None, None, 0)
        assert await yard.store.get(one.id) == put
        assert await yard.jobs() == [one.id]
        assert await yard.queue.depth() == Depth(waiting=1)

    async def test_twice_is_once(self, yard: Yard):
        one = await made(yard)
        await asyncio.gather(*(yard.queue.put(one.id, expect=["pending", "running"]) for _ in range(5)))
        assert await yard.jobs() == [one.id]

    @pytest.mark.parametrize("status", ["canceled", "stopped", "waiting"])
    async def test_a_status_that_was_not_expected_is_left_alone(self, yard: Yard, status):
        one = await made(yard)
        await yard.store.move(one.id, status, expect=["pending"])
        before = await yard.store.get(one.id)
        assert await yard.queue.put(one.id, expect=["pending", "running"]) is None
        assert await yard.store.get(one.id) == before
        assert await yard.jobs() == []

    async def test_what_is_no_longer_what_was_seen_is_left_alone(self, yard: Yard):
        seen = await made(yard)
        await yard.store.move(seen.id, "stopped", expect=["pending"])
        now = await yard.store.get(seen.id)
        assert await yard.queue.put(seen.id, expect=["pending", "stopped"], seen=seen) is None
        assert await yard.jobs() == []
        assert await yard.queue.put(seen.id, expect=["pending", "stopped"], seen=now) is not None

    async def test_whoever_drives_it_is_in_the_way_as_long_as_the_lease_lasts(self, yard: Yard):
        one = await made(yard)
        assert await yard.store.claim(one.id, "someone", 60, expect=["pending"])
        assert await yard.queue.put(one.id, expect=["running"]) is None
        assert await yard.jobs() == []
        assert await yard.queue.workers() == {"someone": 1}
        await yard.later(61)
        assert await yard.queue.workers() == {}
        put = await yard.queue.put(one.id, expect=["running"])
        assert put is not None
        assert (put.owner, put.epoch) == (None, 1)
        assert await yard.jobs() == [one.id]

    async def test_a_failure_is_forgotten(self, yard: Yard):
        one = await made(yard)
        claimed = await yard.store.claim(one.id, "someone", 60, expect=["pending"])
        assert claimed is not None
        error = Failure(kind="ModelError", message="It broke.")
        await yard.store.commit(
            Commit(debate_id=one.id, epoch=claimed.epoch, status="failed", error=error, release=True)
        )
        put = await yard.queue.put(one.id, expect=["failed"])
        assert put is not None
        assert put.error is None

    async def test_a_resume_is_not_taken_for_the_job_that_just_ends(self, yard: Yard):
        one = await queued(yard)
        claimed = await yard.store.claim(one.id, "someone", 60, expect=["running"])
        assert claimed is not None
        await yard.store.commit(Commit(debate_id=one.id, epoch=claimed.epoch, status="stopped", release=True))
        assert await yard.queue.put(one.id, expect=["stopped"]) is not None
        assert await yard.jobs() == [one.id, one.id]

    async def test_what_is_put_off_is_put_off_once_for_each_time(self, yard: Yard):
        one = await made(yard)
        for seconds in (1000, 1000, 4000):
            await yard.queue.put_later(one.id, seconds)
        assert await yard.queue.depth() == Depth(later=2)
        assert (await yard.store.get(one.id)).status == "pending"

    async def test_what_is_due_has_questions_looked_at(self, yard: Yard):
        one = await made(yard)
        await yard.queue.put_later(one.id, 0.0)
        worker = Delivered()
        await worker.until(yard, is_done(yard))
        assert (worker.expired, worker.given) == (1, [])

    async def test_an_answer_has_the_debate_queued_and_nothing_else_does(self, yard: Yard):
        one, other, driven = await asking(yard, 1), await asking(yard, 2), await made(yard, 3)
        assert await yard.store.claim(driven.id, "someone", 60, expect=["pending"])
        for each in (one, other, driven):
            await yard.queue.answered(each.id)
        assert await yard.jobs() == []
        assert await yard.store.decide(one.id, ASK, {"choice": "yes"}, by="ann")
        await yard.queue.answered(other.id)
        assert await yard.jobs() == []
        await yard.queue.answered(one.id)
        await yard.queue.answered(one.id)
        assert await yard.jobs() == [one.id]
        now = await yard.store.get(one.id)
        assert (now.status, now.owner) == ("running", None)
        assert (await yard.store.get(other.id)).status == "waiting"

    async def test_a_sweep_queues_what_was_lost_once_it_has_been_quiet(self, yard: Yard):
        one = await queued(yard)
        assert await yard.queue.sweep(0) == Swept()
        await yard.lose_jobs()
        assert await yard.queue.sweep(60) == Swept()
        await yard.later(61)
        assert await yard.queue.sweep(60) == Swept(orphans=1)
        assert await yard.queue.sweep(60) == Swept()
        assert await yard.jobs() == [one.id]

    async def test_a_sweep_leaves_what_is_driven_alone_until_the_lease_is_over(self, yard: Yard):
        one = await made(yard)
        assert await yard.store.claim(one.id, "someone", 60, expect=["pending"])
        await yard.later(30)
        assert await yard.queue.sweep(5) == Swept()
        await yard.later(31)
        assert await yard.queue.sweep(5) == Swept(orphans=1)
        assert await yard.jobs() == [one.id]
        assert (await yard.store.get(one.id)).epoch == 1  # the worker that gets the job claims it

    async def test_a_time_out_that_is_queued_does_not_speak_for_its_debate(self, yard: Yard):
        one = await queued(yard)
        await yard.lose_jobs()
        await yard.queue.put_later(one.id, 1000)
        await yard.later(10)
        assert await yard.queue.sweep(5) == Swept(orphans=1)

    async def test_a_sweep_finds_answers_that_nobody_heard(self, yard: Yard):
        one = await asking(yard)
        assert await yard.queue.sweep(0) == Swept()
        assert await yard.store.decide(one.id, ASK, {"choice": "yes"}, by="ann")
        assert await yard.queue.sweep(0) == Swept(answered=1)
        assert await yard.jobs() == [one.id]

    async def test_a_sweep_stops_what_was_told_to_stop_and_left(self, yard: Yard):
        one = await made(yard)
        assert await yard.store.claim(one.id, "someone", 60, expect=["pending"])
        assert await yard.store.move(one.id, "stopping", expect=["running"])
        assert await yard.queue.sweep(0) == Swept()
        await yard.later(61)
        assert await yard.queue.sweep(0) == Swept(stopped=1)
        stopped, events = await yard.store.get(one.id), await yard.store.events(one.id)
        assert (stopped.status, stopped.owner, stopped.last_seq) == ("stopped", None, len(events))
        assert events[-1].data == {"status": "stopped", "by": "recovery"}
        assert await yard.jobs() == []

    async def test_each_is_delivered_and_then_over(self, yard: Yard):
        ids = [(await queued(yard, n)).id for n in range(5)]
        worker = Delivered()
        await worker.until(yard, is_done(yard))
        assert Counter(worker.given) == dict.fromkeys(ids, 1)

    async def test_what_is_refused_is_delivered_again(self, yard: Yard):
        one = await queued(yard)
        worker = Delivered(False, False, True)
        await worker.until(yard, is_done(yard))
        assert worker.given == [one.id] * 3

    async def test_what_fails_is_over_too(self, yard: Yard):
        """What is wrong with the debate is not mended by saying it again; a sweep sees to the rest."""
        one = await queued(yard)
        worker = Delivered(WrongStatus("It is done.", debate="x", status="completed", verb="advance"))
        await worker.until(yard, is_done(yard))
        assert worker.given == [one.id]

    async def test_what_someone_took_who_fell_silent_is_delivered_again(self, yard: Yard):
        one = await queued(yard)
        await taken_and_left(yard)
        await yard.silence()
        second = Delivered()
        await second.until(yard, is_done(yard))
        assert second.given == [one.id]

    async def test_what_a_dead_worker_took_is_delivered_again_after_a_sweep(self, yard: Yard):
        one = await queued(yard)
        await taken_and_left(yard, "machine/1/2/dead")
        await yard.queue.sweep(60, ["machine/1/2/another"])
        assert await yard.queue.depth() == Depth(taken=1)
        await yard.queue.sweep(60, ["machine/1/2/dead"])
        assert await yard.queue.depth() == Depth(waiting=1)
        second = Delivered()
        await second.until(yard, is_done(yard))
        assert second.given == [one.id]

    async def test_the_more_often_their_worker_died_the_earlier_they_come(self, yard: Yard):
        made = {deaths: await queued(yard, n) for n, deaths in enumerate((0, 4, 1, 2))}
        await yard.lose_jobs()
        for deaths, one in made.items():
            for n in range(deaths):
                await yard.store.claim(one.id, f"dead {n}", 0, expect=["running"])
        await yard.queue.sweep(-60, [f"dead {n}" for n in range(4)])
        worker = Delivered()
        await worker.until(yard, is_done(yard))
        assert worker.given == [made[deaths].id for deaths in (4, 2, 1, 0)]

    async def test_what_dead_workers_took_comes_first_as_well(self, yard: Yard):
        one = await queued(yard)
        await taken_and_left(yard, "machine/1/2/dead")
        await yard.store.claim(one.id, "machine/1/2/dead", 0, expect=["running"])
        await yard.queue.sweep(60, ["machine/1/2/dead"])
        assert await yard.priorities() == [1]

    async def test_told_to_stop_nothing_more_is_delivered(self, yard: Yard):
        worker = Delivered()
        worker.stop.set()
        await queued(yard)
        await yard.queue.run(worker.advance, worker.expire, at_once=10, stop=worker.stop)
        assert worker.given in ([], [(await yard.store.get(debate(0).id)).id])
        assert len(await yard.jobs()) + len(worker.given) == 1
