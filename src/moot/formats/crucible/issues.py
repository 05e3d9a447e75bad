"""The issues that a skeptic has raised. An issue is open until the skeptic marks it as resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from moot.core.script import Failed
from moot.core.types import Json, record
from moot.formats.crucible.shapes import Critique, Issue, Severity
from moot.reasoning.fence import clean, one_line

# The highest score of an answer while such an issue is open.
SCORE_CAPS: dict[Severity, int] = {"critical": 4, "major": 7}


@record
class RaisedIssue:
    id: str
    round: int
    issue: Issue
    resolved_in: int | None = None  # a round; None: it is open
    why: str = ""  # the skeptic's last words about it

    @property
    def severity(self) -> Severity:
        return self.issue.severity

    @property
    def headline(self) -> str:
        return f"{self.id}, {self.severity}: {one_line(self.issue.problem)}"

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "round": self.round,
            "severity": self.severity,
            **{name: clean(getattr(self.issue, name)) for name in ("about", "problem", "fix")},
            "resolved_in": self.resolved_in,
            "why": clean(self.why),
        }


class Issues:
    def __init__(self, raised: Sequence[RaisedIssue] = ()) -> None:
        self.raised = tuple(raised)

    @property
    def open(self) -> list[RaisedIssue]:
        return [each for each in self.raised if each.resolved_in is None]

    @property
    def resolved(self) -> list[RaisedIssue]:
        return [each for each in self.raised if each.resolved_in is not None]

    def open_of(self, *severities: Severity) -> list[RaisedIssue]:
        """The open issues of these severities, in the order given."""
        return [each for severity in severities for each in self.open if each.severity == severity]

    def after(self, critique: Critique | Failed, round: int) -> Issues:
        """The issues after a critique. An issue that is not marked, or marked both ways, stays open."""
        if isinstance(critique, Failed):
            return self
        updated = [_updated(each, critique, round) for each in self.raised]
        return Issues([*updated, *(RaisedIssue(id=id, round=round, issue=issue) for id, issue in critique.numbered)])

    def metadata(self, critique: Critique | Failed) -> Json:
        """The metadata of a critique's turn, where these are the issues after it."""
        given = {} if isinstance(critique, Failed) else {"score": critique.score, "ready": critique.ready}
        severities = [each.severity for each in self.open]
        counts = [f"{severities.count(each)} {each}" for each in ("critical", "major", "minor") if each in severities]
        return {
            **given,
            "open": {each.id: each.severity for each in self.open},
            "still_open": ", ".join(counts) or "nothing",
        }

    def capped(self, score: int) -> int:
        """The skeptic's score, capped by the open issues."""
        return min([score, *(most for severity, most in SCORE_CAPS.items() if self.open_of(severity))])


def _updated(each: RaisedIssue, critique: Critique, round: int) -> RaisedIssue:
    updates = [update for update in critique.earlier if update.id == each.id]
    if each.resolved_in is not None or not updates:
        return each
    resolved = all(update.status == "resolved" for update in updates)
    return replace(each, resolved_in=round if resolved else None, why=updates[-1].why)


def with_severities(issues: Sequence[RaisedIssue]) -> str:
    """`i1 (critical), i4 (minor)`: safe outside of a fence, since it has no model's words."""
    return ", ".join(f"{each.id} ({each.severity})" for each in issues)
