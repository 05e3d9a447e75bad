"""Live: what is being said right now, to whoever listens in this process.

Durable events come through here after they are committed. Text in flight is kept until its turn is committed, and from
then until its event is shown, so that someone who joins late sees all of it. A listener that is slow costs one entry
for each step in flight and at most `BACKLOG` events; past that it is told to read the store."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from moot.store import Said
from moot.types import Event, Json

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
    size: int = 0  # of the text heard in this try
    longest: str = ""  # of the tries that came to nothing
    attempt: int = 1  # raised when a new try begins: what was heard is to be forgotten
    shown: bool = False  # its event has been published
    after: int = 0  # the newest event that had been published when it began; others may hear the two in another order

    @property
    def text(self) -> str:
        if len(self.said) > 1:
            self.said[:] = ["".join(self.said)]
        return self.said[0] if self.said else ""

    @property
    def about(self) -> Json:
        """What other processes need to know of it."""
        return {
            "seat": self.seat, "round": self.round, "phase": self.phase, "shows": self.shows, "after": self.after
        }  # fmt: skip

    def hear(self, text: str) -> None:
        self.said.append(text)
        self.size += len(text)

    def begin_again(self) -> None:
        self.longest = self.partial
        self.said.clear()
        self.size = 0
        self.attempt += 1

    @property
    def partial(self) -> str:
        """What is left when every try has failed."""
        return max(self.longest, self.text, key=len)


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


class Say(Protocol):
    """Tells other processes what a step says: text from an offset on; 0 begins anew, None is its end."""

    def __call__(self, debate_id: str, flight: Flight, offset: int, text: str | None, /) -> None: ...


class Hub:
    def __init__(self, say: Say | None = None) -> None:
        self._say = say
        self._flights: dict[str, dict[str, Flight]] = {}
        self._landed: dict[str, dict[str, Flight]] = {}
        self._listeners: dict[str, set[Listener]] = {}
        self._newest: dict[str, int] = {}  # event of each debate that is driven here

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

    def landed(self, debate_id: str) -> Mapping[str, Flight]:
        """Steps whose turns are stored and whose events wait for their place in the order of the rules."""
        return self._landed.get(debate_id, {})

    def begin(self, debate_id: str, flight: Flight) -> None:
        flight.after = self._newest.get(debate_id, 0)
        self._flights.setdefault(debate_id, {})[flight.key] = flight
        self.wake(debate_id)

    def hear(self, debate_id: str, key: str, text: str | None) -> None:
        flight = self._flights.get(debate_id, {}).get(key)
        if flight is None:
            return
        offset = flight.size
        if text is None:
            flight.begin_again()
            offset, text = 0, ""
        else:
            flight.hear(text)
        if self._say is not None:
            self._say(debate_id, flight, offset, text)
        self.wake(debate_id)

    def overhear(self, said: Said) -> None:
        """Text in flight in another process."""
        flights = self._flights.setdefault(said.debate_id, {})
        flight = flights.get(said.key)
        if said.text is None:
            flights.pop(said.key, None)
        else:
            if flight is None:
                flight = flights[said.key] = Flight(key=said.key, **said.about)
            elif said.offset == 0 and flight.size:
                flight.begin_again()
            if flight.size == said.offset:  # what went past us will be said again
                flight.hear(said.text)
        self.wake(said.debate_id)

    def forget(self, debate_id: str) -> None:
        """What was in flight elsewhere is no longer."""
        self._flights.pop(debate_id, None)

    @property
    def attended(self) -> Collection[str]:
        """Debates that someone listens to."""
        return self._listeners.keys()

    def end(self, debate_id: str, key: str, *, stored: bool = False) -> None:
        flights = self._flights.get(debate_id)
        if flights is not None:
            flight = flights.pop(key, None)
            if not flights:
                del self._flights[debate_id]
            if flight is not None and self._say is not None:
                self._say(debate_id, flight, flight.size, None)
            if stored and flight is not None and flight.shows and not flight.shown:
                self._landed.setdefault(debate_id, {})[key] = flight

    def leave_stage(self, debate_id: str) -> None:
        """Nobody drives the debate here any more."""
        self._landed.pop(debate_id, None)
        self._newest.pop(debate_id, None)

    def publish(self, debate_id: str, event: Event) -> None:
        self._newest[debate_id] = event.seq
        flight = self._flights.get(debate_id, {}).get(event.key)
        if flight is not None:
            flight.shown = True
        self._landed.get(debate_id, {}).pop(event.key, None)
        for listener in self._listeners.get(debate_id, ()):
            listener.push(event)

    def wake(self, debate_id: str) -> None:
        for listener in self._listeners.get(debate_id, ()):
            listener.poke()
