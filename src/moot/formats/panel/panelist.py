"""A perspective at its seat, and what it has said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from moot.core.script import Seat
from moot.formats.panel.shapes import Rebuttal
from moot.formats.shared.perspectives import Perspective


@dataclass(kw_only=True)
class Panelist:
    """A perspective at its seat, and what it has said."""

    perspective: Perspective
    seat: Seat
    arguments: list[str]
    said: list[str] = field(default_factory=list[str])  # arguments and answers, in the order in which it said them
    argued_in: int = 0  # the round of its last argument
    ended: str = ""  # and its finish reason
    last: Rebuttal | None = None
    rebuttals: list[Rebuttal] = field(default_factory=list[Rebuttal])  # all of them
    own: list[str] = field(default_factory=list[str])  # what it said in its own words
    copies: str = ""  # whose words its last rebuttal repeats
    muted_in: int | None = None  # the last round in which it speaks
    left_the_question: bool = False  # according to the assessment that muted it

    @property
    def name(self) -> str:
        return self.perspective.name

    @property
    def words(self) -> list[str]:
        """Everything it has said."""
        answers = [words for each in self.rebuttals for words in (each.rebuttal, each.recommendation)]
        return [*self.arguments, *answers]

    @property
    def position(self) -> str:
        """Its position after this round. One that repeats another's words, or has none of its own, still holds its
        own."""
        return "hold" if self.last is None or self.copies or not self.own else self.last.position

    def concedes_to(self, other: Panelist) -> bool:
        return self.position == "concede" and self.last is not None and other.is_among([self.last.concedes_to])

    @property
    def recommends(self) -> str:
        """What it recommended last, or else argued."""
        if self.last is not None:
            return self.last.recommendation
        return self.arguments[-1] if self.arguments else "(said nothing)"

    def is_among(self, names: Sequence[str]) -> bool:
        return self.name.casefold() in {name.casefold().strip() for name in names}
