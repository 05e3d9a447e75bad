"""What a person can be asked: the standard gates and the shape of their answers."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import PrivateAttr, StringConstraints, model_validator

from moot.core.types import Answer

MAX_WORDS = 20_000
TIMED_OUT = "no one: the time was over"  # who decided, where a question was decided by its time-out

GateText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_WORDS)]


class Decision(Answer):
    """An answer to a gate, and who gave it. That is no field, so that an answer can't name its own author."""

    _by: str = PrivateAttr("")

    @property
    def by(self) -> str:
        """Who decided: the name of a person, or TIMED_OUT; empty where it is not known."""
        return self._by

    @property
    def timed_out(self) -> bool:
        return self._by == TIMED_OUT

    def decided(self, by: str) -> Self:
        """This decision as that of `by`."""
        own = self.model_copy()
        own._by = by
        return own

    def prose(self) -> str:
        if not self.timed_out:
            return self.said()
        return f"No one answered in time; {self.fate()}, as `on_timeout` says."

    def said(self) -> str:
        """The words of the person who decided."""
        return super().prose()

    def fate(self) -> str:
        """What became of a question that no one answered."""
        return f"it counts as answered ({self.said()})"


class Checkpoint(Decision):
    """Between rounds: go on, go on with guidance, or end here."""

    choice: Literal["continue", "guide", "end"]
    text: GateText = ""

    @model_validator(mode="after")
    def _guidance_has_words(self) -> Self:
        if self.choice == "guide" and not self.text:
            raise ValueError("guidance needs words: what should the next round look at?")
        return self

    def said(self) -> str:
        return f"Guidance: {self.text}" if self.choice == "guide" else self.choice.capitalize() + "."

    def fate(self) -> str:
        return {"continue": "it went on", "end": "it ended here"}.get(self.choice, super().fate())


class Clarification(Decision):
    text: GateText = ""  # nothing to add is an answer, too

    def said(self) -> str:
        return self.text or "(nothing to add)"

    def fate(self) -> str:
        return super().fate() if self.text else "it went on without an answer"


class Approval(Decision):
    choice: Literal["approve", "reject"]
    text: GateText = ""

    def said(self) -> str:
        return f"{self._done.capitalize()}.{f' {self.text}' if self.text else ''}"

    def fate(self) -> str:
        return f"it was {self._done}"

    @property
    def _done(self) -> str:
        return "approved" if self.choice == "approve" else "rejected"
