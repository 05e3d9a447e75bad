"""Connections: how many there may be, and how long each may take to send a request and to take its answer.

A client that connects and sends nothing, or half a request, costs a file descriptor, and so does one that does not read
what it is answered. When there is no room left, the connection that has waited longest for its client is closed, never
one whose request is being answered; so half-sent requests don't keep whole ones out, not even those of the same client.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from moot.server.limits import Limits
from moot.server.problems import Refused, response

HEADER_SECONDS = 10.0  # that a client has to send the headers of a request
BODY_SECONDS = 60.0  # that it has to send the body, or a further part of an upload
LEAST_TAKEN = 30_000  # bytes that a client which is behind with an answer takes within the seconds below, or all of it
BEHIND_SECONDS = 5.0  # after these its connection may be closed where there is no room for another
DEAF_SECONDS = 60.0  # after these it is closed in any case

# The part of a request that a connection waits for.
Phase = Literal["headers", "body"]
_PHASES: dict[Any, Phase] = {h11.IDLE: "headers", h11.SEND_BODY: "body"}


class Connections:
    """The open connections of a server."""

    def __init__(self, limits: Limits, is_proxy: Callable[[str], bool] = lambda peer: False) -> None:
        """`is_proxy` says of an address that it is a proxy's, whose connections carry the requests of many clients."""
        self.limits, self._is_proxy = limits, is_proxy
        self._open: set[Connection] = set()
        self._clients: dict[str, dict[Connection, None]] = {}  # the connections of each, the oldest first
        # Those that wait for their client, to send a request or to read its answer. Longest waiting first.
        self._waiting: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def protocol(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> Connection:
        """Make the protocol of a new connection: a factory for uvicorn."""
        return Connection(self, config, server_state, app_state, _loop)

    def opened(self, connection: Connection) -> Refused | None:
        """Count a new connection. Where there is no room, another is closed for it; returns why it can't be kept if
        every other one is being answered."""
        peer = connection.client[0] if connection.client else ""
        self._open.add(connection)
        self.waits(connection)
        if peer and not self._is_proxy(peer):
            own = self._clients.setdefault(peer, {})
            own[connection] = None
            if len(own) > self.limits.client_connections and not self._close_one(own, but=connection):
                most = self.limits.client_connections
                return Refused("too-many-connections", f"You have {most:,} connections open, which is the most.")
        if len(self._open) > self.limits.connections and not self._close_one(self._waiting, but=connection):
            return Refused("too-many-connections", "The server has as many connections as it can. Try again later.")
        return None

    def closed(self, connection: Connection) -> None:
        self._open.discard(connection)
        self._waiting.pop(connection, None)
        peer = connection.client[0] if connection.client else ""
        own = self._clients.get(peer)
        if own is not None:
            own.pop(connection, None)
            if not own:
                del self._clients[peer]

    def waits(self, connection: Connection) -> None:
        """The connection waits for a request or for the rest of one, or its client does not take the answer."""
        if connection in self._open:
            self._waiting[connection] = None

    def answers(self, connection: Connection) -> None:
        """The connection has a request, which is being answered."""
        self._waiting.pop(connection, None)

    def look(self, now: float) -> None:
        """Close connections that took too long. Called about twice a second."""
        for connection in list(self._open):
            connection.look(now)

    def _close_one(self, among: dict[Connection, None], *, but: Connection) -> bool:
        found = next((each for each in among if each in self._waiting and each is not but), None)
        if found is not None:
            self.closed(found)
            found.transport.abort()
        return found is not None


class Connection(H11Protocol):
    """uvicorn's protocol, with time-outs for the parts of a request."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._all = connections
        self._phase: Phase | None = "headers"
        self._since = 0.0  # when the phase began
        # Since when its client, which is behind, has taken less than `LEAST_TAKEN`, and what there was to take then.
        self._behind: tuple[float, int] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        refused = self._all.opened(self)
        if refused is not None:
            self._refuse(refused)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._follow()
        if self._uploads:
            self._since = self.loop.time()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._behind = None  # the client has caught up

    def _should_upgrade(self) -> bool:
        """No WebSockets here: where a library for them is installed, uvicorn would hand the connection over to
        it, and it would be counted for ever."""
        return False

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; where the answer to its beginning is under way, only close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._follow()
        if self._phase == "headers" and self.timeout_keep_alive_task is not None:
            self._phase = None  # uvicorn closes the connection when no further request begins

    @property
    def _uploads(self) -> bool:
        """Whether the body of the request may take as long as it comes in at all: the route has said so."""
        return self._phase == "body" and "uploads" in self.scope.get("state", ())

    def look(self, now: float) -> None:
        """Close this connection if its client is too slow."""
        if self._uploads and self.flow.read_paused:  # it waits for us
            self._since = now
        deaf = self._deaf_seconds(now)
        if deaf >= DEAF_SECONDS:
            self.transport.abort()
        elif deaf >= BEHIND_SECONDS:
            self._all.waits(self)
        elif self._request is not None and self._phase is None:
            self._all.answers(self)
        if self.transport.is_closing():
            return
        if self._phase == "headers" and now - self._since >= HEADER_SECONDS:
            self._refuse(_too_slow("headers", HEADER_SECONDS))
        elif self._phase == "body" and now - self._since >= BODY_SECONDS:
            self._refuse(_too_slow("body", BODY_SECONDS))

    def _deaf_seconds(self, now: float) -> float:
        """For how long the client has taken next to nothing of what was written for it; 0 if it is not behind."""
        if not (self.flow.write_paused or self.transport.is_closing()):
            self._behind = None
            return 0.0
        left = self.transport.get_write_buffer_size() + _queued(self.transport)
        since, before = self._behind or (now, left)
        if before - left >= LEAST_TAKEN:
            since, before = now, left
        self._behind = since, before
        return now - since

    @property
    def _request(self) -> RequestResponseCycle | None:
        """The request in progress."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return None if cycle is None or cycle.response_complete else cycle

    def _follow(self) -> None:
        """Note what the client is expected to send now."""
        phase = _PHASES.get(cast(Any, self.conn.their_state))
        if phase != self._phase:
            self._phase, self._since = phase, self.loop.time()
        if phase is None and self._request is not None:
            self._all.answers(self)
        else:
            self._all.waits(self)

    def _refuse(self, refused: Refused) -> None:
        """Answer, unless an answer has begun, and close the connection."""
        request = self._request
        if request is None or not request.response_started:
            self.transport.write(_bytes(refused))
        if request is not None:
            request.disconnected = True  # or the application would answer, too
            request.message_event.set()
        self.transport.close()


def _queued(transport: asyncio.Transport) -> int:
    """Bytes that the system has yet to deliver to a client; 0 where it can't be asked. Without them a slow client would
    seem to take nothing for long: the system asks for more only when a good part of its own has arrived."""
    if sys.platform != "linux":
        return 0
    import fcntl
    import termios

    try:
        found = fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
    except OSError:  # it was closed just now
        return 0
    return int.from_bytes(found, sys.byteorder)


def _too_slow(part: str, seconds: float) -> Refused:
    return Refused("too-slow", f"The {part} of the request did not arrive within {seconds:g} seconds. Send it again.")


def _bytes(refused: Refused) -> bytes:
    """A whole HTTP response, for a connection without a request."""
    return _written(refused.kind.slug, refused.detail)


@lru_cache(maxsize=16)  # a crowd of connections is refused in the same words
def _written(slug: str, detail: str) -> bytes:
    refused = Refused(slug, detail)
    made = response(refused, "")
    lines = [f"HTTP/1.1 {made.status_code} {refused.kind.title}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in made.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + bytes(made.body)
