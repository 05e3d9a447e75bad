"""The issues that a skeptic has raised, and what became of them. An issue is open until it is marked as resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from moot.formats.crucible.shapes import Critique, Issue, Severity
from moot.reasoning.fence import clean
from moot.script import Failed
from moot.types import Json, record

# While such an issue is open, an answer is worth no more than this, whatever else is said for it.
WORTH: dict[Severity, int] = {"critical": 4, "major": 7}


@record
class Raised:
    id: str
    round: int
    issue: Issue
    resolved_in: int | None = None  # the round; None: it is open
    why: str = ""  # what the skeptic last said about it

    @property
    def severity(self) -> Severity:
        return self.issue.severity

    @property
    def told(self) -> str:
        """In one line, for people."""
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
    def __init__(self, raised: Sequence[Raised] = ()) -> None:
        self.raised = tuple(raised)

    @property
    def open(self) -> list[Raised]:
        return [each for each in self.raised if each.resolved_in is None]

    @property
    def resolved(self) -> list[Raised]:
        return [each for each in self.raised if each.resolved_in is not None]

    def open_of(self, *severities: Severity) -> list[Raised]:
        """In the order of the severities given."""
        return [each for severity in severities for each in self.open if each.severity == severity]

    def after(self, critique: Critique | Failed, round: int) -> Issues:
        """What is marked both ways stays open; so does what is not marked at all."""
        if isinstance(critique, Failed):
            return self
        marked = [_marked(each, critique, round) for each in self.raised]
        return Issues([*marked, *(Raised(id=id, round=round, issue=issue) for id, issue in critique.numbered)])

    def summary(self, critique: Critique | Failed) -> Json:
        """For the turn, when these are the issues after it."""
        given = {} if isinstance(critique, Failed) else {"score": critique.score, "ready": critique.ready}
        return {**given, "open": {each.id: each.severity for each in self.open}}

    def worth(self, score: int) -> int:
        """The skeptic's score, as far as what is open allows."""
        return min([score, *(most for severity, most in WORTH.items() if self.open_of(severity))])


def _marked(each: Raised, critique: Critique, round: int) -> Raised:
    marks = [mark for mark in critique.earlier if mark.id == each.id]
    if each.resolved_in is not None or not marks:
        return each
    settled = all(mark.status == "resolved" for mark in marks)
    return replace(each, resolved_in=round if settled else None, why=marks[-1].why)


def listed(issues: Sequence[Raised]) -> str:
    """`i1 (critical), i4 (minor)`: no model's words."""
    return ", ".join(f"{each.id} ({each.severity})" for each in issues)


def one_line(text: str) -> str:
    return " ".join(clean(text).split())
