"""Token buckets, one for each client."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MAX_CLIENTS = 10_000


class Buckets:
    """Tokens of each client. `rate` of them come back each second; the most are those of so many seconds."""

    def __init__(self, rate: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._most, self._clock = rate, rate * seconds, clock
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when they were counted

    def left(self, client: str) -> float:
        left, then = self._clients.get(client, (self._most, 0.0))
        return min(self._most, left + (self._clock() - then) * self.rate)

    def keep(self, client: str, left: float) -> None:
        """Store how many tokens a client has now. The clients that were not seen for longest are forgotten."""
        self._clients[client] = left, self._clock()
        self._clients.move_to_end(client)
        if len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)
