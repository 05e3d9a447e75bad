"""What a person can be asked: the standard gates and the shape of their answers."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import StringConstraints, model_validator

from moot.core.types import Answer

MAX_WORDS = 20_000

GateText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_WORDS)]


class Checkpoint(Answer):
    """Between rounds: go on, go on with guidance, or end here."""

    choice: Literal["continue", "guide", "end"]
    text: GateText = ""

    @model_validator(mode="after")
    def _guidance_has_words(self) -> Self:
        if self.choice == "guide" and not self.text:
            raise ValueError("guidance needs words: what should the next round look at?")
        return self

    def prose(self) -> str:
        return f"Guidance: {self.text}" if self.choice == "guide" else self.choice.capitalize() + "."


class Clarification(Answer):
    text: GateText = ""  # nothing to add is an answer, too

    def prose(self) -> str:
        return self.text or "(nothing to add)"


class Approval(Answer):
    choice: Literal["approve", "reject"]
    text: GateText = ""

    def prose(self) -> str:
        return f"{'Approved' if self.choice == 'approve' else 'Rejected'}.{f' {self.text}' if self.text else ''}"
