"""A worker: takes debates from the queue, drives each until it rests, and sweeps for debates that were never queued."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine
from contextlib import suppress
from typing import Any

from moot.core.errors import AbilityMissing, MootError, NoSuchDebate, StoreError, WrongStatus
from moot.core.types import Debate
from moot.runtime.isolation import Isolation
from moot.runtime.outage import FIRST_WAIT, LONGEST_WAIT, Outage, until_there
from moot.runtime.runtime import Runtime
from moot.store import Changed
from moot.store.queue import Queue, Swept
from moot.telemetry import TaskContext, task_context

log = logging.getLogger("moot.worker")

SWEEPS = 3  # in the time of a lease: a debate whose lease has run out is found by the second of them at the latest
DRAIN_SECONDS = 30.0  # that steps in flight have to finish when the worker is told to end
LOOK_SECONDS = 0.5  # between two looks whether workers of this machine, known from the last sweep, are alive
RETRY_SECONDS = 2.0  # after which a debate is delivered again that this worker can't drive


class Worker:
    def __init__(
        self,
        runtime: Runtime,
        queue: Queue,
        *,
        at_once: int,
        isolation: Isolation | None = None,
    ) -> None:
        """`isolation`: what drives debates under suspicion; without it, this process does."""
        self.runtime, self.queue, self._isolation = runtime, queue, isolation
        self._at_once = at_once
        self.sweep_seconds, self.drain_seconds = runtime.lease_seconds / SWEEPS, DRAIN_SECONDS
        self.abandoned = 0  # debates neither finished nor handed back: others take them when their leases are over
        self._stop = asyncio.Event()
        self._outage = Outage(log)
        self._expiring, self._asked, self._done = asyncio.Lock(), 0, 0  # see _expire
        self._driving: set[asyncio.Task[float | None]] = set()
        self._background: set[asyncio.Task[None]] = set()

    def stop(self) -> None:
        """Take no further debate; finish the steps in flight within `drain_seconds` and hand the rest back. Called
        twice: hand everything back at once."""
        if self._stop.is_set():
            log.info("Told to end at once.")
            self._spawn(self._hand_back(0.0))
            self._spawn(self._recall(0.0))
        else:
            log.info("Told to end: steps in flight have %g seconds to finish.", self.drain_seconds)
        self._stop.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    async def open(self) -> bool:
        """Open the database, as soon as its server answers. Returns False when `stop` is called first; raises
        StoreError if waiting can't help."""
        return await until_there(self.runtime.store.open, log, self._stop)

    async def run(self) -> None:
        """Work until `stop` is called. Raises what makes the queue unusable for good."""
        self.runtime.peers.on_change.append(self._on_change)
        self.runtime.peers.listen()
        sweeping = asyncio.create_task(self._sweeps(), name="moot-sweep")
        taking = asyncio.create_task(self._take(), name="moot-take")
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((taking, stopped), return_when=asyncio.FIRST_COMPLETED)
            self._stop.set()
            await self._drain()
            await taking
        finally:
            self.runtime.peers.on_change.remove(self._on_change)
            for task in (sweeping, taking, stopped):
                task.cancel()
            await self._recall(0.0)
            await asyncio.gather(sweeping, taking, stopped, *self._background, return_exceptions=True)

    async def _take(self) -> None:
        wait = FIRST_WAIT
        while not self._stop.is_set():
            began = asyncio.get_running_loop().time()
            try:
                await self.queue.run(
                    self._advance,
                    self._expire,
                    at_once=self._at_once,
                    stop=self._stop,
                    owner=self.runtime.owner,
                )
            except StoreError as error:
                self._outage.failed("The queue broke off", error)
            if self._stop.is_set():
                return
            lasted = asyncio.get_running_loop().time() - began
            wait = FIRST_WAIT if lasted > LONGEST_WAIT else min(2 * wait, LONGEST_WAIT)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._stop.wait()

    async def _advance(self, debate_id: str) -> float | None:
        if self._stop.is_set() or len(self._driving) >= self._at_once:
            # The queue limits deliveries itself, but forgets its count when its connection is lost.
            return RETRY_SECONDS
        task = asyncio.create_task(self._drive(debate_id), name=f"moot-work-{debate_id[:8]}")
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)
        return await asyncio.shield(task)  # a lost connection of the queue does not end the drive

    async def _drive(self, debate_id: str) -> float | None:
        """Drive a debate until it rests; if it must not be driven here now, return the seconds after which it may be
        delivered again. After any error its lease runs out, and a sweep finds it."""
        short = debate_id[:8]
        try:
            if self._isolation is not None and not await self._isolation.drive(debate_id):
                return RETRY_SECONDS
            debate = await self.runtime.advance(debate_id)
            task_context.set(TaskContext(debate_id, debate.epoch))
            await self._left(await self.runtime.wait(debate_id))
        except (WrongStatus, NoSuchDebate):
            pass  # delivered twice or late: it rests, or another worker drives it
        except AbilityMissing:
            return RETRY_SECONDS
        except MootError as error:
            self.abandoned += self._stop.is_set()
            log.error("Debate %s could not be driven on: %s", short, error)
        except Exception as error:
            # Its text is not logged: it may quote anything.
            log.error("Debate %s could not be driven on: %s.", short, type(error).__name__, exc_info=error)
        return None

    async def _left(self, debate: Debate) -> None:
        """See to it that a debate that is no longer driven goes on when it should."""
        if debate.status == "waiting":
            await self._expect_answers(debate.id)
        elif (
            debate.status == "running" and debate.owner is None and await self.queue.put(debate.id, expect=("running",))
        ):
            log.info("Debate %s is handed back.", debate.short)

    async def _expect_answers(self, debate_id: str) -> None:
        due = [gate.expires_at for gate in await self.runtime.store.gates(debate_id) if gate.status == "open"]
        times = [at for at in due if at is not None]
        if times:
            await self.queue.put_later(debate_id, max(0.0, min(times) - self.runtime.now()))

    async def _expire(self) -> None:
        """Apply time-outs. One run covers all gates, so calls that come during a run share the next one."""
        self._asked += 1
        mine = self._asked
        async with self._expiring:
            if self._done >= mine:
                return
            upto = self._asked
            for debate in await self.runtime.gates.expire():
                await self.queue.answered(debate.id)
            self._done = upto

    def _on_change(self, changed: Changed) -> None:
        # An answer changes no status. A watched debate is resumed by its watcher.
        if changed.status is None and changed.debate_id not in self.runtime.hub.watched:
            self._spawn(self._queue_answered(changed.debate_id))

    async def _queue_answered(self, debate_id: str) -> None:
        with suppress(StoreError):
            await self.queue.answered(debate_id)

    async def _sweeps(self) -> None:
        while not self._stop.is_set():
            owners: Collection[str] = ()
            try:
                await self._expire()
                owners = await self.queue.workers()
                dead = self.runtime.dead_among(owners)
                owners = {*owners} - {*dead}
                swept = await self.queue.sweep(self.sweep_seconds, dead)
                self._outage.over()
                if self.runtime.observer is not None:
                    self.runtime.observer.swept(swept)
                if swept != Swept():
                    log.info(
                        "Swept: %d orphans queued, %d answered, %d stopped.",
                        swept.orphans, swept.answered, swept.stopped,
                    )  # fmt: skip
            except StoreError as error:
                self._outage.failed("The sweep failed", error)
            except Exception as error:  # the next sweep may succeed; without sweeps, lost debates stay lost
                log.error("The sweep failed: %s.", type(error).__name__, exc_info=error)
            await self._until_sweep(owners)

    async def _until_sweep(self, owners: Collection[str]) -> None:
        """Wait for the next sweep: as long as that takes, or until one of these workers is found to be dead."""
        clock = asyncio.get_running_loop().time
        due = clock() + self.sweep_seconds
        while (left := due - clock()) > 0:
            await asyncio.sleep(min(LOOK_SECONDS, left))
            if self.runtime.dead_among(owners):
                return

    async def _drain(self) -> None:
        await asyncio.gather(self._hand_back(self.drain_seconds), self._recall(self.drain_seconds))
        if self._driving:
            await asyncio.wait(self._driving)  # debates that were being claimed are handed back, too

    async def _hand_back(self, seconds: float) -> None:
        with suppress(StoreError):  # then their leases run out, and a sweep finds them
            await self.runtime.hand_back(seconds)

    async def _recall(self, seconds: float) -> None:
        if self._isolation is not None:
            await self._isolation.recall(seconds)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
