"""What a debate comes to: the outcome that a format returns, and its parts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from moot.core.answers import AnswerKind
from moot.core.poll import TIE, UNDECIDED, Poll
from moot.core.values import Frozen, Json

Level = Literal["High", "Medium", "Low"]
MOST_NOTED = 2000  # characters of a note


class FinalAnswer(Frozen):
    """What the debate answers to its question."""

    kind: AnswerKind = "text"
    value: str
    options: tuple[str, ...] = ()  # of a choice: what there was to choose from
    language: str = ""  # of code

    @property
    def is_code(self) -> bool:
        """Whether it is to be shown as it is, in a block of its own."""
        return self.kind in ("code", "patch")

    def __str__(self) -> str:
        return self.value


class GivenAnswer(Frozen):
    """What one seat answered by itself, before it knew of the others."""

    seat: str
    value: str | None = None  # None: it gave no valid answer
    confidence: float | None = Field(default=None, ge=0, le=1)  # as the seat states it; None: it was not asked


class Check(Frozen):
    """Something that code has checked about a verdict."""

    name: Literal["own words", "complete", "running scores", "statement", "other order", "everyone heard"]
    passed: bool | None  # None: it was not tried, or there was nothing to check
    words: str  # the finding, to be read in a list


class VoteCast(Frozen):
    """One vote, as it was counted."""

    seat: str
    choice: str  # a seat's id, "tie" or "abstains"
    key: str = ""  # of the step in which it was given
    reason: str = ""  # why it abstains


class Confidence(Frozen):
    """How far a format's own rules trust its answer."""

    level: Level
    source: str  # the rule that says so, in words


class Section(Frozen):
    """A part of the record that only this format has."""

    title: str
    items: tuple[str, ...]
    event: str = ""  # the type of the event that has shown the same while the debate ran


class ArguedPosition(Frozen):
    """One position in the record: who argued it, with what, for what."""

    name: str
    seat: str = ""
    stance: str = ""
    arguments: tuple[str, ...] | None = None
    trade_offs: tuple[str, ...] | None = None
    recommendation: str = ""


class RecordParts(Frozen):
    """What a format contributes to the decision record.

    None means that the rules don't ask for it; an empty tuple, that they asked and nothing was found.
    """

    recommendation: str | None = None
    converged: bool | None = None  # False: the rounds were used up before the positions agreed
    caveats: tuple[str, ...] | None = None
    agreements: tuple[str, ...] | None = None
    tensions: tuple[str, ...] | None = None
    dissent: tuple[str, ...] | None = None
    positions: tuple[ArguedPosition, ...] | None = None
    sections: tuple[Section, ...] = ()


class TurnedOut(Frozen):
    """How a decision turned out, as someone has recorded it later."""

    right: float = Field(ge=0, le=1)  # 1: right; 0: wrong; between: partly
    note: str = Field("", max_length=MOST_NOTED)
    by: str = ""  # who recorded it
    at: float = 0.0  # seconds since 1970, UTC

    @property
    def words(self) -> str:
        return {1.0: "right", 0.0: "wrong"}.get(self.right, f"{self.right:.0%} right")


class Outcome(Frozen):
    """What a format returns. Every number in it is computed by code from typed turns."""

    winner: str  # a seat's id, "tie", "undecided" or "consensus"
    headline: str  # the answer to the question in one sentence, written by code; or why there is none
    how: str = ""  # how it came about, in one sentence; empty: the headline says it
    ended_by: str  # the rule or limit that ended the debate
    verdict_source: Literal["judge", "jury", "rules", "fallback"]
    decided_by: str = ""  # who or what decided, in words
    answer: FinalAnswer | None = None
    first_answers: tuple[GivenAnswer, ...] = ()  # typed answers that seats gave by themselves, before any debate
    reason: str = ""  # why it is undecided or a tie
    statement: str = ""  # the closing words of the seat that writes the answer up
    names: dict[str, str] = Field(default_factory=dict)  # of seats that were named while the debate ran
    scores: dict[str, float | None] = Field(default_factory=dict)  # by seat
    scale: float = 10  # the best possible score
    scored_by: str = ""  # whose scores they are, where more than these decide
    tally: dict[str, float] | None = None  # votes by seat, "tie" and "abstains"
    votes: tuple[VoteCast, ...] = ()
    polls: tuple[Poll, ...] = ()  # every vote, with all that is needed to count it again
    support: float | None = None  # the share of voters behind the winner; None: there was no vote
    stated: float | None = None  # how sure the author of the answer said it was, 0 to 1; None: it was not asked
    flip_rate: float | None = None  # of readings in both orders; None: nothing was read twice
    confidence: Confidence | None = None  # None: the record's own rule decides
    checks: tuple[Check, ...] = ()  # what code has checked about the verdict
    notes: tuple[str, ...] = ()  # what a reader of the verdict must know
    facts: dict[str, str] = Field(default_factory=dict)  # further facts for people, by label
    record: RecordParts = RecordParts()
    ledger: Json | None = None  # the claims; reasoning/claims.py reads it
    structured: Json | None = None  # the decision in the shape of the setting `answer_schema`
    unstructured: str = ""  # why it could not be put into that shape
    details: Json = Field(default_factory=dict)  # for the format itself; no other code reads it

    @property
    def decided(self) -> bool:
        return self.winner not in (TIE, UNDECIDED)

    @property
    def further_reason(self) -> str:
        """The reason, unless the headline says it."""
        return "" if self.reason.strip(" .") in self.headline else self.reason

    @property
    def failed_checks(self) -> list[Check]:
        return [check for check in self.checks if check.passed is False]

    @property
    def recommendation(self) -> str:
        """The answer in words: what the format recommends, or else what was ruled."""
        return self.record.recommendation or self.statement
