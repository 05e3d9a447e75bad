"""Other protocols on the same server, such as MCP: each is an ASGI app that is told who calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from moot.client import Client
from moot.server.context import INVALID, Needs, ServerContext, caller_of, take_room, token_needed, until_revoked


class Endpoint(Protocol):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def close(self) -> None: ...


# Makes an endpoint from the client and an event that is set when the server shuts down.
Make = Callable[[Client, asyncio.Event], Endpoint]
Mounts = Mapping[str, Make]  # by path


class Mounted:
    """An endpoint, made at its first request. Callers need the scope `read`; a request counts as a stream of theirs as
    long as it lasts, and ends when their token is revoked."""

    def __init__(self, path: str, make: Make) -> None:
        self._path, self._make = path, make
        self._endpoint: Endpoint | None = None

    def route(self) -> BaseRoute:
        # The server sends nothing unasked, so there is no stream to GET and no session to DELETE.
        return Route(self._path, self, methods=["POST"], include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        context: ServerContext = request.app.state.context
        caller = await Needs("read")(await caller_of(request, context))
        take_room(scope, context, caller)
        if self._endpoint is None:
            self._endpoint = self._make(context.client, context.closing)
        response = _Response(send)
        working = asyncio.ensure_future(self._endpoint(scope, receive, response.send))
        revoked = asyncio.ensure_future(until_revoked(context, caller, "read")())
        try:
            await asyncio.wait({working, revoked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended = working.done()
            for task in (working, revoked):
                task.cancel()
            await asyncio.gather(working, revoked, return_exceptions=True)
        if ended:
            working.result()
        else:
            await response.break_off()

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()


class _Response:
    """What an endpoint sends, which can be broken off."""

    def __init__(self, send: Send) -> None:
        self._send, self._begun, self._more = send, False, True

    async def send(self, message: Message) -> None:
        self._begun = True
        self._more = message["type"] == "http.response.start" or message.get("more_body", False)
        await self._send(message)

    async def break_off(self) -> None:
        """End it as far as it goes. Raises Refused if nothing was sent."""
        if not self._begun:
            raise token_needed(INVALID)
        if self._more:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
