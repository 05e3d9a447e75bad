"""How fast models may be called. Everyone who keeps a limit together takes shares of one bucket, each with the time at
which it may be used, in the order in which they come. No clock here: whoever asks says what time it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from moot.settings import RateLimit
from moot.types import record

BURST = 0.1  # of a minute's worth that may be used at once; what is left is spread over the minute
MARGIN = 0.97  # requests travel for different times, and whoever limits them counts those that arrive
UNLIMITED = 1e12
AFTER_REFUSAL = 1.0  # seconds that everyone waits when a provider refuses a request and does not say for how long


@record
class Rates:
    """Of requests and tokens: how many a second, and how many at once. In no minute is that more than the limit, but
    for tokens by which a single call exceeds what may be used at once."""

    requests: float
    requests_at_once: float
    tokens: float
    tokens_at_once: float

    @classmethod
    def of(cls, limit: RateLimit) -> Rates:
        requests = tokens = requests_at_once = tokens_at_once = UNLIMITED
        if limit.requests_per_minute is not None:
            requests_at_once = float(max(1, int(limit.requests_per_minute * BURST)))
            # The one that a burst begins with would have been due anyway.
            requests = MARGIN * (limit.requests_per_minute - requests_at_once + 1) / 60
        if limit.tokens_per_minute is not None:
            tokens_at_once = limit.tokens_per_minute * BURST
            tokens = MARGIN * (limit.tokens_per_minute - tokens_at_once) / 60
        return cls(requests=requests, requests_at_once=requests_at_once, tokens=tokens, tokens_at_once=tokens_at_once)


@record
class Share:
    """One request and its tokens."""

    wait: float  # seconds from now on
    start: float  # when it may be used, on a clock that stands still while everyone waits


class Pace(Protocol):
    """Buckets by name, shared by all who use it."""

    async def take(self, name: str, rates: Rates, tokens: int) -> Share:
        """One request and so many tokens, to be used when the wait is over and nothing is `left` of it."""
        ...

    async def left(self, name: str, rates: Rates, share: Share) -> float:
        """Seconds to wait from now on; meanwhile everyone may have been told to wait longer."""
        ...

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        """What was taken and not used; below 0: what was used beyond it."""
        ...

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        """Everyone waits, those in line too."""
        ...


class Bucket:
    """What there is left when the last share taken begins to be used, at `at`. A call that is larger than what may be
    used at once leaves it below 0: those after it wait."""

    __slots__ = ("at", "paused_until", "requests", "stood_still", "tokens")

    def __init__(self, rates: Rates, now: float) -> None:
        self.at, self.requests, self.tokens = now, rates.requests_at_once, rates.tokens_at_once
        self.paused_until = now
        self.stood_still = 0.0  # seconds, in all

    def take(self, rates: Rates, tokens: int, now: float) -> Share:
        self._go_on(rates, max(self.at, self._clock(now)))
        missing_tokens = min(tokens, rates.tokens_at_once) - self.tokens
        self._go_on(rates, self.at + max(0.0, (1 - self.requests) / rates.requests, missing_tokens / rates.tokens))
        self.requests -= 1
        self.tokens -= tokens
        return Share(wait=self.at + self.stood_still - now, start=self.at)

    def left(self, share: Share, now: float) -> float:
        return max(0.0, max(share.start + self.stood_still, self.paused_until) - now)

    def give_back(self, rates: Rates, requests: int, tokens: int) -> None:
        self.requests = min(rates.requests_at_once, self.requests + requests)
        self.tokens = min(rates.tokens_at_once, self.tokens + tokens)

    def pause(self, rates: Rates, seconds: float, now: float) -> None:
        """Whoever says so has counted otherwise: nothing is left to be used at once."""
        self._go_on(rates, max(self.at, self._clock(now)))
        self.requests, self.tokens = min(self.requests, 0.0), min(self.tokens, 0.0)
        until = max(self.paused_until, now + seconds)
        self.stood_still += until - max(self.paused_until, now)
        self.paused_until = until

    def _clock(self, now: float) -> float:
        return max(now, self.paused_until) - self.stood_still

    def _go_on(self, rates: Rates, at: float) -> None:
        self.requests = min(rates.requests_at_once, self.requests + rates.requests * (at - self.at))
        self.tokens = min(rates.tokens_at_once, self.tokens + rates.tokens * (at - self.at))
        self.at = at


class OwnPace:
    """For this process alone."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}

    async def take(self, name: str, rates: Rates, tokens: int) -> Share:
        return self._bucket(name, rates).take(rates, tokens, self._clock())

    async def left(self, name: str, rates: Rates, share: Share) -> float:
        return self._bucket(name, rates).left(share, self._clock())

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        self._bucket(name, rates).give_back(rates, requests, tokens)

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        self._bucket(name, rates).pause(rates, seconds, self._clock())

    def _bucket(self, name: str, rates: Rates) -> Bucket:
        if name not in self._buckets:
            self._buckets[name] = Bucket(rates, self._clock())
        return self._buckets[name]
