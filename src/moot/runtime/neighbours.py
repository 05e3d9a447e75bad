"""Other processes on the same database: what they change is heard at once, and what is in flight here is told to those
who follow it. Where the store can't tell, nothing comes, and whoever needs to know looks from time to time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress

from moot.runtime.hub import Flight, Hub
from moot.store import Changed, Missed, Notice, Said, Store, Wanted
from moot.types import TERMINAL, Status

# What was in flight is so no longer: it came to rest, or someone else drives it now, who says anew what is in flight.
GROUNDED: frozenset[Status] = frozenset({*TERMINAL, "stopped", "failed", "waiting", "running"})


class Neighbours:
    def __init__(self, store: Store, driven: Collection[str], look: Callable[[], None]) -> None:
        """`look` is called when a debate that is driven here may have been changed elsewhere."""
        self.hub = Hub(self._say)
        self.heard: list[Callable[[Changed], None]] = []  # called with what has changed elsewhere
        self.tell = False  # whether the store tells: else one has to look
        self._store, self._driven, self._look = store, driven, look
        self._task: asyncio.Task[None] | None = None

    def attend(self) -> None:
        """From now on, hear what happens elsewhere."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="moot-neighbours")

    def follow(self, debate_id: str) -> None:
        """Someone here wants to see all of a debate, wherever it is driven."""
        self.attend()
        self._store.follow(debate_id)

    def unfollow(self, debate_id: str) -> None:
        """Someone here has seen enough of it."""
        if debate_id in self.hub.attended:
            return
        self._store.unfollow(debate_id)
        if debate_id not in self._driven:
            self.hub.forget(debate_id)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _listen(self) -> None:
        try:
            async for notice in self._store.notices():
                self.tell = True
                self._hear(notice)
        finally:
            self.tell = False

    def _hear(self, notice: Notice) -> None:
        if isinstance(notice, Said):
            if notice.debate_id not in self._driven:
                self.hub.overhear(notice)
        elif isinstance(notice, Wanted):
            if notice.debate_id in self._driven:
                for flight in self.hub.flights(notice.debate_id).values():
                    self._say(notice.debate_id, flight, 0, flight.text)
        elif isinstance(notice, Missed):
            self._look()
            for debate_id in list(self.hub.attended):
                self.hub.wake(debate_id)
        else:
            if notice.debate_id in self._driven:
                self._look()
            elif notice.status in GROUNDED:
                self.hub.forget(notice.debate_id)
            self.hub.wake(notice.debate_id)
            for callback in self.heard:
                callback(notice)

    def _say(self, debate_id: str, flight: Flight, offset: int, text: str | None) -> None:
        self._store.say(debate_id, flight.key, offset, text, flight.about)
