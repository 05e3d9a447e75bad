"""Who lets a debate go on. The routes know no more than this port: debates run in this very process; or workers run
them, and the same calls put them on a queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Literal, Protocol

from moot.app import App
from moot.errors import WrongStatus
from moot.runtime.runtime import Runtime
from moot.store.queue import Queue
from moot.types import Debate, Status

log = logging.getLogger("moot.server")

SWEEP_SECONDS = 5.0
GRACE_SECONDS = 5.0  # for steps in flight, when the server is told to end

Verb = Literal["start", "resume", "retry"]


class Runs(Protocol):
    async def go_on(self, debate_id: str, verb: Verb, *, seen: Debate | None = None) -> Debate:
        """Raises WrongStatus when the debate is in no state for it, or no longer what was `seen`."""
        ...

    async def open(self) -> None:
        """The server begins: take up what was left lying."""
        ...

    async def close(self) -> None:
        """The server ends; nothing is lost."""
        ...


class Embedded:
    """Debates run in this process, and survive its death: whoever comes next goes on with them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._sweeper: asyncio.Task[None] | None = None

    async def go_on(self, debate_id: str, verb: Verb, *, seen: Debate | None = None) -> Debate:
        verbs = {"start": self._runtime.start, "resume": self._runtime.resume, "retry": self._runtime.retry}
        return await verbs[verb](debate_id, seen=seen)

    async def open(self) -> None:
        await self._sweep()
        self._sweeper = asyncio.create_task(self._keep_sweeping(), name="moot-sweeper")

    async def close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeper
        left = await self._runtime.hand_back(GRACE_SECONDS)
        if left:
            log.info("%d debates are left to be gone on with", len(left))

    async def _keep_sweeping(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self._sweep()
            except Exception:  # whatever it was, the next one may get through
                log.exception("looking for abandoned debates failed")

    async def _sweep(self) -> None:
        """Debates whose process died go on here; questions that nobody answered in time are settled as they say."""
        taken = await self._runtime.recover()
        if taken:
            log.info("went on with %d debates whose process had ended", len(taken))
        for debate in await self._runtime.expire():
            with suppress(WrongStatus):  # someone else was faster
                await self.go_on(debate.id, "resume")


class Queued:
    """Workers run the debates; this process only serves."""

    EXPECT: Mapping[Verb, Collection[Status]] = {
        "start": ("pending",),
        "resume": ("stopped", "waiting", "running"),
        "retry": ("failed",),
    }

    def __init__(self, runtime: Runtime, queue: Queue) -> None:
        self._runtime, self._queue = runtime, queue

    async def go_on(self, debate_id: str, verb: Verb, *, seen: Debate | None = None) -> Debate:
        debate = await self._queue.put(debate_id, expect=self.EXPECT[verb], seen=seen)
        if debate is None:
            raise self._runtime.refusal(await self._runtime.store.get(debate_id), verb)
        return debate

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass


def runs_of(app: App) -> Runs:
    return Embedded(app.runtime) if app.queue is None else Queued(app.runtime, app.queue)
