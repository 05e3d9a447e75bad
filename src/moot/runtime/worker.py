"""A worker: takes debates from the queue, drives each until it waits, stops or ends, and sweeps up what was lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from moot.errors import MootError, NoSuchDebate, StoreError, WrongStatus
from moot.runtime.runtime import Runtime
from moot.store import Changed
from moot.store.queue import Queue, Swept
from moot.telemetry import Where, where

log = logging.getLogger("moot.worker")

FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0  # seconds before a queue that broke off is tried again


class Worker:
    def __init__(
        self, runtime: Runtime, queue: Queue, *, at_once: int, sweep_seconds: float, drain_seconds: float
    ) -> None:
        self.runtime, self.queue = runtime, queue
        self._at_once, self._sweep_seconds, self._drain_seconds = at_once, sweep_seconds, drain_seconds
        self.abandoned = (
            0  # that could neither be finished nor handed back; others find them when their leases are over
        )
        self._stop = asyncio.Event()
        self._looking, self._asked, self._looked = asyncio.Lock(), 0, 0  # for questions whose time is over
        self._driving: set[asyncio.Task[None]] = set()
        self._beside: set[asyncio.Task[None]] = set()  # that nobody waits for before the end

    def stop(self) -> None:
        """Take nothing more; finish the steps in flight within the limit, and hand the rest back. Said twice: hand all
        of it back at once."""
        if self._stop.is_set():
            log.info("Told to end at once.")
            self._spawn(self._hand_back(0.0))
        else:
            log.info("Told to end: steps in flight have %g seconds to finish.", self._drain_seconds)
        self._stop.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    async def run(self) -> None:
        """Until it is told to stop, or nothing could ever be taken: raises what is in the way."""
        self.runtime.neighbours.heard.append(self._heard)
        self.runtime.neighbours.attend()
        sweeping = asyncio.create_task(self._sweeps(), name="moot-sweep")
        taking = asyncio.create_task(self._take(), name="moot-take")
        told = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((taking, told), return_when=asyncio.FIRST_COMPLETED)
            self._stop.set()
            await self._drain()
            await taking
        finally:
            self.runtime.neighbours.heard.remove(self._heard)
            for task in (sweeping, taking, told):
                task.cancel()
            await asyncio.gather(sweeping, taking, told, *self._beside, return_exceptions=True)

    async def _take(self) -> None:
        wait = FIRST_WAIT
        while not self._stop.is_set():
            began = asyncio.get_running_loop().time()
            try:
                await self.queue.run(self._advance, self._expire, at_once=self._at_once, stop=self._stop)
            except StoreError as error:
                log.warning("The queue broke off: %s", error)
            if self._stop.is_set():
                return
            lasted = asyncio.get_running_loop().time() - began
            wait = FIRST_WAIT if lasted > LONGEST_WAIT else min(2 * wait, LONGEST_WAIT)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._stop.wait()

    async def _advance(self, debate_id: str) -> bool:
        if self._stop.is_set() or len(self._driving) >= self._at_once:
            return False  # the queue counts what it delivered, and forgets that when its connection is lost
        task = asyncio.create_task(self._drive(debate_id), name=f"moot-work-{debate_id[:8]}")
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)
        await asyncio.shield(task)  # it is driven on when whoever delivered it is gone
        return True

    async def _drive(self, debate_id: str) -> None:
        """As far as it goes. Whatever is in the way: its lease runs out, and a sweep finds it."""
        short = debate_id[:8]
        try:
            debate = await self.runtime.advance(debate_id)
            where.set(Where(debate_id, debate.epoch))
            rested = await self.runtime.wait(debate_id)
            if rested.status == "waiting":
                await self._expect_answers(debate_id)
            elif (
                rested.status == "running"
                and self._stop.is_set()
                and await self.queue.put(debate_id, expect=("running",))
            ):
                log.info("Debate %s is handed back.", short)
        except (WrongStatus, NoSuchDebate):
            pass  # it is done, stopped, or someone else's: this was said twice, or late
        except MootError as error:
            self.abandoned += self._stop.is_set()
            log.error("Debate %s could not be driven on: %s", short, error)
        except Exception as error:
            # What it says may quote anything.
            log.error("Debate %s could not be driven on: %s.", short, type(error).__name__, exc_info=error)

    async def _expect_answers(self, debate_id: str) -> None:
        due = [gate.expires_at for gate in await self.runtime.store.gates(debate_id) if gate.status == "open"]
        times = [at for at in due if at is not None]
        if times:
            await self.queue.put_later(debate_id, max(0.0, min(times) - self.runtime.now()))

    async def _expire(self) -> None:
        """It looks at every question: of all who ask for it meanwhile, one looks again."""
        self._asked += 1
        mine = self._asked
        async with self._looking:
            if self._looked >= mine:
                return
            upto = self._asked
            for debate in await self.runtime.expire():
                await self.queue.answered(debate.id)
            self._looked = upto

    def _heard(self, changed: Changed) -> None:
        """An answer is told without a status: the debate may go on."""
        if changed.status is None and changed.debate_id not in self.runtime.hub.attended:
            self._spawn(self._answered(changed.debate_id))

    async def _answered(self, debate_id: str) -> None:
        with suppress(StoreError):
            await self.queue.answered(debate_id)

    async def _sweeps(self) -> None:
        while not self._stop.is_set():
            try:
                await self._expire()
                swept = await self.queue.sweep(self._sweep_seconds)
                if self.runtime.witness is not None:
                    self.runtime.witness.swept(swept)
                if swept != Swept():
                    log.info(
                        "Swept: %d orphans queued, %d answered, %d stopped.",
                        swept.orphans, swept.answered, swept.stopped,
                    )  # fmt: skip
            except StoreError as error:
                log.warning("The sweep failed: %s", error)
            except Exception as error:  # the next one may get through; without any, what is lost stays lost
                log.error("The sweep failed: %s.", type(error).__name__, exc_info=error)
            await asyncio.sleep(self._sweep_seconds)

    async def _drain(self) -> None:
        await self._hand_back(self._drain_seconds)
        if self._driving:
            await asyncio.wait(self._driving)  # what was being claimed just then is handed back, too

    async def _hand_back(self, seconds: float) -> None:
        with suppress(StoreError):  # then nobody can be told: the leases run out, and a sweep finds them
            await self.runtime.hand_back(seconds)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
