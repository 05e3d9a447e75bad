"""The outcome of a crucible, computed from typed critiques."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.types import Check, Confidence, FinalAnswer, Outcome, Recalled, RecordParts, Section, record
from moot.formats.crucible.issues import Issues
from moot.formats.crucible.settings import CrucibleSettings
from moot.formats.crucible.shapes import Critique, Round
from moot.formats.shared.answer import headline_of
from moot.formats.shared.checks import UNSETTLED, answer_in, complete, own_words
from moot.reasoning.fence import clean, one_line
from moot.reasoning.statements import CUT_OFF, LOST

ENDINGS = {
    "satisfied": "the skeptic is satisfied",
    "no_critical": "no critical issue is open",
    "max_rounds": "the last round has been heard",
}
HELD = ("satisfied", "no_critical")
PASSABLE = 5  # of 10: the confidence in an answer below it is low


@record
class CrucibleResult:
    settings: CrucibleSettings
    templates: Sequence[Recalled]
    rounds: Sequence[Round]
    issues: Issues
    ended_by: str

    @property
    def held(self) -> bool:
        return self.ended_by in HELD

    @property
    def stopped_early(self) -> bool:
        return self.held and len(self.rounds) < self.settings.max_rounds

    @property
    def valid(self) -> list[Critique]:
        return [each.critique for each in self.rounds if isinstance(each.critique, Critique)]

    @property
    def invalid(self) -> int:
        return sum(each.critique is not None for each in self.rounds) - len(self.valid)

    @property
    def score(self) -> int | None:
        """The skeptic's last valid score."""
        return self.valid[-1].score if self.valid else None

    @property
    def auto_score(self) -> int | None:
        """The skeptic's last valid score, capped by the open issues."""
        return None if self.score is None else self.issues.capped(self.score)

    @property
    def confidence(self) -> Confidence:
        score = self.auto_score
        if not self.held or score is None or score < PASSABLE:
            return Confidence(level="Low", source="the answer did not hold against the skeptic")
        if self.ended_by == "satisfied" and not self.issues.open_of("critical", "major"):
            return Confidence(level="High", source="the skeptic is satisfied, and no critical or major issue is open")
        return Confidence(level="Medium", source="no critical issue is open, but the answer has known weaknesses")

    @property
    def how(self) -> str:
        if self.score is None:
            return ""
        points = f"{self.score} of 10"
        if self.ended_by == "satisfied":
            return f"The skeptic is satisfied: {points}."
        if self.ended_by == "no_critical":
            return f"No critical issue is open; the skeptic gives it {points}."
        return f"The skeptic's last score is {points}."

    @property
    def reason(self) -> str:
        """Why the answer did not hold; empty if it did."""
        if self.score is None:
            return "There is no valid critique, so it is not known whether the answer holds."
        if self.held:
            return ""
        if self.ended_by != "max_rounds":
            return f"The limit {self.ended_by} ended it before the skeptic was content."
        if isinstance(self.rounds[-1].critique, Critique):
            rounds, critical = len(self.rounds), len(self.issues.open_of("critical"))
            return (
                f"After {rounds} round{'s' * (rounds > 1)}, {critical} critical "
                f"{'issue is' if critical == 1 else 'issues are'} open."
            )
        return "There is no valid critique of the last answer."


def report(result: CrucibleResult, answer: str | None, missing: str = "", typed: FinalAnswer | None = None) -> Outcome:
    """Make the outcome. Without a final `answer`, `missing` says why, and the last proposal stands in for it. `typed`:
    the answer in the kind that was asked for, if one was."""
    last = clean(result.rounds[-1].answer) if result.rounds else ""
    statement = clean(answer) if answer is not None else last
    sentence = answer_in(statement)
    decided = answer is not None and bool(sentence) and bool(result.valid)
    missing_part = "valid critique" if answer is not None and sentence else "final answer"
    shown = headline_of(typed) if typed else sentence
    headline = shown if decided else f"Undecided: there is no {missing_part}."
    headline = f"{UNSETTLED} {shown}" if decided and not result.held else headline
    return Outcome(
        winner="consensus" if result.held and decided else "undecided",
        headline=headline,
        how=result.how if decided else "",
        ended_by=result.ended_by,
        verdict_source="rules" if decided else "fallback",
        decided_by="the skeptic's critiques, counted by code" if decided else "",
        answer=typed if result.settings.answer is not None else FinalAnswer(value=sentence) if decided else None,
        reason=missing or result.reason,
        statement=statement,
        scores={"proposer": result.score},
        confidence=result.confidence,
        checks=_checks(result.rounds),
        notes=tuple(_notes(result, missing)),
        record=_record(result, statement),
        details={
            "early_stopped": result.stopped_early,
            "templates": [{"id": each.id, "title": one_line(each.title)} for each in result.templates],
            "quality_score": result.score,
            "auto_score": result.auto_score,
            "issues": [each.as_json() for each in result.issues.raised],
            "invalid_critiques": result.invalid,
        },
    )


def _checks(rounds: Sequence[Round]) -> tuple[Check, ...]:
    if not rounds:
        return ()
    called = {each.number: f"the proposer's answer {each.number}" for each in rounds}
    lost = [f"{called[each.number]} {LOST}" for each in rounds if each.flaw == LOST]
    cut = [f"{called[each.number]} {CUT_OFF}" for each in rounds if each.cut]
    copied = [f"{called[each.number]} {each.flaw}" for each in rounds if each.flaw and each.flaw != LOST]
    return own_words(copied, "the proposer spoke in its own words"), complete([*lost, *cut])


def _notes(result: CrucibleResult, missing: str) -> list[str]:
    notes = [f"Still open: {each.headline}" for each in result.issues.open_of("critical", "major")]
    if result.ended_by == "satisfied" and result.issues.open_of("critical"):
        notes.append("The skeptic calls it ready, though it has not marked every critical issue as resolved.")
    if result.invalid:
        notes.append(f"Critiques that were not valid and counted for nothing: {result.invalid}.")
    if missing and result.rounds:
        notes.append("What follows is the proposer's last answer, unchanged.")
    return notes


def _record(result: CrucibleResult, statement: str) -> RecordParts:
    issues = result.issues
    settled = tuple(f"In round {each.resolved_in}: {each.headline}" for each in issues.resolved)
    return RecordParts(
        recommendation=statement or None,
        converged=result.held if result.held or result.ended_by == "max_rounds" else None,
        caveats=tuple(
            f"{each.headline}{f' To fix it: {one_line(each.issue.fix)}' * bool(each.issue.fix)}" for each in issues.open
        ),
        dissent=tuple(f"Skeptic: {each.headline}" for each in issues.open_of("critical", "major")),
        sections=(Section(title="Issues Settled", items=settled),) if settled else (),
    )
