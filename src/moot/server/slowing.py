"""Slowing down clients that keep sending what has to be refused.

A refusal takes time that debates need: a large body is read before it is found to be invalid. A client may be refused a
few times, as anyone is who tries something out. After that each refusal is held back, the longer the more there were;
waiting takes no processor. A stream that its client leaves right after it began counts as a refusal, and the next one
begins as late. Whatever else comes from the same address is answered at once.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from starlette.types import Receive

from moot.server.buckets import Buckets

REFUSED = frozenset({400, 401, 403, 413, 415, 421, 422, 429})
HASTY_SECONDS = 1.0  # a stream that its client leaves sooner was opened for nothing
SHARE = 1 / 400  # of the requests a second that one client may make: how many refusals are not held back
BURST_SECONDS = 20  # seconds' worth of them that an idle client may have at once
FIRST_SECONDS, MOST_SECONDS = 0.1, 2.0  # for which an answer is held back: the first time, and after ever more refusals
MOST_DOUBLED = 5  # how often that time is doubled
MOST_HELD = 64  # answers to one client that are held back at once: each keeps a connection and a body


class Slowing:
    """Counts the refusals of each client, and holds answers back."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`rate`: requests a second that one client may make."""
        self._refusals = Buckets(rate * SHARE, BURST_SECONDS, clock)
        self._held: Counter[str] = Counter()

    def is_full(self, client: str) -> bool:
        """Whether as many answers to a client are held back as may be: nothing more of it should be looked at."""
        return self._held.get(client, 0) >= MOST_HELD

    def count(self, client: str) -> None:
        """Count a refusal."""
        # Not below what the longest time stands for: a client that has stopped is soon treated like any other.
        self._refusals.keep(client, max(self._refusals.left(client) - 1, -1.0 - MOST_DOUBLED))

    def seconds(self, client: str) -> float:
        """For how long an answer to a client is held back now."""
        left = self._refusals.left(client)
        return 0.0 if left >= 0 else min(MOST_SECONDS, FIRST_SECONDS * 2 ** (-left - 1))

    async def hold(self, client: str, receive: Receive) -> None:
        """Wait as long as an answer to a client is held back, or until the client is gone."""
        seconds = self.seconds(client)
        if not seconds or self.is_full(client):
            return
        self._held[client] += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    if (await receive())["type"] != "http.disconnect":  # but a part of a body that nothing reads
                        await asyncio.sleep(seconds)
        finally:
            self._held[client] -= 1
            if not self._held[client]:
                del self._held[client]
