"""A debate as one thread of text for a chat client: one speaker after the other, each word once, as it is written.

Steps run at the same time, and a chat has one thread. So one of them has the floor and is passed on live; what others
write meanwhile follows when it has ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from moot.core.types import Event
from moot.formats.wording import Wording
from moot.reasoning.fence import clean
from moot.records.transcript import passage
from moot.runtime.hub import Flight
from moot.server.chat.request import CONTEXT
from moot.server.live import Delta, Item

_BEGINS_AGAIN = "\n\n[begins again]\n\n"


class Narrator:
    """Turns events and deltas, from the beginning of the debate on, into the text to append."""

    def __init__(self, wording: Wording) -> None:
        self._wording = wording
        self._floor: Flight | None = None  # the step that is passed on live
        self._attempt = 0
        self._sent = ""  # of that step
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
        said = passage(event, self._wording)
        whole = said.text if said is not None else self._sent
        sent, self._floor, self._sent = self._sent, None, ""
        rest = whole[len(sent) :] if whole.startswith(sent) else _BEGINS_AGAIN + whole
        return f"{rest}\n\n{self._catch_up()}"

    def _delta(self, delta: Delta) -> str:
        flight = delta.flight
        if self._floor is None and flight.after > self._seq:
            self._early = delta  # the events before it come first
            return ""
        if self._floor is None and self._is_public(flight) and _is_prose(flight.text):
            self._floor, self._attempt, self._sent = flight, flight.attempt, ""
            heading = f"### {self._wording.heading(flight.shows, flight.seat, flight.round)}\n\n"
            return heading + self._new()
        if self._floor is None or flight.key != self._floor.key:
            return ""
        if flight is not self._floor or flight.attempt != self._attempt:
            self._floor, self._attempt, self._sent = flight, flight.attempt, ""
            return _BEGINS_AGAIN + self._new()
        return self._new()

    def _is_public(self, flight: Flight) -> bool:
        kind = self._wording.type(flight.shows)
        return bool(flight.shows) and kind.public and not kind.hidden

    def _new(self) -> str:
        """Without blank ends, which the turn will not have."""
        assert self._floor is not None
        text = clean(self._floor.text).strip()
        if not text.startswith(self._sent):
            return ""  # the turn will have the right text
        new, self._sent = text[len(self._sent) :], text
        return new

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


def _is_prose(text: str) -> bool:
    """False for typed answers, which come as JSON: their turn has the words for people."""
    begin = text.lstrip()
    return bool(begin) and begin[0] not in "{[`"
