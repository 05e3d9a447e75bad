"""MCP over HTTP: the same tools as `moot mcp`, mounted on a server that says who calls.

The SDK takes seconds to import, which is left to the first request.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Any

from pydantic import ValidationError
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from moot.caller import ASGI_CALLER, Caller
from moot.client import Client
from moot.mcp.service import ToolService

PATH = "/mcp"
_INVALID_REQUEST, _PARSE_ERROR = -32600, -32700  # of JSON-RPC


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
        # Received here: the SDK would take a refusal by the server for an error of its own.
        received = await receive()
        wrong = _wrong(received.get("body", b""))
        if wrong is not None:
            await wrong(scope, receive, send)
        else:
            await self._manager.handle_request(scope, _again(received, receive), send)

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


def _wrong(body: bytes) -> JSONResponse | None:
    """The answer to a body that is no message of JSON-RPC; None if it is one. The SDK would quote a validator."""
    from mcp_types import jsonrpc_message_adapter

    if body.lstrip().startswith(b"["):
        return _error(_INVALID_REQUEST, "MCP has no batches. Send each message in a request of its own.")
    try:
        jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValidationError as invalid:
        if invalid.errors()[0]["type"] == "json_invalid":
            return _error(_PARSE_ERROR, "The body is not valid JSON in UTF-8. Send one message of JSON-RPC 2.0.")
        return _error(
            _INVALID_REQUEST, 'The body is no message of JSON-RPC 2.0. It needs "jsonrpc", "method" and "id".'
        )
    return None


def _error(code: int, message: str) -> JSONResponse:
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}, 400)


def _again(message: Message, receive: Receive) -> Receive:
    """Give a message that was received, and then what comes after it."""
    received = [message]

    async def again() -> Message:
        return received.pop() if received else await receive()

    return again


def _caller(ctx: Any) -> Caller:
    return ctx.request_context.request.scope[ASGI_CALLER]
