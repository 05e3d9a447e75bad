"""MCP over standard input and output: one client, until it closes the input."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Collection
from typing import Any, Self

from mcp.server.stdio import stdio_server

from moot.caller import Caller, person
from moot.core.types import Scope
from moot.mcp.service import ToolService
from moot.mcp.tools import make_server


async def serve(service: ToolService, scopes: Collection[Scope]) -> None:
    """Serve until the client closes the input, or `service.closing` is set. `scopes`: what the client may do."""
    caller = Caller(name=person(), scopes=frozenset(scopes))
    server = make_server(service, lambda _: caller)
    # The SDK has no public way to serve with another input.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    lines: Any = StdinLines(service.closing)
    async with stdio_server(stdin=lines) as (reading, writing):
        await low.run(reading, writing, low.create_initialization_options())


class StdinLines:
    """Lines of standard input. Unlike the SDK's reader, it can be canceled while it waits."""

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
            self._closing.set()  # ends calls that wait for a debate
            raise StopAsyncIteration
        return found

    def _reading(self) -> None:
        # Not from sys.stdin, whose lock would keep Python from exiting.
        begun, place = b"", sys.stdin.fileno()
        try:
            while piece := os.read(place, 65_536):
                *lines, begun = (begun + piece).split(b"\n")
                for line in lines:
                    self._loop.call_soon_threadsafe(self._read.put_nowait, line.decode("utf-8", "replace"))
            self._loop.call_soon_threadsafe(self._read.put_nowait, None)
        except (RuntimeError, OSError):  # the event loop is closed
            pass
