"""Where debates run: in this process, or on workers that a queue tells about them. Routes know only the port."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Protocol

from moot.app import App
from moot.core.errors import AbilityMissing, MootError, NoSuchDebate, WrongStatus
from moot.core.lifecycle import RULES, DriveVerb
from moot.core.types import Debate
from moot.runtime.isolation import Children, Isolation
from moot.runtime.runtime import Runtime
from moot.store.queue import Queue

log = logging.getLogger("moot.server")

SWEEP_SECONDS = 5.0
GRACE_SECONDS = 5.0  # for steps in flight, when the server shuts down


class Dispatcher(Protocol):
    here: bool  # debates run in this process

    async def dispatch(self, debate_id: str, verb: DriveVerb, *, seen: Debate | None = None) -> Debate:
        """Let a debate run. Raises WrongStatus when its status forbids it, or it is no longer what was `seen`."""
        ...

    async def open(self) -> None:
        """Called when the server starts: go on with abandoned debates."""
        ...

    async def close(self, seconds: float = GRACE_SECONDS) -> None:
        """Called when the server shuts down. Steps in flight have so many `seconds`; running debates can be gone on
        with later."""
        ...


class LocalDispatcher:
    """Debates run in this process; after a crash, the next process on the same database goes on with them."""

    here = True

    def __init__(self, runtime: Runtime, *, resume: bool = True, isolation: Isolation | None = None) -> None:
        """`resume`: go on with abandoned debates. Otherwise they rest until a person resumes them. `isolation`: what
        drives debates under suspicion; without it, this process does."""
        self._runtime, self._resume, self._isolation = runtime, resume, isolation
        self._sweeper: asyncio.Task[None] | None = None
        self._suspects: set[asyncio.Task[None]] = set()

    async def dispatch(self, debate_id: str, verb: DriveVerb, *, seen: Debate | None = None) -> Debate:
        verbs = {"start": self._runtime.start, "resume": self._runtime.resume, "retry": self._runtime.retry}
        return await verbs[verb](debate_id, seen=seen)

    async def open(self) -> None:
        await self.sweep()
        self._sweeper = asyncio.create_task(self._keep_sweeping(), name="moot-sweeper")

    async def close(self, seconds: float = GRACE_SECONDS) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeper
        left, _ = await asyncio.gather(self._runtime.hand_back(seconds), self._recall(seconds))
        if left:
            log.info("%d debates were handed back, to be continued by the next server", len(left))

    async def _keep_sweeping(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self.sweep()
            except Exception:  # the next sweep may succeed
                log.exception("looking for abandoned debates failed")

    async def sweep(self) -> None:
        """Take over debates whose process died, and settle questions whose time is over."""
        suspected = None if self._isolation is None else self._isolate
        taken = await self._runtime.recover(resume=self._resume, suspected=suspected)
        if taken:
            log.info("took over %d debates whose process had ended", len(taken))
        for debate in await self._runtime.gates.expire():
            # Another process was faster, it was deleted, or its format needs what is not here.
            with suppress(WrongStatus, NoSuchDebate, AbilityMissing):
                await self.dispatch(debate.id, "resume")

    def _isolate(self, debate_id: str) -> None:
        task = asyncio.create_task(self._drive_suspect(debate_id))
        self._suspects.add(task)
        task.add_done_callback(self._suspects.discard)

    async def _drive_suspect(self, debate_id: str) -> None:
        assert self._isolation is not None
        with suppress(MootError):  # it rests, or the next sweep finds it
            if await self._isolation.drive(debate_id):
                await self._runtime.resume(debate_id)

    async def _recall(self, seconds: float) -> None:
        if self._isolation is not None:
            await self._isolation.recall(seconds)
        for task in self._suspects:
            task.cancel()


class QueueDispatcher:
    """Debates are put on a queue, and workers run them."""

    here = False

    def __init__(self, runtime: Runtime, queue: Queue) -> None:
        self._runtime, self._queue = runtime, queue

    async def dispatch(self, debate_id: str, verb: DriveVerb, *, seen: Debate | None = None) -> Debate:
        debate = await self._queue.put(debate_id, expect=RULES[verb].sources, seen=seen)
        if debate is None:
            raise self._runtime.refusal(await self._runtime.store.get(debate_id), verb)
        return debate

    async def open(self) -> None:
        pass

    async def close(self, seconds: float = GRACE_SECONDS) -> None:
        pass


def dispatcher_of(app: App, children: Children | None = None, *, resume: bool = True) -> Dispatcher:
    """`children`: what drives debates under suspicion, if no worker does."""
    if app.queue is not None:
        return QueueDispatcher(app.runtime, app.queue)
    return LocalDispatcher(app.runtime, resume=resume, isolation=app.isolation(children))
