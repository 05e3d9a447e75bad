"""A debate as one thread of text for a chat client: one speaker after the other, each word once, as it is written.

Steps run at the same time, and a chat has one thread. So one of them has the floor and is passed on live; what others
write meanwhile follows when it has ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from moot.core.types import Event
from moot.formats.wording import Wording
from moot.reasoning.clean_stream import CleanStream
from moot.reasoning.conversation import CONTEXT
from moot.records.transcript import passage
from moot.runtime.hub import Flight
from moot.server.live import Delta, Item

_BEGINS_AGAIN = "\n\n[begins again]\n\n"


class Narrator:
    """Turns events and deltas, from the beginning of the debate on, into the text to append."""

    def __init__(self, wording: Wording) -> None:
        self._wording = wording
        self._floor: Flight | None = None  # the step that is passed on live
        self._attempt = 0
        self._clean, self._read, self._sent = CleanStream(), 0, list[str]()  # of that step
        self._waiting: deque[Event] = deque()
        self._seq = 0  # of the newest event
        self._early: Delta | None = None  # text of a step that began after an event which has not arrived yet

    def hear(self, items: Iterable[Item]) -> str:
        return "".join(self._text(item) for item in items)

    def rest(self) -> str:
        """The text that is left when the debate has come to rest."""
        self._floor = None
        return self._catch_up()

    def _text(self, item: Item) -> str:
        if isinstance(item, Event):
            self._seq = max(self._seq, item.seq)
            text, early = self._event(item), self._early
            if early is not None and early.flight.after <= self._seq:
                self._early = None
                text += self._delta(early) if early.flight.key != item.key else ""
            return text
        return self._delta(item) if isinstance(item, Delta) else ""

    def _event(self, event: Event) -> str:
        if self._floor is None:
            return self._whole(event)
        if event.key != self._floor.key:
            self._waiting.append(event)
            return ""
        said, sent = passage(event, self._wording), "".join(self._sent)
        whole = said.text if said is not None else sent
        self._floor = None
        rest = whole[len(sent) :] if whole.startswith(sent) else _BEGINS_AGAIN + whole
        return f"{rest}\n\n{self._catch_up()}"

    def _delta(self, delta: Delta) -> str:
        flight = delta.flight
        if self._floor is None and flight.after > self._seq:
            self._early = delta  # the events before it come first
            return ""
        if self._floor is None and self._is_public(flight) and _is_prose(flight):
            heading = f"### {self._wording.heading(flight.shows, flight.seat, flight.round)}\n\n"
            return heading + self._begin(flight)
        if self._floor is None or flight.key != self._floor.key:
            return ""
        if flight is not self._floor or flight.attempt != self._attempt:
            return _BEGINS_AGAIN + self._begin(flight)
        return self._pass_on(delta.text[max(0, self._read - delta.offset) :])

    def _begin(self, flight: Flight) -> str:
        """Give the floor to a step; its text so far."""
        self._floor, self._attempt = flight, flight.attempt
        self._clean, self._read, self._sent = CleanStream(), 0, []
        return self._pass_on(flight.text)

    def _pass_on(self, text: str) -> str:
        """As the turn will have it: cleaned, and without blank ends."""
        self._read += len(text)
        new = self._clean.feed(text)
        self._sent.append(new)
        return new

    def _is_public(self, flight: Flight) -> bool:
        kind = self._wording.type(flight.shows)
        return bool(flight.shows) and kind.public and not kind.hidden

    def _catch_up(self) -> str:
        waiting, self._waiting = self._waiting, deque()
        return "".join(self._whole(event) for event in waiting)

    def _whole(self, event: Event) -> str:
        turn = event.turn
        if turn is not None and turn.kind == "guidance" and turn.content.startswith(CONTEXT):
            return ""  # the client has just sent it
        said = passage(event, self._wording)
        if said is None:
            return ""
        return f"### {said.heading}\n\n{said.text}\n\n" if said.text else f"### {said.heading}\n\n"


def _is_prose(flight: Flight) -> bool:
    """False for typed answers, which come as JSON: their turn has the words for people."""
    return bool(flight.opening) and flight.opening not in "{[`"
