"""An event loop in a thread of its own: ordinary code waits for asynchronous code, also where a loop runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    def __init__(self) -> None:
        self._loop: Future[asyncio.AbstractEventLoop] = Future()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="moot-library", daemon=True)
        self._thread.start()

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in the thread and wait for it. Ctrl-C cancels the coroutine and waits for its end."""
        ended = threading.Event()

        async def inside() -> T:
            try:
                return await work()
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(inside(), self._loop.result())
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            ended.wait()
            raise

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run a coroutine in the thread; it is canceled if the future is."""
        return asyncio.run_coroutine_threadsafe(work(), self._loop.result())

    def close(self) -> None:
        self._loop.result().call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self) -> None:
        async def until_closed() -> None:
            self._loop.set_result(asyncio.get_running_loop())
            await self._end.wait()

        asyncio.run(until_closed())
