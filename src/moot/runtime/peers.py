"""Other processes on the same database: receiving their changes, and relaying the text in flight here to those who
follow it. A store that pushes no notices leaves both out, and everyone polls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress

from moot.core.types import TERMINAL, Status
from moot.runtime.hub import Flight, Hub
from moot.store import Changed, Followed, Live, Notice, RemoteText, Resync

# After these, text in flight elsewhere is void: the debate rests, or a new driver sends its own from the start.
GROUNDED: frozenset[Status] = frozenset({*TERMINAL, "stopped", "failed", "waiting", "running"})


class Peers:
    def __init__(self, store: Live, driven: Collection[str], on_driven_changed: Callable[[], None]) -> None:
        """`on_driven_changed` is called when a debate that is driven here may have been changed by another process."""
        self.hub = Hub(self._relay)
        self.on_change: list[Callable[[Changed], None]] = []  # called with every change by another process
        self.pushes = False  # whether the store pushes notices; otherwise changes are found by polling
        self._store, self._driven, self._on_driven_changed = store, driven, on_driven_changed
        self._task: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Start to receive notices. Calling it again does nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="moot-peers")

    def follow(self, debate_id: str) -> None:
        """Receive every step of a debate and its text in flight, wherever it is driven."""
        self.listen()
        self._store.follow(debate_id)

    def unfollow(self, debate_id: str) -> None:
        """Undo `follow`, unless the debate still has a listener here."""
        if debate_id in self.hub.watched:
            return
        self._store.unfollow(debate_id)
        if debate_id not in self._driven:
            self.hub.drop_flights(debate_id)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _listen(self) -> None:
        try:
            async for notice in self._store.notices():
                self.pushes = True
                self._receive(notice)
        finally:
            self.pushes = False

    def _receive(self, notice: Notice) -> None:
        if isinstance(notice, RemoteText):
            # What comes when no one watches any more would be kept for ever.
            if notice.debate_id not in self._driven and notice.debate_id in self.hub.watched:
                self.hub.receive(notice)
        elif isinstance(notice, Followed):
            if notice.debate_id in self._driven:
                for flight in self.hub.flights(notice.debate_id).values():
                    self._relay(notice.debate_id, flight, 0, flight.text)
        elif isinstance(notice, Resync):
            self._on_driven_changed()
            for debate_id in list(self.hub.watched):
                self.hub.wake(debate_id)
        else:
            if notice.debate_id in self._driven:
                self._on_driven_changed()
            elif notice.status in GROUNDED:
                self.hub.drop_flights(notice.debate_id)
            self.hub.wake(notice.debate_id)
            for callback in self.on_change:
                callback(notice)

    def _relay(self, debate_id: str, flight: Flight, offset: int, text: str | None) -> None:
        self._store.publish_text(debate_id, flight.key, offset, text, flight.about)
