"""Events of a debate in words."""

from __future__ import annotations

from moot.core import types
from moot.core.stage import HEADER, VERDICT
from moot.core.types import Json, Outcome, Turn, record
from moot.formats.wording import Wording, words_of
from moot.records.transcript import outcome_text


@record
class Event:
    """Something that happened in a debate. `str` gives it as text to print."""

    seq: int
    type: str  # upper case: from the format; lower case: from moot itself
    key: str  # of the step; empty if it belongs to none
    heading: str
    text: str
    public: bool  # False: private thoughts
    turn: Turn | None
    data: Json
    created_at: float

    def __str__(self) -> str:
        return f"{self.heading}\n{self.text}".strip()

    @classmethod
    def of(cls, event: types.Event, debate: types.Debate, wording: Wording) -> Event:
        """`wording` must have heard the events before."""
        wording.hear(event)
        heading, text = _words(event, debate, wording)
        return cls(
            seq=event.seq,
            type=event.type,
            key=event.key,
            heading=heading,
            text=text,
            public=wording.type(event.type).public,
            turn=event.turn,
            data=event.data,
            created_at=event.created_at,
        )


def _words(event: types.Event, debate: types.Debate, wording: Wording) -> tuple[str, str]:
    if event.type == HEADER:
        return debate.topic, "\n".join(wording.header(event))
    if event.type == "status":
        return f"The debate is {event.data.get('status')}.", str(event.data.get("error", ""))
    if event.type == "notice":
        return "Note", str(event.data.get("text", ""))
    if event.type == "gate":
        return "A question to you", str(event.data.get("question", ""))
    caption = wording.caption(event)
    if event.type == VERDICT:
        return caption.heading, outcome_text(Outcome.model_validate(event.data), demonstration=False)
    if event.turn is not None:
        return caption.headline, words_of(event.turn)
    return caption.headline, "\n".join(caption.lines)
