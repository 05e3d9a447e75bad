"""Rate limits for model calls, as token buckets with reservations.

A call reserves its requests and tokens before it starts and is told how long to wait. Reservations are granted in the
order in which they are taken. The caller passes the time; nothing here reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from moot.core.settings import RateLimit
from moot.core.types import record

BURST = 0.1  # the part of a minute's limit that may be used at once; the rest is spread over the minute
MARGIN = 0.97  # of the limit: latency varies, and providers count requests when they arrive
UNLIMITED = 1e12
AFTER_REFUSAL = 1.0  # seconds to pause when a provider refuses a request without Retry-After


@record
class Rates:
    """Refill rate (per second) and capacity of a bucket, for requests and for tokens.

    No minute exceeds the limit, except by the tokens of a single call that is larger than the capacity.
    """

    requests: float
    requests_at_once: float
    tokens: float
    tokens_at_once: float

    @classmethod
    def of(cls, limit: RateLimit) -> Rates:
        requests = tokens = requests_at_once = tokens_at_once = UNLIMITED
        if limit.requests_per_minute is not None:
            requests_at_once = float(max(1, int(limit.requests_per_minute * BURST)))
            # + 1: the first request of a burst would have been due anyway.
            requests = MARGIN * (limit.requests_per_minute - requests_at_once + 1) / 60
        if limit.tokens_per_minute is not None:
            tokens_at_once = limit.tokens_per_minute * BURST
            tokens = MARGIN * (limit.tokens_per_minute - tokens_at_once) / 60
        return cls(requests=requests, requests_at_once=requests_at_once, tokens=tokens, tokens_at_once=tokens_at_once)


@record
class Reservation:
    """Permission for one request and its tokens, from a certain time on."""

    wait: float  # seconds from now
    start: float  # when the call may start, on the bucket's clock, which stops during pauses


class Pace(Protocol):
    """Rate limits by name. Implementations keep them for one process or for all processes on one database."""

    async def take(self, name: str, rates: Rates, tokens: int) -> Reservation:
        """Reserve one request with this many tokens. Wait for `wait` seconds, then check `left` before the call."""
        ...

    async def left(self, name: str, rates: Rates, reservation: Reservation) -> float:
        """Return the seconds still to wait. That can be more than before, if there was a pause meanwhile."""
        ...

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        """Return what was reserved and not used. Negative: what was used beyond the reservation."""
        ...

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        """Stop all calls for some seconds, including those that have a reservation."""
        ...


class Bucket:
    """A token bucket. `requests` and `tokens` are what is left at `at`, when the last reservation starts.

    A call that is larger than the capacity leaves them negative, and later calls wait.
    """

    __slots__ = ("at", "paused_seconds", "paused_until", "requests", "tokens")

    def __init__(self, rates: Rates, now: float) -> None:
        self.at, self.requests, self.tokens = now, rates.requests_at_once, rates.tokens_at_once
        self.paused_until = now
        self.paused_seconds = 0.0  # in total

    def take(self, rates: Rates, tokens: int, now: float) -> Reservation:
        self._refill(rates, max(self.at, self._clock(now)))
        missing_tokens = min(tokens, rates.tokens_at_once) - self.tokens
        self._refill(rates, self.at + max(0.0, (1 - self.requests) / rates.requests, missing_tokens / rates.tokens))
        self.requests -= 1
        self.tokens -= tokens
        return Reservation(wait=self.at + self.paused_seconds - now, start=self.at)

    def left(self, reservation: Reservation, now: float) -> float:
        return max(0.0, max(reservation.start + self.paused_seconds, self.paused_until) - now)

    def give_back(self, rates: Rates, requests: int, tokens: int) -> None:
        self.requests = min(rates.requests_at_once, self.requests + requests)
        self.tokens = min(rates.tokens_at_once, self.tokens + tokens)

    def pause(self, rates: Rates, seconds: float, now: float) -> None:
        """Pause and empty the bucket: the provider has counted more than this bucket did."""
        self._refill(rates, max(self.at, self._clock(now)))
        self.requests, self.tokens = min(self.requests, 0.0), min(self.tokens, 0.0)
        until = max(self.paused_until, now + seconds)
        self.paused_seconds += until - max(self.paused_until, now)
        self.paused_until = until

    def _clock(self, now: float) -> float:
        return max(now, self.paused_until) - self.paused_seconds

    def _refill(self, rates: Rates, at: float) -> None:
        self.requests = min(rates.requests_at_once, self.requests + rates.requests * (at - self.at))
        self.tokens = min(rates.tokens_at_once, self.tokens + rates.tokens * (at - self.at))
        self.at = at


class InProcessPace:
    """Keeps rate limits for this process only."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}

    async def take(self, name: str, rates: Rates, tokens: int) -> Reservation:
        return self._bucket(name, rates).take(rates, tokens, self._clock())

    async def left(self, name: str, rates: Rates, reservation: Reservation) -> float:
        return self._bucket(name, rates).left(reservation, self._clock())

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        self._bucket(name, rates).give_back(rates, requests, tokens)

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        self._bucket(name, rates).pause(rates, seconds, self._clock())

    def _bucket(self, name: str, rates: Rates) -> Bucket:
        if name not in self._buckets:
            self._buckets[name] = Bucket(rates, self._clock())
        return self._buckets[name]
