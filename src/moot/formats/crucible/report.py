"""From typed critiques to the outcome. Every number is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from moot.formats.crucible.issues import Issues, one_line
from moot.formats.crucible.settings import CrucibleSettings
from moot.formats.crucible.shapes import Critique
from moot.formats.crucible.wording import Round
from moot.reasoning.fence import clean
from moot.types import Json, Outcome, Recalled, record

ENDINGS = {
    "satisfied": "the skeptic is satisfied",
    "no_critical": "no critical issue is open",
    "max_rounds": "the last round has been heard",
}
HELD = ("satisfied", "no_critical")
PASSABLE = 5  # of 10: below it an answer is not to be relied on

Level = Literal["High", "Medium", "Low"]


@record
class Result:
    settings: CrucibleSettings
    templates: Sequence[Recalled]
    rounds: Sequence[Round]
    issues: Issues
    ended_by: str

    @property
    def held(self) -> bool:
        return self.ended_by in HELD

    @property
    def early(self) -> bool:
        """Ended by the skeptic's content, with rounds left."""
        return self.held and len(self.rounds) < self.settings.max_rounds

    @property
    def valid(self) -> list[Critique]:
        return [each.critique for each in self.rounds if isinstance(each.critique, Critique)]

    @property
    def invalid(self) -> int:
        return sum(each.critique is not None for each in self.rounds) - len(self.valid)

    @property
    def score(self) -> int | None:
        """The skeptic's last."""
        return self.valid[-1].score if self.valid else None

    @property
    def auto_score(self) -> int | None:
        """The skeptic's last score, as far as the open issues allow."""
        return None if self.score is None else self.issues.worth(self.score)

    @property
    def confidence(self) -> Level:
        worth = self.auto_score
        if not self.held or worth is None or worth < PASSABLE:
            return "Low"
        return "High" if self.ended_by == "satisfied" and not self.issues.open_of("critical", "major") else "Medium"

    @property
    def headline(self) -> str:
        if self.score is None:
            return "Undecided: there is no valid critique."
        points = f"{self.score} of 10"
        if self.ended_by == "satisfied":
            return f"The skeptic is satisfied: {points}."
        if self.ended_by == "no_critical":
            return f"No critical issue is open; the skeptic gives it {points}."
        return f"Not settled; the skeptic's last score is {points}."

    @property
    def reason(self) -> str:
        """Why it is not settled."""
        if self.score is None:
            return "There is no valid critique, so nobody knows whether the answer holds."
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


def report(result: Result, answer: str | None, missing: str = "") -> Outcome:
    """`answer` is the final one; `missing` says why there is none. Then the last proposal stands in for it."""
    last = clean(result.rounds[-1].answer) if result.rounds else ""
    statement = clean(answer) if answer is not None else last
    decided = answer is not None and bool(result.valid)
    details: Json = {
        "rounds": len(result.rounds),
        "early_stopped": result.early,
        "templates": [{"id": each.id, "title": one_line(each.title)} for each in result.templates],
        "quality_score": result.score,
        "auto_score": result.auto_score,
        "issues": [each.as_json() for each in result.issues.raised],
        "invalid_critiques": result.invalid,
        "notes": _notes(result, missing),
        "record": _record(result, statement),
    }
    return Outcome(
        winner="consensus" if result.held and decided else "undecided",
        headline=result.headline if answer is not None else "Undecided: there is no final answer.",
        ended_by=result.ended_by,
        verdict_source="judge" if decided else "fallback",
        reason=missing or result.reason,
        statement=statement,
        scores={"proposer": result.score},
        details=details,
    )


def _notes(result: Result, missing: str) -> list[str]:
    notes = [f"Still open: {each.told}" for each in result.issues.open_of("critical", "major")]
    if result.ended_by == "satisfied" and result.issues.open_of("critical"):
        notes.append("The skeptic calls it ready, though it has not marked every critical issue as resolved.")
    if result.invalid:
        notes.append(f"Critiques that were not valid and counted for nothing: {result.invalid}.")
    if missing and result.rounds:
        notes.append("What follows is the proposer's last answer, unchanged.")
    return notes


def _record(result: Result, statement: str) -> Json:
    """What a decision record says of it."""
    issues = result.issues
    told: Json = {
        "decided_by": "the skeptic's critiques, counted by code",
        "confidence": result.confidence,
        "caveats": [
            f"{each.told}{f' To fix it: {one_line(each.issue.fix)}' * bool(each.issue.fix)}" for each in issues.open
        ],
        "agreements": [f"Settled in round {each.resolved_in}: {each.told}" for each in issues.resolved],
        "dissent": [f"Skeptic: {each.told}" for each in issues.open_of("critical", "major")],
    }
    if result.held or result.ended_by == "max_rounds":
        told["converged"] = result.held
    return {**told, "recommendation": statement} if statement else told
