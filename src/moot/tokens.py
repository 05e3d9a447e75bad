"""API tokens, sessions and their scopes. Only hashes are stored; unsalted, since the secrets are random."""

from __future__ import annotations

import hashlib
import math
import secrets
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from moot.caller import Caller
from moot.core.errors import InputError, StoreError, UnknownName
from moot.core.types import SCOPES, Scope
from moot.store import TOUCH_SECONDS, Access, AccessToken
from moot.store.patience import waiting

PREFIX = "moot_"
COOKIE = "moot_session"
SESSION_SECONDS = 12 * 3600
MAX_NAME = 60
_FORGET_SECONDS = 300
_RANDOM_BYTES, _RANDOM_CHARS = 32, 43
_LENGTHS = (_RANDOM_CHARS, len(PREFIX) + _RANDOM_CHARS)  # of a session's secret, and of a token's


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def read_scopes(names: Iterable[str]) -> tuple[Scope, ...]:
    """The scopes with these names, each once. Raises InputError if one is unknown, or there is none."""
    given = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    for name in given:
        if name not in SCOPES:
            raise UnknownName("scope", name, SCOPES)
    if not given:
        raise InputError(f"Nothing can be done without scopes. Choose from {', '.join(SCOPES)}.")
    return tuple(scope for scope in SCOPES if scope in given)


def may_be_secret(text: str) -> bool:
    """Whether the database need be asked at all."""
    return len(text) in _LENGTHS


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def new_token(name: str, scopes: Iterable[str], expires_at: float | None = None) -> tuple[str, AccessToken]:
    """Make a token: the secret, which is shown once, and the record to store. Raises InputError."""
    name = name.strip()
    if not name.isprintable():
        raise InputError("The name of a token has a character that can't be seen. Type the name anew, without it.")
    if not name or len(name) > MAX_NAME:
        raise InputError(f"A token needs a name of 1 to {MAX_NAME} characters, for example the person or program.")
    given = read_scopes(scopes)
    secret = new_secret()
    made = AccessToken(id=str(uuid.uuid4()), name=name, hash=hashed(secret), scopes=given, expires_at=expires_at)
    return secret, made


def new_share(debate_id: str, by: str, expires_at: float | None = None) -> tuple[str, AccessToken]:
    """Make a share, which shows one debate: the secret of its link, which is shown once, and the record to store. It
    has no scopes."""
    secret = secrets.token_urlsafe(_RANDOM_BYTES)
    made = AccessToken(
        id=str(uuid.uuid4()), name=by, hash=hashed(secret), scopes=(), debate_id=debate_id, expires_at=expires_at
    )
    return secret, made


async def find_share(store: Access, secret: str) -> str | None:
    """The id of the debate that a link shows, whose use is recorded; None if the link is not valid."""
    share = await store.share(hashed(secret)) if may_be_secret(secret) else None
    if share is None:
        return None
    if (share.last_used_at or 0.0) <= time.time() - TOUCH_SECONDS:
        with suppress(StoreError), waiting(0.0):
            await store.touch_token(share)
    return share.debate_id


async def find(store: Access, secret: str) -> Caller | None:
    """The caller with this secret, whose use is recorded; None if it is not valid."""
    if not may_be_secret(secret):
        return None
    presented = hashed(secret)
    token = await store.token(presented)
    if token is None:
        return None
    if (token.last_used_at or 0.0) <= time.time() - TOUCH_SECONDS:
        with suppress(StoreError), waiting(0.0):  # a full disk, or one that is held, must not lock anyone out
            await store.touch_token(token)
    # By the hash that was presented: after a rotation, a stream must not outlive the old secret.
    return caller_of(replace(token, hash=presented))


def caller_of(token: AccessToken) -> Caller:
    return Caller(name=token.name, scopes=frozenset(scope for scope in SCOPES if scope in token.scopes), token=token)


class TokenChecks:
    """Looks tokens up for open streams: each at most once in `seconds`, however many streams it has."""

    def __init__(self, store: Access, seconds: float) -> None:
        self.seconds = seconds
        self._store = store
        self._found: dict[str, tuple[float, AccessToken | None]] = {}  # by hash, the oldest first

    async def find(self, hash: str) -> AccessToken | None:
        """The token as it was at most `seconds` ago; while the store can't be used, as it was last found. Raises
        StoreError if it never was."""
        now = time.monotonic()
        at, token = self._found.get(hash, (-math.inf, None))
        if now - at < self.seconds:
            return token
        try:
            token = await self._store.token(hash)
        except StoreError:
            if hash not in self._found:
                raise
        self._found.pop(hash, None)
        self._found[hash] = now, token
        while now - self._found[oldest := next(iter(self._found))][0] > _FORGET_SECONDS:
            del self._found[oldest]
        return token


async def open_session(store: Access, token: AccessToken, now: float) -> str:
    """Store a session with the token's scopes; return the secret for the browser's cookie."""
    secret = secrets.token_urlsafe(_RANDOM_BYTES)
    session = AccessToken(
        id=str(uuid.uuid4()),
        name=token.name,
        hash=hashed(secret),
        scopes=token.scopes,
        parent=token.parent or token.id,
        expires_at=min(now + SESSION_SECONDS, token.expires_at or math.inf),
    )
    await store.add_token(session)
    return secret
