"""Debates that may kill the process that drives them, and how the one that does is found and set aside.

A process that dies takes all its debates along, and one of them may be the reason. The store counts, for each debate,
the drivers in a row that died before a step of it was stored (`Debate.crashes`). After two such deaths a debate is
under suspicion: servers and workers have it driven in a child process until a step of it is stored, together with all
others under suspicion. If that child dies, those of which it had stored no step are parted in two, each part with a
child of its own, and so on. One that was alone in its child twice, and died with it, is set aside.

Which part a debate belongs to follows from its id and its deaths, and how often it was alone is stored: nothing is
forgotten if the parent dies along with its children, as where memory runs out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from moot.core.errors import AbilityMissing, NoSuchDebate, StoreError, WrongStatus
from moot.core.lifecycle import LIVE
from moot.core.types import Debate, Failure, Shown
from moot.runtime.outage import until_there
from moot.store import Commit, Debates
from moot.telemetry import Observer, TaskContext, task_context

if TYPE_CHECKING:
    from moot.runtime.runtime import Runtime

log = logging.getLogger("moot.worker")

SUSPECT_DEATHS = 2  # in a row; then a debate is under suspicion
LONE_DEATHS = 2  # with no other debate beside it; then it is set aside
GATHER_SECONDS = 0.1  # within which debates that come share a child, beside the time that it takes to start
AT_ONCE = 4  # children beside a server or worker; each has connections of its own
AGAIN_SECONDS = 1.0  # after which another child is tried where one has ended without claiming the debate


def crashes_of(debate: Debate, owner: str) -> int:
    """How many drivers in a row have died, as of when `owner` claims the debate."""
    return debate.crashes + _was_left(debate, owner) if debate.status in LIVE else 0


def is_guilty(debate: Debate, owner: str) -> bool:
    """Whether `owner`, who is about to claim the debate, should set it aside instead of driving it."""
    suspected = crashes_of(debate, owner) >= SUSPECT_DEATHS
    return suspected and debate.alone + _was_left(debate, owner) > LONE_DEATHS


def _was_left(debate: Debate, owner: str) -> bool:
    return debate.owner not in (None, owner)


def part_of(debate_id: str, deaths: int) -> tuple[int, int]:
    """What debates under suspicion have in common that share a child. After the first death in a child those that are
    left are parted in two, after the next in two others."""
    either = sha256(f"{debate_id}/{deaths}".encode()).digest()[0] % 2
    return deaths, either if deaths > SUSPECT_DEATHS else 0


async def set_aside(store: Debates, claimed: Debate, observer: Observer | None) -> None:
    """Fail a debate that takes processes down. It must have been claimed."""
    failure = Failure(
        kind="crashed",
        message=f"The process that drove this debate died or fell silent {claimed.crashes} times in a row before a "
        "step of it was stored, in the end with no other debate beside it. It was set aside, so that it takes no "
        "further process down. Find the cause in the log of that process, for example memory or a plug-in, then try "
        "its open steps again.",
    )
    log.error("Debate %s is set aside. %s", claimed.short, failure.message)
    why = {"status": "failed", "by": "recovery", "error": failure.message, "kind": failure.kind}
    commit = Commit(
        debate_id=claimed.id,
        epoch=claimed.epoch,
        status="failed",
        error=failure,
        events=[Shown(type="status", data=why)],
        release=True,
    )
    if await store.commit(commit) is not None and observer is not None:
        observer.rested(claimed, "failed", failure)


class Children(Protocol):
    """Processes that drive debates under suspicion."""

    async def run(self, gather: Callable[[], Sequence[str]], done: Callable[[str], None]) -> None:
        """Have `drive_suspects` run in a new child, and wait for its end. `gather` is called once when the child is
        ready, and says what to drive. `done` is called with each debate that has stored a step or rests; one that the
        child died with is not among them."""
        ...

    def recall(self) -> None:
        """Have all children hand their debates back now and end."""
        ...


class Isolation:
    """Has debates under suspicion driven by children."""

    def __init__(self, runtime: Runtime, children: Children) -> None:
        self._runtime, self._children = runtime, children
        self._driven: set[str] = set()
        self._gathering: dict[tuple[int, int], dict[str, asyncio.Event]] = {}  # by part: debates that wait for a child
        self._room = asyncio.Semaphore(AT_ONCE)
        self._running: set[asyncio.Task[None]] = set()
        self._over = False  # no more children are begun

    async def drive(self, debate_id: str) -> bool:
        """Drive a debate for as long as it is under suspicion. Returns whether the caller is to drive it on, or to set
        it aside; otherwise it may be delivered again later. Raises as `Runtime.suspicion` does."""
        if debate_id in self._driven:  # delivered twice
            return False
        self._driven.add(debate_id)
        try:
            before = 0
            while not self._over and (deaths := await self._runtime.suspicion(debate_id)):
                if deaths == before:
                    await asyncio.sleep(AGAIN_SECONDS)
                before = deaths
                await self._in_child(debate_id, deaths)
            return not self._over
        finally:
            self._driven.discard(debate_id)

    async def recall(self, seconds: float) -> None:
        """Have the children end: those that have not after so many seconds hand their debates back at once."""
        self._over = True
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        self._children.recall()
        if self._running:
            await asyncio.wait(self._running)

    async def _in_child(self, debate_id: str, deaths: int) -> None:
        part, done = part_of(debate_id, deaths), asyncio.Event()
        if part not in self._gathering:
            self._gathering[part] = {}
            task = asyncio.create_task(self._run(part), name="moot-suspects")
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        self._gathering[part][debate_id] = done
        log.warning("Debate %s is driven in a child process: %d processes died driving it.", debate_id[:8], deaths)
        await done.wait()

    async def _run(self, part: tuple[int, int]) -> None:
        debates: dict[str, asyncio.Event] = {}

        def gather() -> Sequence[str]:
            debates.update(self._gathering.pop(part))
            return list(debates)

        await asyncio.sleep(GATHER_SECONDS)
        async with self._room:
            try:
                if not self._over:
                    await self._children.run(gather, lambda debate_id: debates[debate_id].set())
            finally:
                if not debates:
                    gather()
                for done in debates.values():
                    done.set()


async def drive_suspects(
    runtime: Runtime, debates: Sequence[str], done: Callable[[str], None], recalled: Awaitable[object]
) -> None:
    """In a child: drive debates until each has stored a step or rests. They are handed back at once when `recalled` is
    over."""
    over = asyncio.Event()

    async def drive(debate_id: str) -> None:
        try:
            claimed = await runtime.advance_step(debate_id, alone=len(debates) == 1)
            task_context.set(TaskContext(debate_id, claimed.epoch))
            await runtime.wait(debate_id)
        except (WrongStatus, NoSuchDebate, AbilityMissing):
            pass  # delivered late: it rests, or another process drives it
        except StoreError as error:  # that the database was away is no death of the debate's
            log.error("Debate %s could not be driven on: %s", debate_id[:8], error)
            with suppress(StoreError, NoSuchDebate):
                await until_there(lambda: runtime.give_back(debate_id), log, over)
        except Exception as error:  # it is left to those who look for dead drivers
            # Its text is not logged: it may quote anything.
            log.error("Debate %s could not be driven on: %s.", debate_id[:8], type(error).__name__, exc_info=error)
            return
        done(debate_id)

    driving = asyncio.gather(*map(drive, debates))
    recall = asyncio.ensure_future(recalled)
    await asyncio.wait((driving, recall), return_when=asyncio.FIRST_COMPLETED)
    over.set()
    recall.cancel()
    if not driving.done():
        with suppress(StoreError):  # then their leases run out, and a sweep finds them
            await runtime.hand_back(0.0)
    await driving
