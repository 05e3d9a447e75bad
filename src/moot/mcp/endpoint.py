"""MCP over HTTP: the same tools as `moot mcp`, mounted on a server that says who calls.

The SDK takes seconds to import, which is left to the first request.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Any

from starlette.types import Receive, Scope, Send

from moot.caller import ASGI_CALLER, Caller
from moot.client import Client
from moot.mcp.service import ToolService

PATH = "/mcp"


class McpEndpoint:
    """An ASGI app. The scope of each request has the caller under `ASGI_CALLER`."""

    def __init__(self, client: Client, closing: asyncio.Event) -> None:
        self._client, self._closing = client, closing
        self._task: asyncio.Task[None] | None = None
        self._manager: Any = None
        self._ready = asyncio.Event()
        self._end = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="mcp")
        ready = asyncio.ensure_future(self._ready.wait())
        await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._task.done():
            await self._task
        await self._manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        self._end.set()
        if self._task is not None:
            with suppress(Exception):
                await self._task

    async def _run(self) -> None:
        # A task of its own: the session manager must be closed by the task that opened it.
        tools = await asyncio.to_thread(import_module, "moot.mcp.tools")
        server = tools.make_server(ToolService(self._client, self._closing), _caller)
        server.streamable_http_app(stateless_http=True)
        self._manager = server.session_manager
        async with self._manager.run():
            self._ready.set()
            await self._end.wait()


def _caller(ctx: Any) -> Caller:
    return ctx.request_context.request.scope[ASGI_CALLER]
