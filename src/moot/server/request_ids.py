"""`X-Request-Id`: every response names its request, so that a client's report and the server's log can be matched."""

from __future__ import annotations

import re
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-Id"
KEY = "moot.request_id"  # in the scope
_SANE = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class RequestIds:
    """Middleware: takes the client's id over if it is short and plain, and makes one otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _SANE.fullmatch(given) else f"req_{uuid.uuid4().hex}"
        scope[KEY] = request_id

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        await self.app(scope, receive, named)
