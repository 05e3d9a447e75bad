"""Slots: how many runs there are at once. First come, first served, whichever event loop they come from."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

Waiting = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Slots:
    """A semaphore that may be used from several event loops. asyncio's own belongs to one."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = count
        self._line: deque[Waiting] = deque()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None]:
        """Hold a slot, once there is one."""
        await self._take()
        try:
            yield
        finally:
            self._give()

    async def _take(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn: asyncio.Future[None] = loop.create_future()
            waiting = loop, turn
            self._line.append(waiting)
        try:
            await turn
        except asyncio.CancelledError:
            if not self._left(waiting):
                self._give()  # it was ours already
            raise

    def _left(self, waiting: Waiting) -> bool:
        """Leave the line; False if it was one's turn."""
        with self._lock:
            if waiting not in self._line:
                return False
            self._line.remove(waiting)
            return True

    def _give(self) -> None:
        """Give a slot to the next in line whose event loop still runs."""
        with self._lock:
            while self._line:
                loop, turn = self._line.popleft()
                try:
                    loop.call_soon_threadsafe(_hand, turn)
                    return
                except RuntimeError:  # the loop was closed
                    continue
            self._free += 1


def _hand(turn: asyncio.Future[None]) -> None:
    if not turn.done():  # who was cancelled gives it on
        turn.set_result(None)
