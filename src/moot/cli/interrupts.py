"""Ctrl-C: once lets the steps in progress finish, twice stops the debate now, three times ends the process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

from moot.cli.commands import INTERRUPTED
from moot.client import Client
from moot.core.errors import MootError
from moot.core.types import Debate


class Interrupts:
    def __init__(self, client: Client, say: Callable[[str], None]) -> None:
        self.driven: Sequence[Debate] = ()
        self.at_once = False
        self._client, self._say = client, say
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

    def drives(self, debates: Sequence[Debate]) -> None:
        """Set the debates that Ctrl-C stops. One that was pressed before stops them at once."""
        self.driven = debates
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
        for debate in self.driven:
            with suppress(MootError):  # it has just ended by itself
                await self._client.stop(debate, now=now)
