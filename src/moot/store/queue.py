"""The queue of debates for workers. It delivers at least once at best: late, twice or not at all is harmless, because
turns and leases decide what is done, and a periodic sweep queues what was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from moot.core.types import Debate, Status, record

Advance = Callable[[str], Awaitable[float | None]]


@record
class Swept:
    """How many debates a sweep repaired, by reason."""

    orphans: int = 0  # running, but neither queued nor driven
    answered: int = 0  # waiting for an answer that has been given
    stopped: int = 0  # stopping, but without a driver


@record
class Depth:
    """How many jobs are in the queue."""

    waiting: int = 0  # for a worker
    taken: int = 0  # by a worker
    later: int = 0  # not due yet
    oldest_seconds: float = field(default=0.0, compare=False)  # age of the oldest that is due


@record
class Stuck:
    """A debate that will not go on by itself."""

    debate_id: str
    status: Status
    since: float
    why: str


class Queue(Protocol):
    async def open(self) -> None:
        """Create or upgrade the queue's tables. Optional: the first other call does it, too."""
        ...

    async def put(self, debate_id: str, *, expect: Collection[Status], seen: Debate | None = None) -> Debate | None:
        """Set a debate running and enqueue it, atomically. Returns None when its status is not in `expect`, when its
        lease is valid, or when it has changed since it was `seen`."""
        ...

    async def put_later(self, debate_id: str, seconds: float) -> None:
        """Schedule a check of the debate's gates for expiry."""
        ...

    async def answered(self, debate_id: str) -> None:
        """Enqueue a waiting debate if one of its open gates has been decided."""
        ...

    async def sweep(self, quiet_seconds: float, dead: Collection[str] = ()) -> Swept:
        """Enqueue debates that lack a job. Those changed within `quiet_seconds` are left alone, unless their owner is
        one of the `dead`, whose leases don't count, and whose jobs are delivered to others."""
        ...

    async def stuck(self, seconds: float) -> Sequence[Stuck]:
        """Return debates that have had neither a driver nor a job, or have waited with no open gate, for longer than
        `seconds`; the longest first. While a worker sweeps, none should exceed two sweep intervals."""
        ...

    async def run(
        self,
        advance: Advance,
        expire: Callable[[], Awaitable[None]],
        *,
        at_once: int,
        stop: asyncio.Event,
        owner: str = "",
    ) -> None:
        """Deliver jobs until `stop` is set. `advance` drives a debate as far as it goes, or returns the seconds after
        which the job may be delivered again, to any worker; `expire` handles gates past their expiry. `owner` is the
        name by which `sweep` knows a dead worker. Debates whose drivers died come first, the more often the earlier,
        and among equals the one that was queued first. Raises StoreError when the database is gone."""
        ...

    async def depth(self) -> Depth: ...

    async def workers(self) -> Mapping[str, int]:
        """Return how many debates each worker drives."""
        ...
