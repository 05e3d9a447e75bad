"""MCP over HTTP, at /mcp: the same tools as `moot mcp`, for callers with a token.

The SDK takes seconds to import, which is left to the first request.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from moot.mcp.service import Caller, ToolService
from moot.server.context import Needs, ServerContext, caller_of

PATH = "/mcp"
_CALLER = "moot.caller"


class McpEndpoint:
    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._manager: Any = None
        self._ready = asyncio.Event()
        self._end = asyncio.Event()

    def routes(self) -> list[BaseRoute]:
        # The server sends nothing unasked, so there is no stream to GET and no session to DELETE.
        return [Route(PATH, self, methods=["POST"], include_in_schema=False)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        context: ServerContext = request.app.state.context
        scope[_CALLER] = await Needs("read")(await caller_of(request, context))
        if self._task is None:
            self._task = asyncio.create_task(self._run(context), name="mcp")
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

    async def _run(self, context: ServerContext) -> None:
        # A task of its own: the session manager must be closed by the task that opened it.
        tools = await asyncio.to_thread(import_module, "moot.mcp.tools")
        server = tools.make_server(ToolService(context.app, context.dispatcher, context.closing), _caller)
        server.streamable_http_app(stateless_http=True)
        self._manager = server.session_manager
        async with self._manager.run():
            self._ready.set()
            await self._end.wait()


def _caller(ctx: Any) -> Caller:
    return ctx.request_context.request.scope[_CALLER]
