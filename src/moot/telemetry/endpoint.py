"""A minimal HTTP server for a worker's metrics and liveness."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from moot.core.errors import InputError, MootError
from moot.telemetry.exposition import MEDIA_TYPE

REQUEST_SECONDS = 10.0  # for one request
MOST_BYTES = 16_384  # of a request

Render = Callable[[], Awaitable[str]]


@asynccontextmanager
async def serve_metrics(render: Render, host: str, port: int) -> AsyncGenerator[str]:
    """Serve `/metrics` and `/healthz`; yields the address. Raises InputError if the port can't be bound."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            try:
                async with asyncio.timeout(REQUEST_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(await _answer(head, render))
                    await writer.drain()
            finally:
                writer.close()

    try:
        server = await asyncio.start_server(answer, host, port, limit=MOST_BYTES)
    except OSError as error:
        raise InputError(_why(host, port, error)) from None
    bound = server.sockets[0].getsockname()
    try:
        yield f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}/metrics"
    finally:
        server.close()
        await server.wait_closed()


async def _answer(head: bytes, render: Render) -> bytes:
    method, path = (*head.split(b" ", 2), b"", b"")[:2]
    if method not in (b"GET", b"HEAD"):
        return _response("405 Method Not Allowed", "Only GET.\n", method)
    match path.partition(b"?")[0]:
        case b"/metrics":
            try:
                return _response("200 OK", await render(), method, MEDIA_TYPE)
            except MootError as error:
                return _response("503 Service Unavailable", f"{error}\n", method)
        case b"/healthz":
            return _response("200 OK", "ok\n", method)
        case _:
            return _response("404 Not Found", "There are /metrics and /healthz.\n", method)


def _response(status: str, text: str, method: bytes, media_type: str = "text/plain; charset=utf-8") -> bytes:
    body = text.encode()
    lines = (f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(body)}", "Connection: close")
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == b"HEAD" else body)


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken. Choose another with --metrics-port, or 0 for any that is free."
    advice = "Choose another port with --metrics-port, or another address with metrics_host."
    return f"Metrics can't be shown on {host}, port {port} ({error.strerror}). {advice}"
