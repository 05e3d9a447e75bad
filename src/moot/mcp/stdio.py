"""MCP over standard input and output. The process serves one client and ends with it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Any, Self

from mcp.server.stdio import stdio_server

from moot.app import person
from moot.mcp.desk import Desk, Here
from moot.mcp.tools import make_server


async def serve(desk: Desk) -> None:
    """Until the client closes our input, or `closing` is set."""
    server = make_server(desk, lambda _: Here(person()))
    # The SDK has no other way to serve on an input of our own.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    lines: Any = Lines(desk.closing)
    async with stdio_server(stdin=lines) as (reading, writing):
        await low.run(reading, writing, low.create_initialization_options())


class Lines:
    """Lines of standard input. Unlike the SDK's own reader it can be left while it waits for one."""

    def __init__(self, closing: asyncio.Event) -> None:
        self._closing, self._loop = closing, asyncio.get_running_loop()
        self._read: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._reading, name="mcp-stdin", daemon=True).start()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = asyncio.ensure_future(self._read.get())
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait({line, closing}, return_when=asyncio.FIRST_COMPLETED)
            found = line.result() if line.done() else None
        finally:
            line.cancel()
            closing.cancel()
        if found is None:
            self._closing.set()  # whoever waits for a debate need not wait any longer
            raise StopAsyncIteration
        return found

    def _reading(self) -> None:
        # Not from sys.stdin itself: Python could not end while this thread waits inside of it.
        begun, place = b"", sys.stdin.fileno()
        try:
            while piece := os.read(place, 65_536):
                *lines, begun = (begun + piece).split(b"\n")
                for line in lines:
                    self._loop.call_soon_threadsafe(self._read.put_nowait, line.decode("utf-8", "replace"))
            self._loop.call_soon_threadsafe(self._read.put_nowait, None)
        except (RuntimeError, OSError):  # nobody listens any more
            pass
