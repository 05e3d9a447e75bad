"""The queue: it only says "go on with debate X" to some worker, and may say it twice, late or never. The turns decide
what is done, so none of that does harm; a worker sweeps up what was never said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from moot.types import Debate, Status, record

Advance = Callable[[str], Awaitable[bool]]


@record
class Swept:
    """What a sweep found and put right."""

    orphans: int = 0  # meant to run, but neither queued nor driven
    answered: int = 0  # waited for a person who has answered
    stopped: int = 0  # told to stop, but whoever drove it is gone


@record
class Depth:
    waiting: int = 0  # for a worker
    taken: int = 0  # by one
    later: int = 0  # not due yet
    oldest_seconds: float = field(default=0.0, compare=False)  # that the one that waits longest has waited


@record
class Stuck:
    """A debate that will not go on by itself."""

    debate_id: str
    status: Status
    since: float
    why: str


class Queue(Protocol):
    async def open(self) -> None:
        """Bring its tables up to date. Whatever is called first does it, too."""
        ...

    async def put(self, debate_id: str, *, expect: Collection[Status], seen: Debate | None = None) -> Debate | None:
        """Set a debate running and queue it, both or neither. None when its status is not one of `expect`, when someone
        drives it, or when it is no longer what was `seen`."""
        ...

    async def put_later(self, debate_id: str, seconds: float) -> None:
        """Look at what the debate asks people when that time is over."""
        ...

    async def answered(self, debate_id: str) -> None:
        """Queue a debate that waited, if what it asked has been answered."""
        ...

    async def sweep(self, quiet_seconds: float) -> Swept:
        """Queue what nobody queued. `quiet_seconds`: what was changed just now is left alone."""
        ...

    async def stuck(self, seconds: float) -> Sequence[Stuck]:
        """Debates that nobody drives and no job speaks for, or that wait for an answer to nothing, for longer than so
        many seconds; the longest first. While a worker sweeps there should be none past the time of two sweeps."""
        ...

    async def run(
        self, advance: Advance, expire: Callable[[], Awaitable[None]], *, at_once: int, stop: asyncio.Event
    ) -> None:
        """Deliver until `stop` is set: `advance` drives a debate as far as it goes, and says False when another worker
        should; `expire` looks at questions whose time is over. Raises StoreError when the database is gone."""
        ...

    async def depth(self) -> Depth: ...

    async def workers(self) -> Mapping[str, int]:
        """Who has taken how many."""
        ...
