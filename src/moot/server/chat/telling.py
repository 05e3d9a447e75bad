"""A debate as it is told to a chat client: one speaker after the other, each word once, as it is said.

Steps run at the same time, and a chat has one thread. So one of them has the floor and is told live; what others say
meanwhile is told when it has ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from moot.reasoning.fence import clean
from moot.records.transcript import PUBLIC, Voices, passage
from moot.runtime.hub import Flight
from moot.server.chat.asked import CONTEXT
from moot.server.live import Item, Said
from moot.types import Debate, Event

_BEGINS_AGAIN = "\n\n[begins again]\n\n"


class Telling:
    def __init__(self, debate: Debate) -> None:
        self._voices = Voices.of(debate)
        self._floor: Flight | None = None
        self._attempt = 0
        self._told = ""  # of the one who has the floor
        self._waiting: deque[Event] = deque()
        self._seq = 0  # of the newest event that was heard
        self._early: Said | None = None  # someone whose turn to speak it is, though we have not heard why

    def hear(self, items: Iterable[Item]) -> str:
        """The text to add."""
        return "".join(self._said(item) for item in items)

    def rest(self) -> str:
        """The debate rests: nobody speaks any more."""
        self._floor = None
        return self._catch_up()

    def _said(self, item: Item) -> str:
        if isinstance(item, Event):
            self._seq = max(self._seq, item.seq)
            text, early = self._happened(item), self._early
            if early is not None and early.flight.after <= self._seq:
                self._early = None
                text += self._live(early) if early.flight.key != item.key else ""
            return text
        return self._live(item) if isinstance(item, Said) else ""

    def _happened(self, event: Event) -> str:
        if self._floor is None:
            return self._whole(event)
        if event.key != self._floor.key:
            self._waiting.append(event)
            return ""
        said = passage(event, self._voices)
        whole = said.text if said is not None else self._told
        told, self._floor, self._told = self._told, None, ""
        rest = whole[len(told) :] if whole.startswith(told) else _BEGINS_AGAIN + whole
        return f"{rest}\n\n{self._catch_up()}"

    def _live(self, said: Said) -> str:
        flight = said.flight
        if self._floor is None and flight.after > self._seq:
            self._early = said  # what was said before comes first
            return ""
        if self._floor is None and flight.shows in PUBLIC and _is_prose(flight.text):
            self._floor, self._attempt, self._told = flight, flight.attempt, ""
            heading = f"### {self._voices.heading(flight.shows, flight.seat, flight.round)}\n\n"
            return heading + self._new()
        if self._floor is None or flight.key != self._floor.key:
            return ""
        if flight is not self._floor or flight.attempt != self._attempt:
            self._floor, self._attempt, self._told = flight, flight.attempt, ""
            return _BEGINS_AGAIN + self._new()
        return self._new()

    def _new(self) -> str:
        """Without blank ends, which the turn will not have."""
        assert self._floor is not None
        text = clean(self._floor.text).strip()
        if not text.startswith(self._told):
            return ""  # the turn will say how it really is
        new, self._told = text[len(self._told) :], text
        return new

    def _catch_up(self) -> str:
        waiting, self._waiting = self._waiting, deque()
        return "".join(self._whole(event) for event in waiting)

    def _whole(self, event: Event) -> str:
        turn = event.turn
        if turn is not None and turn.kind == "guidance" and turn.content.startswith(CONTEXT):
            return ""  # the client has just sent it
        said = passage(event, self._voices)
        return (
            "" if said is None else f"### {said.heading}\n\n{said.text}\n\n" if said.text else f"### {said.heading}\n\n"
        )


def _is_prose(text: str) -> bool:
    """Typed answers come as JSON; people read what the turn makes of it."""
    begin = text.lstrip()
    return bool(begin) and begin[0] not in "{[`"
