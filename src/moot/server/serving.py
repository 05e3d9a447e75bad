"""The server process: its socket, its signals and its shutdown."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from moot.core.errors import InputError
from moot.server.connections import Connections
from moot.server.context import ServerContext

END_SECONDS = 10  # for requests in progress at shutdown
BACKLOG = 1024  # connections that wait to be accepted
ACCEPTED_AT_ONCE = 32  # before those accepted are counted: each takes a file descriptor at once
_TICKS = 5  # of 0.1 s, between two looks at slow connections


class Server(uvicorn.Server):
    """Ends the event streams before it shuts down: uvicorn would wait for them."""

    def __init__(self, api: FastAPI, *, behind_proxy: bool = False) -> None:
        self._api = api
        config = uvicorn.Config(
            api,
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=ACCEPTED_AT_ONCE,
            proxy_headers=behind_proxy,
            timeout_graceful_shutdown=END_SECONDS,
            lifespan="on",
        )
        proxies = ProxyHeadersMiddleware(cast(Any, api), config.forwarded_allow_ips).trusted_hosts
        self.connections = Connections(api.state.limits, lambda peer: behind_proxy and peer in proxies)
        config.http = cast("type[asyncio.Protocol]", self.connections.protocol)
        super().__init__(config)

    async def run_on(self, bound: socket.socket) -> None:
        """Serve until a signal, or until `should_exit` is set."""
        await self.serve(sockets=[bound])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)  # asyncio has made it as short as what it accepts at once

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS == 0:
            self.connections.look(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Like uvicorn's, but the signal is not raised again after a clean shutdown."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        context: ServerContext | None = getattr(self._api.state, "context", None)
        if context is not None:
            context.closing.set()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """Bind a listening socket. Raises InputError when the address can't be used."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise InputError(f"There is no address {host!r} on this machine. Use 127.0.0.1, or one of its own.") from None
    # IPv4 first, where a name has both: `address_of` prints 127.0.0.1 for it.
    family, _, _, _, place = min(found, key=lambda each: each[0] != socket.AF_INET)
    # asyncio sets TCP_NODELAY only on sockets with an explicit protocol; without it each response waits 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere the option would let two servers share a port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise InputError(_why(host, port, error)) from None
    bound.setblocking(False)
    return bound


def address_of(bound: socket.socket, host: str) -> str:
    """The URL for a browser on this machine."""
    port = bound.getsockname()[1]
    name = "127.0.0.1" if host in ("0.0.0.0", "::", "localhost") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken: moot may be running already, or another program is. "
            "Choose another with --port, or --port 0 for any that is free."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used by you. Choose one above 1024 with --port."
    return f"Can't listen on {host}, port {port} ({error.strerror}). Choose another with --host and --port."
