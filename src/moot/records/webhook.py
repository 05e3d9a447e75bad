"""Deliver a record to another system: one POST, retried with back-off, signed as Standard Webhooks 1.0 defines it
(standardwebhooks.com), so that its libraries can verify it."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import ipaddress
import json
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from moot.core.errors import InputError, MootError
from moot.core.types import Json, record

URL, SECRET = "MOOT_WEBHOOK_URL", "MOOT_WEBHOOK_SECRET"
MIN_SECRET_BYTES = 16
TRIES = 4
FIRST_WAIT = 0.5  # seconds; doubled each time
LONGEST_WAIT = 30.0
TIMEOUT = 10.0  # of one try
_AGAIN = frozenset({408, 425, 429})


@record
class Webhook:
    url: str
    secret: bytes

    @property
    def host(self) -> str:
        """What may be shown of the address: its path is often a secret."""
        return urlsplit(self.url).hostname or ""

    def __repr__(self) -> str:
        return f"Webhook(host={self.host!r})"


def from_environ(environ: Mapping[str, str]) -> Webhook | None:
    """The webhook that the variables describe, or None. Raises InputError if they are invalid."""
    url = environ.get(URL, "").strip()
    if not url:
        return None
    _check(url)
    secret = environ.get(SECRET, "").strip()
    if not secret:
        raise InputError(
            f"{URL} is set, but {SECRET} is not. Set it, so that receivers can verify records: openssl rand -hex 32."
        )
    return Webhook(url=url, secret=_bytes_of(secret))


def signature(hook: Webhook, delivery: str, timestamp: int, body: bytes) -> str:
    signed = f"{delivery}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(hook.secret, signed, hashlib.sha256).digest()).decode()


async def deliver(hook: Webhook, document: Json, *, first_wait: float = FIRST_WAIT, timeout: float = TIMEOUT) -> str:
    """Send a document. Returns the delivery's id, which depends on the document alone. Raises MootError on failure."""
    import httpx2

    body = json.dumps(document, default=str, separators=(",", ":")).encode()
    delivery = f"moot_{hashlib.sha256(body).hexdigest()[:32]}"
    wait, problem = first_wait, ""
    # A proxy could not reach loopback; redirects could lead anywhere.
    trust = not _is_loopback(hook.host)
    async with httpx2.AsyncClient(follow_redirects=False, timeout=timeout, trust_env=trust) as client:
        for attempt in range(1, TRIES + 1):
            asked_to_wait: float | None = None
            try:
                async with (
                    asyncio.timeout(timeout),
                    client.stream("POST", hook.url, content=body, headers=_headers(hook, delivery, body)) as answer,
                ):
                    status = answer.status_code
                    asked_to_wait = _seconds(answer.headers.get("retry-after"))
            except (httpx2.HTTPError, OSError, TimeoutError) as error:
                problem = "it did not answer in time" if _timed_out(error) else f"it can't be reached ({_kind(error)})"
            else:
                if 200 <= status < 300:
                    return delivery
                problem = f"it answered with status {status}"
                if 300 <= status < 400:
                    problem += f", a redirect, which is not followed: set {URL} to the address it leads to"
                if status < 500 and status not in _AGAIN:
                    break
            if attempt < TRIES:
                await asyncio.sleep(min(LONGEST_WAIT, max(wait, asked_to_wait or 0.0)))
                wait *= 2
    raise MootError(f"The record was not delivered to {hook.host}: {problem}.")


def _headers(hook: Webhook, delivery: str, body: bytes) -> dict[str, str]:
    timestamp = int(time.time())
    return {
        "content-type": "application/json",
        "user-agent": "moot",
        "webhook-id": delivery,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(hook, delivery, timestamp, body),
    }


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError(f"{URL} is not an address. It should look like https://example.com/hooks/moot.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"{URL} is not an address. It should look like https://example.com/hooks/moot.")
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{URL} holds a login. Leave it out: deliveries are signed with {SECRET}.")
    if parts.scheme == "http" and not _is_loopback(host):
        raise InputError(f"{URL} is http, which anyone on the way can read; use https (http only to this machine).")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bytes_of(secret: str) -> bytes:
    """Decode a secret: `whsec_…` is Base64, anything else is used as it is."""
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise InputError(f"{SECRET} begins with whsec_, but what follows is not Base64.") from None
    else:
        key = secret.encode()
    if len(key) < MIN_SECRET_BYTES:
        raise InputError(f"{SECRET} has {len(key)} bytes; use {MIN_SECRET_BYTES} or more: openssl rand -hex 32.")
    return key


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.isascii() and text.isdigit() else None


def _timed_out(error: Exception) -> bool:
    import httpx2

    return isinstance(error, TimeoutError | httpx2.TimeoutException)


def _kind(error: Exception) -> str:
    return type(error).__name__
