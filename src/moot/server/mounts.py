"""Other protocols on the same server, such as MCP: each is an ASGI app that is told who calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from moot.caller import ASGI_CALLER
from moot.client import Client
from moot.server.context import Needs, ServerContext, caller_of


class Endpoint(Protocol):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def close(self) -> None: ...


# Makes an endpoint from the client and an event that is set when the server shuts down.
Make = Callable[[Client, asyncio.Event], Endpoint]
Mounts = Mapping[str, Make]  # by path


class Mounted:
    """An endpoint, made at its first request. Callers need the scope `read`."""

    def __init__(self, path: str, make: Make) -> None:
        self._path, self._make = path, make
        self._endpoint: Endpoint | None = None

    def route(self) -> BaseRoute:
        # The server sends nothing unasked, so there is no stream to GET and no session to DELETE.
        return Route(self._path, self, methods=["POST"], include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        context: ServerContext = request.app.state.context
        scope[ASGI_CALLER] = await Needs("read")(await caller_of(request, context))
        if self._endpoint is None:
            self._endpoint = self._make(context.client, context.closing)
        await self._endpoint(scope, receive, send)

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()
