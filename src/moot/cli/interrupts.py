"""Ctrl-C: once lets the steps in progress finish, twice stops the debate now, three times ends the process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

from moot.cli.commands import INTERRUPTED
from moot.core.errors import MootError
from moot.runtime.runtime import Runtime


class Interrupts:
    def __init__(self, runtime: Runtime, say: Callable[[str], None]) -> None:
        self.driven: Sequence[str] = ()
        self.at_once = False
        self._runtime, self._say = runtime, say
        self._pressed = 0
        self.came = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def caught(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._press)
        loop.add_signal_handler(signal.SIGTERM, self._terminate)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            loop.remove_signal_handler(signal.SIGTERM)

    def drives(self, debate_ids: Sequence[str]) -> None:
        """Set the debates that Ctrl-C stops. One that was pressed before stops them at once."""
        self.driven = debate_ids
        if self._pressed:
            self._stop()

    def _press(self) -> None:
        self._pressed += 1
        if self._pressed == 1:
            self._say("Stopping: the step in progress finishes first. Ctrl-C again stops now.")
        elif self._pressed == 2:
            self.at_once = True
            self._say("Stopping now.")
        else:
            # Something hangs. The debate can be resumed once its process is gone.
            os._exit(INTERRUPTED)
        self._stop()

    def _terminate(self) -> None:
        if not self._pressed:
            self._pressed = 1
            self._say("Told to end: the step in progress finishes first.")
            self._stop()

    def _stop(self) -> None:
        self.came.set()
        task = asyncio.get_running_loop().create_task(self._stop_all(now=self.at_once))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _stop_all(self, *, now: bool) -> None:
        for debate_id in self.driven:
            with suppress(MootError):  # it has just ended by itself
                await self._runtime.stop(debate_id, now=now)
