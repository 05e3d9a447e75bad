"""Live updates of the debates that this process drives or follows.

Durable events pass through here once they are committed. The text of a step is kept from its first token until its
event is published, so that a listener that joins late gets all of it. A slow listener costs one entry for each step in
flight and at most `BACKLOG` events; past that it has to read the store.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from moot.core.types import Event, Json
from moot.store import RemoteText

BACKLOG = 1000


@dataclass(kw_only=True, slots=True)
class Flight:
    """A step that is being executed, and its text so far."""

    key: str
    seat: str
    round: int
    phase: str
    shows: str
    chunks: list[str] = field(default_factory=list[str])
    size: int = 0  # of the text of this try
    opening: str = ""  # the first character of this try that is not blank
    longest: str = ""  # the longest text of the tries that failed
    attempt: int = 1  # raised by `restart`: a reader has to discard what it has
    shown: bool = False  # its event has been published
    after: int = 0  # newest event published when it began: other processes may receive the two in another order

    @property
    def text(self) -> str:
        if len(self.chunks) > 1:
            self.chunks[:] = ["".join(self.chunks)]
        return self.chunks[0] if self.chunks else ""

    def since(self, offset: int) -> str:
        """The text from there on, in time that is linear in its own length."""
        found: list[str] = []
        at = self.size
        for chunk in reversed(self.chunks):
            if at <= offset:
                break
            at -= len(chunk)
            found.append(chunk if at >= offset else chunk[offset - at :])
        return "".join(reversed(found))

    @property
    def about(self) -> Json:
        """The fields that other processes need."""
        return {
            "seat": self.seat, "round": self.round, "phase": self.phase, "shows": self.shows, "after": self.after
        }  # fmt: skip

    def hear(self, text: str) -> None:
        self.chunks.append(text)
        self.size += len(text)
        self.opening = self.opening or text.lstrip()[:1]

    def restart(self) -> None:
        """Discard the text: a new try begins."""
        self.longest = self.partial
        self.chunks.clear()
        self.size, self.opening = 0, ""
        self.attempt += 1

    @property
    def partial(self) -> str:
        """The longest text of any try: what is kept when all of them fail."""
        return max(self.longest, self.text, key=len)


class Subscription:
    """The queue of one watcher of one debate."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque()
        self.missed = False  # the backlog overflowed: read the store
        self._changed = asyncio.Event()

    def wake(self) -> None:
        self._changed.set()

    def push(self, event: Event) -> None:
        if len(self.events) >= BACKLOG:
            self.events.clear()
            self.missed = True
        self.events.append(event)
        self._changed.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a change, at most so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass
        self._changed.clear()


class Relay(Protocol):
    """Sends the text of a step to other processes: `text` from `offset` on; 0 begins anew, None ends the step."""

    def __call__(self, debate_id: str, flight: Flight, offset: int, text: str | None, /) -> None: ...


class Hub:
    def __init__(self, relay: Relay | None = None) -> None:
        self._relay = relay
        self._flights: dict[str, dict[str, Flight]] = {}
        self._landed: dict[str, dict[str, Flight]] = {}
        self._listeners: dict[str, set[Subscription]] = {}
        self._newest: dict[str, int] = {}  # the last event published, of each debate that is driven here

    def listen(self, debate_id: str) -> Subscription:
        """Register a listener; `leave` removes it."""
        listener = Subscription()
        self._listeners.setdefault(debate_id, set()).add(listener)
        return listener

    def leave(self, debate_id: str, listener: Subscription) -> None:
        listeners = self._listeners.get(debate_id, set())
        listeners.discard(listener)
        if not listeners:
            self._listeners.pop(debate_id, None)

    @property
    def watched(self) -> Collection[str]:
        """Ids of the debates that have a listener."""
        return self._listeners.keys()

    def flights(self, debate_id: str) -> Mapping[str, Flight]:
        """The steps in flight, by key."""
        return self._flights.get(debate_id, {})

    def landed(self, debate_id: str) -> Mapping[str, Flight]:
        """Steps whose turns are stored, but whose events are held back: events come in the order of the rules."""
        return self._landed.get(debate_id, {})

    def begin(self, debate_id: str, flight: Flight) -> None:
        """A step begins."""
        flight.after = self._newest.get(debate_id, 0)
        self._flights.setdefault(debate_id, {})[flight.key] = flight
        self.wake(debate_id)

    def hear(self, debate_id: str, key: str, text: str | None) -> None:
        """Append text to a step in flight. None: discard what there is, a new try begins."""
        flight = self._flights.get(debate_id, {}).get(key)
        if flight is None:
            return
        offset = flight.size
        if text is None:
            flight.restart()
            offset, text = 0, ""
        else:
            flight.hear(text)
        if self._relay is not None:
            self._relay(debate_id, flight, offset, text)
        self.wake(debate_id)

    def receive(self, remote: RemoteText) -> None:
        """Take over text in flight in another process."""
        flights = self._flights.setdefault(remote.debate_id, {})
        flight = flights.get(remote.key)
        if remote.text is None:
            flights.pop(remote.key, None)
        else:
            if flight is None:
                flight = flights[remote.key] = Flight(key=remote.key, **remote.about)
            elif remote.offset == 0 and flight.size:
                flight.restart()
            if flight.size == remote.offset:  # a gap is filled when the sender begins anew
                flight.hear(remote.text)
        self.wake(remote.debate_id)

    def drop_flights(self, debate_id: str) -> None:
        """Discard text in flight that was received from another process."""
        self._flights.pop(debate_id, None)

    def end(self, debate_id: str, key: str, *, stored: bool = False) -> None:
        """A step is over; `stored`: its turn is committed."""
        flights = self._flights.get(debate_id)
        if flights is not None:
            flight = flights.pop(key, None)
            if not flights:
                del self._flights[debate_id]
            if flight is not None and self._relay is not None:
                self._relay(debate_id, flight, flight.size, None)
            if stored and flight is not None and flight.shows and not flight.shown:
                self._landed.setdefault(debate_id, {})[key] = flight

    def release(self, debate_id: str) -> None:
        """Forget a debate that is no longer driven here."""
        self._landed.pop(debate_id, None)
        self._newest.pop(debate_id, None)

    def publish(self, debate_id: str, event: Event) -> None:
        """Pass a committed event on to the listeners."""
        self._newest[debate_id] = event.seq
        flight = self._flights.get(debate_id, {}).get(event.key)
        if flight is not None:
            flight.shown = True
        self._landed.get(debate_id, {}).pop(event.key, None)
        for listener in self._listeners.get(debate_id, ()):
            listener.push(event)

    def wake(self, debate_id: str) -> None:
        for listener in self._listeners.get(debate_id, ()):
            listener.wake()
