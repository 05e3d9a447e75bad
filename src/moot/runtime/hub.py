"""Live: what is being said right now, to whoever listens in this process.

Durable events come through here after they are committed. Text in flight is kept until its turn is committed, so that
someone who joins late sees all of it. A listener that is slow costs one entry for each step in flight and at most
`BACKLOG` events; past that it is told to read the store."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from moot.types import Event

BACKLOG = 1000


@dataclass(kw_only=True, slots=True)
class Flight:
    """A step that is being executed."""

    key: str
    seat: str
    round: int
    phase: str
    shows: str
    said: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        if len(self.said) > 1:
            self.said[:] = ["".join(self.said)]
        return self.said[0] if self.said else ""


class Listener:
    def __init__(self) -> None:
        self.events: deque[Event] = deque()
        self.missed = False  # the backlog overflowed: read the store
        self._changed = asyncio.Event()

    def poke(self) -> None:
        self._changed.set()

    def push(self, event: Event) -> None:
        if len(self.events) >= BACKLOG:
            self.events.clear()
            self.missed = True
        self.events.append(event)
        self._changed.set()

    async def wait(self, seconds: float) -> None:
        """Until something has changed, or the time is over."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass
        self._changed.clear()


class Hub:
    def __init__(self) -> None:
        self._flights: dict[str, dict[str, Flight]] = {}
        self._listeners: dict[str, set[Listener]] = {}

    def listen(self, debate_id: str) -> Listener:
        listener = Listener()
        self._listeners.setdefault(debate_id, set()).add(listener)
        return listener

    def leave(self, debate_id: str, listener: Listener) -> None:
        listeners = self._listeners.get(debate_id, set())
        listeners.discard(listener)
        if not listeners:
            self._listeners.pop(debate_id, None)

    def flights(self, debate_id: str) -> Mapping[str, Flight]:
        """The steps in flight and what has been said in them."""
        return self._flights.get(debate_id, {})

    def begin(self, debate_id: str, flight: Flight) -> None:
        self._flights.setdefault(debate_id, {})[flight.key] = flight
        self.wake(debate_id)

    def hear(self, debate_id: str, key: str, text: str | None) -> None:
        flight = self._flights.get(debate_id, {}).get(key)
        if flight is None:
            return
        if text is None:
            flight.said.clear()
        else:
            flight.said.append(text)
        self.wake(debate_id)

    def end(self, debate_id: str, key: str) -> None:
        flights = self._flights.get(debate_id)
        if flights is not None:
            flights.pop(key, None)
            if not flights:
                del self._flights[debate_id]

    def publish(self, debate_id: str, event: Event) -> None:
        for listener in self._listeners.get(debate_id, ()):
            listener.push(event)

    def wake(self, debate_id: str) -> None:
        for listener in self._listeners.get(debate_id, ()):
            listener.poke()
