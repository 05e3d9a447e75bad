"""Checks before any route sees a request, and security headers on every response.

On loopback without tokens, the danger is the local user's browser: a page of another site must not reach moot through
it. So unknown names in `Host` are refused (DNS rebinding), and so are changes asked for by another site (CSRF), except
by one that the operator lists (`origins.py`): its requests are treated as if they had no cookie.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moot.server.buckets import Buckets
from moot.server.json_size import MOST_VALUES, has_too_many_values
from moot.server.origins import Origins
from moot.server.problems import NOT_UTF8, Refused, response, unexpected
from moot.server.request_ids import KEY
from moot.server.slowing import HASTY_SECONDS, REFUSED, Slowing
from moot.store.patience import REQUEST_SECONDS, Patience, patience

log = logging.getLogger("moot.server")

MAX_BODY = 1_000_000
LOGIN_PATH = "/v1/session"
SHARED = "/shared/"  # before the secret of a link, which no log may have
IMPORT_PATH = "/v1/import"  # its body is measured as it is read
JSON_LINES, PACKED, OCTETS = "application/jsonl", "application/gzip", "application/octet-stream"
MAX_LOGIN = 4_000  # of what anyone may send without a token
EVENTS = "text/event-stream"
ENDING = "moot.ending"  # under which a request's scope has an exit stack that is closed when the request has ended
BURST_SECONDS = 10  # seconds' worth of requests that an idle client may make at once
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITE = ("same-origin", "none")  # of Sec-Fetch-Site
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    if host in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Names:
    """The values of `Host` that this server answers to."""

    def __init__(self, bound: str, others: Iterable[str] = ()) -> None:
        self._names = {bound.lower(), *(name.lower() for name in others), *LOCAL_NAMES}
        self._any_address = not is_loopback(bound)  # an address can't be rebound, a name can
        if self._any_address:
            self._names.add(socket.gethostname().lower())

    def know(self, header: str) -> bool:
        name = host_of(header)
        return name in self._names or (self._any_address and _is_address(name))


def host_of(header: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class ClientRates:
    """Lets each client make `rate` requests a second, with bursts of `BURST_SECONDS`."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets = Buckets(rate, BURST_SECONDS, clock)

    def wait(self, client: str) -> float:
        """Count a request; return the seconds to wait before trying again, or 0 when it is allowed."""
        left = self._buckets.left(client)
        allowed = left >= 1
        self._buckets.keep(client, left - 1 if allowed else left)
        return 0.0 if allowed else (1 - left) / self._buckets.rate


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        *,
        names: Names,
        rates: ClientRates,
        slowing: Slowing,
        at_once: int,
        admit: Callable[[Scope], Awaitable[None]],
        origins: Origins | None = None,
        max_body: int = MAX_BODY,
        max_import: int = MAX_BODY,
    ) -> None:
        """`at_once`: requests in progress that one client may have. `admit` is called before a body is received, and
        raises Refused for a caller from whom none is taken."""
        self.max_import, self.slowing, self.admit = max_import, slowing, admit
        self.app, self.names, self.rates, self.at_once, self.max_body = app, names, rates, at_once, max_body
        self.origins = origins or Origins()
        self._in_progress: Counter[str] = Counter()  # by client; behind a proxy, the one that it names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        patience.set(Patience(REQUEST_SECONDS))
        begun, client = False, _client(scope)
        streams_since: float | None = None

        async def guarded(message: Message) -> None:
            nonlocal begun, streams_since
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                refused = message["status"] in REFUSED
                if refused:
                    self.slowing.count(client)
                streams = headers.get("content-type", "").startswith(EVENTS)
                if refused or streams:
                    await self.slowing.hold(client, receive)
                streams_since = time.monotonic() if streams else None
            elif not message.get("more_body"):
                streams_since = None  # it has ended
            await send(message)

        try:
            self._check(scope)
            with self._counted(client), ExitStack() as scope[ENDING]:
                await self.app(scope, self._admitted(scope, receive), guarded)
        except Refused as refused:
            await response(refused, scope["path"])(scope, receive, guarded)
        except Exception:
            path = f"{SHARED}…" if scope["path"].startswith(SHARED) else scope["path"]
            log.exception("unexpected error at %s %s (%s)", scope["method"], path, scope.get(KEY, "no id"))
            if begun:
                raise
            await response(unexpected(), scope["path"])(scope, receive, guarded)
        finally:
            if streams_since is not None and time.monotonic() - streams_since < HASTY_SECONDS:
                self.slowing.count(client)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self.names.know(host):
            raise Refused(
                "misdirected",
                f"This server is not known as {host[:200]!r}. Use its own address, or list the name in serve_hosts.",
            )
        wait = self.rates.wait(_client(scope))
        if wait:
            raise Refused(
                "too-many-requests",
                f"Too many requests. Try again in {wait:.2f} seconds; serve_rate sets how many are allowed.",
                headers={"Retry-After": str(max(1, round(wait)))},
            )
        if self.origins.allow(headers.get("origin")) and _from_elsewhere(headers, host):
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
        else:
            self._check_origin(scope, headers, host)
        if scope["method"] not in SAFE:
            self._check_body(scope, headers)

    @contextmanager
    def _counted(self, client: str) -> Generator[None]:
        """Count a request in progress. Raises Refused when the client has too many."""
        if self._in_progress[client] >= self.at_once:
            raise Refused("too-many-connections", f"You have {self.at_once:,} requests in progress, which is the most.")
        if self.slowing.is_full(client):
            raise Refused(
                "too-many-requests",
                "Too many requests of yours were refused just now. Wait a few seconds, and mend what they ask for.",
                headers={"Retry-After": "5"},
            )
        self._in_progress[client] += 1
        try:
            yield
        finally:
            self._in_progress[client] -= 1
            if not self._in_progress[client]:
                del self._in_progress[client]

    def _check_origin(self, scope: Scope, headers: Headers, host: str) -> None:
        """Refuse changes and streams that a page of another site asks for. Links to moot are allowed."""
        if scope["method"] in SAFE:
            link = not scope["path"].startswith("/v1/") or headers.get("sec-fetch-mode") == "navigate"
            foreign = not link and headers.get("sec-fetch-site", "none") not in OWN_SITE
        else:
            foreign = _from_elsewhere(headers, host)
        if foreign:
            raise Refused("cross-origin", "Another site's page can't use moot, unless serve_origins lists that site.")

    def _most(self, scope: Scope) -> int:
        if scope["path"] == IMPORT_PATH:
            return self.max_import
        return min(self.max_body, MAX_LOGIN) if scope["path"] == LOGIN_PATH else self.max_body

    def _check_body(self, scope: Scope, headers: Headers) -> None:
        length, most = headers.get("content-length", "0"), self._most(scope)
        if length.isdigit() and int(length) > most:
            raise Refused("too-large", _too_large(most))
        has_body = length != "0" or "transfer-encoding" in headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        lines = scope["path"] == IMPORT_PATH and kind in (JSON_LINES, PACKED, OCTETS)
        if has_body and not lines and not _is_json(kind):
            raise Refused("unsupported-media-type", "Send the body as JSON, with `Content-Type: application/json`.")

    def _admitted(self, scope: Scope, receive: Receive) -> Receive:
        """Hand a body on as one message, if its caller is admitted, it is not too large, whatever its Content-Length
        says, and has not too many values. Raises Refused. The body of an import is handed on as it comes, to a route
        that asks for the caller first."""
        if scope["method"] in SAFE or scope["path"] == IMPORT_PATH:
            return receive
        asked = False

        async def admitted() -> Message:
            nonlocal asked
            if asked:
                return await receive()
            asked = True
            await self.admit(scope)
            return await self._whole(receive, self._most(scope))

        return admitted

    async def _whole(self, receive: Receive, most: int) -> Message:
        parts: list[bytes] = []
        read, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return message
            parts.append(message.get("body", b""))
            read, more = read + len(parts[-1]), message.get("more_body", False)
            if read > most:
                raise Refused("too-large", _too_large(most))
        body = b"".join(parts)
        if b"\0" in body:
            raise Refused("bad-request", NOT_UTF8)
        if has_too_many_values(body):
            raise Refused("too-large", f"The body has more than {MOST_VALUES:,} values, which is the most. Send fewer.")
        return {"type": "http.request", "body": body, "more_body": False}


def _from_elsewhere(headers: Headers, host: str) -> bool:
    """Whether a page of another site has made the request."""
    origin = headers.get("origin")
    other = origin is not None and origin.partition("://")[2].lower() != host.lower()
    return other or headers.get("sec-fetch-site", "none") not in OWN_SITE


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _too_large(most: int) -> str:
    return f"The body has more than {most:,} bytes, which is the most."


def _is_json(kind: str) -> bool:
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
