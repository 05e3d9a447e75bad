"""Debates under suspicion (`moot.runtime.suspects`) in processes of their own.

A server or worker has debates whose processes died more than once driven in other processes, a few debates in each, the
fewer the more often: what dies there takes neither it nor its other debates down. A debate that has stored a step there
is handed back, and is driven on as any other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

from moot.core.errors import AbilityMissing, MootError, NoSuchDebate, StoreError, WrongStatus
from moot.runtime.outage import until_there
from moot.runtime.runtime import Runtime
from moot.runtime.suspects import is_suspected, together_at_most
from moot.telemetry import TaskContext, task_context

log = logging.getLogger("moot.worker")

GATHER_SECONDS = 0.1  # within which others that come can share a process
AT_ONCE = 4  # processes beside a server or worker; each has connections of its own
AGAIN_SECONDS = 1.0  # after which a debate is delivered again whose process ended without a word of it

Report = Callable[[str, float | None], None]  # an id; None, or the seconds after which it may be delivered again


class Processes(Protocol):
    """Where debates under suspicion are driven."""

    async def run(self, debates: Sequence[str], report: Report) -> None:
        """Drive debates in one new process until each has stored a step or rests. What the process says of a debate is
        reported; of one that it died with, nothing is. Raises OSError if no process can be had."""
        ...

    def recall(self) -> None:
        """Have all processes hand their debates back now and end. No new one is begun after that."""
        ...


class Isolation:
    """Puts debates under suspicion into processes, at most `AT_ONCE` at a time."""

    def __init__(self, processes: Processes, crash_limit: int) -> None:
        self._processes, self._limit = processes, crash_limit
        self._outcomes: dict[str, asyncio.Future[float | None]] = {}  # of the debates that wait or are driven, by id
        self._waiting: dict[str, int] = {}  # for a process: id, and deaths of its drivers
        self._running: set[asyncio.Task[None]] = set()
        self._over = False  # no more processes are begun

    def takes(self, deaths: int) -> bool:
        """Whether a debate is to be driven in a process of its own, or of a few, after so many deaths."""
        return is_suspected(deaths, self._limit)

    def has(self, debate_id: str) -> bool:
        """Whether a debate is driven, or waits for a process."""
        return debate_id in self._outcomes

    async def drive(self, debate_id: str, deaths: int) -> float | None:
        """Drive a debate in a process of its own, as soon as there is room for one. Returns None when it was handed
        back or rests, otherwise the seconds after which it may be delivered again, as when its process died."""
        if self.has(debate_id):  # delivered twice
            return None
        log.warning("Debate %s is driven apart: %d processes died driving it.", debate_id[:8], deaths)
        loop = asyncio.get_running_loop()
        self._outcomes[debate_id], self._waiting[debate_id] = loop.create_future(), deaths
        loop.call_later(GATHER_SECONDS, self._fill)
        try:
            return await self._outcomes[debate_id]
        finally:
            del self._outcomes[debate_id]
            self._waiting.pop(debate_id, None)

    async def recall(self, seconds: float) -> None:
        """Have the processes end: those that have not after so many seconds hand their debates back at once."""
        self._over = True
        self._fill()
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        self._processes.recall()
        if self._running:
            await asyncio.wait(self._running)

    def _fill(self) -> None:
        if self._over:
            for debate_id in self._waiting:
                _settle(self._outcomes[debate_id], AGAIN_SECONDS)
            self._waiting.clear()
        while self._waiting and len(self._running) < AT_ONCE:
            deaths = next(iter(self._waiting.values()))
            alike = [each for each, its in self._waiting.items() if its == deaths]
            chosen = alike[: together_at_most(deaths, self._limit)]
            for debate_id in chosen:
                del self._waiting[debate_id]
            task = asyncio.create_task(self._run(chosen), name="moot-isolated")
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._fill()

    async def _run(self, debates: Sequence[str]) -> None:
        # One may be delivered anew before all are done.
        outcomes = {each: self._outcomes[each] for each in debates if each in self._outcomes}

        def report(debate_id: str, again: float | None) -> None:
            if debate_id in outcomes:
                _settle(outcomes[debate_id], again)

        try:
            await self._processes.run(debates, report)
        except OSError as error:
            gone = isinstance(error, ConnectionError)  # the process to fork from
            if not self._over:
                then = "They wait for another, or until this one is started again." if gone else "It is tried again."
                log.error("This process can begin no other for debates under suspicion: %s. %s", error, then)
            self._over = self._over or gone
        finally:
            for debate_id in debates:
                report(debate_id, AGAIN_SECONDS)  # if nothing was said of it, its process died, or there was none


def _settle(outcome: asyncio.Future[float | None], again: float | None) -> None:
    if not outcome.done():  # or canceled
        outcome.set_result(again)


async def drive_apart(runtime: Runtime, debates: Sequence[str], report: Report, ended: Awaitable[object]) -> None:
    """In a process of their own: drive debates until each has stored a step or rests, and report on each. They are
    handed back at once when `ended` is over."""
    over = asyncio.Event()

    async def drive(debate_id: str) -> None:
        report(debate_id, await _drive_step(runtime, debate_id, over, alone=len(debates) == 1))

    driving = [asyncio.create_task(drive(each)) for each in debates]
    watching = asyncio.ensure_future(ended)
    try:
        while left := [task for task in driving if not task.done()]:
            await asyncio.wait((*left, watching), return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                over.set()
                with suppress(StoreError):  # then their leases run out, and a sweep finds them
                    await runtime.hand_back(0.0)
                await asyncio.wait(driving)
    finally:
        watching.cancel()


async def _drive_step(runtime: Runtime, debate_id: str, over: asyncio.Event, *, alone: bool) -> float | None:
    short = debate_id[:8]
    try:
        claimed = await runtime.advance_step(debate_id, alone=alone)
        task_context.set(TaskContext(debate_id, claimed.epoch))
        await runtime.wait(debate_id)
        return None
    except (WrongStatus, NoSuchDebate):
        return None  # delivered twice or late: it rests, or another process drives it
    except AbilityMissing:
        pass
    except StoreError as error:
        log.error("Debate %s could not be driven on: %s", short, error)
        await _give_back(runtime, debate_id, over)
    except MootError as error:
        log.error("Debate %s could not be driven on: %s", short, error)
    except Exception as error:
        # Its text is not logged: it may quote anything.
        log.error("Debate %s could not be driven on: %s.", short, type(error).__name__, exc_info=error)
    return AGAIN_SECONDS


async def _give_back(runtime: Runtime, debate_id: str, over: asyncio.Event) -> None:
    """Release a debate as soon as the database answers: that it was away is no death of the debate's."""

    async def give_back() -> None:
        with suppress(NoSuchDebate):
            await runtime.give_back(debate_id)

    with suppress(StoreError):
        await until_there(give_back, log, over)
