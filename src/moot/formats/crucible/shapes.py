"""The typed answers of the skeptic, and the rounds that they end. A critique's shape depends on the open issues."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, StringConstraints, create_model
from pydantic.json_schema import SkipJsonSchema

from moot.core.script import Failed
from moot.core.types import Answer, Json, NonEmpty, Trimmed
from moot.formats.shared.small import LINE_CHARS, Line, Passage, in_sentences

MAX_ISSUES = 5  # in one critique: the gravest
FEW_ISSUES = 2  # from a small model

Severity = Literal["critical", "major", "minor"]


class ShortProposal(Answer):
    """An answer of a small model. It reasons before it concludes; people read the conclusion first."""

    steps: list[Line] = Field(min_length=2, max_length=3)
    conclusion: Line

    def prose(self) -> str:
        return f"{in_sentences(self.conclusion)}\n\n{in_sentences(*self.steps)}"


class ShortFinal(Answer):
    """The final answer of a small model, sentence by sentence."""

    conclusion: Line
    reason: Line
    uncertain: Line

    def prose(self) -> str:
        return in_sentences(self.conclusion, self.reason, self.uncertain)


class TypedFinal(Answer):
    """The final answer where one of a kind is asked for."""

    answer: NonEmpty

    def prose(self) -> str:
        return self.answer


class Issue(Answer):
    about: Trimmed  # the claim, in the proposer's words
    problem: NonEmpty
    fix: Trimmed
    severity: Severity

    def prose(self) -> str:
        about = f' About: "{self.about}"' if self.about else ""
        return f"{self.problem}{about}{f' To fix it: {self.fix}' if self.fix else ''}"


class ShortIssue(Issue):
    about: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LINE_CHARS)]
    problem: Line
    fix: Line


class IssueUpdate(Answer):
    """The status of an earlier issue."""

    id: str
    why: Trimmed
    status: Literal["resolved", "open"]

    def prose(self) -> str:
        return f"{self.id} is {'resolved' if self.status == 'resolved' else 'still open'}. {self.why}".rstrip()


def _all_required(schema: Json) -> None:
    """The schema asks for all fields, though an answer without `earlier` is valid: all issues stay open then."""
    schema["required"] = list(schema["properties"])


class Critique(Answer):
    model_config = ConfigDict(json_schema_extra=_all_required)

    first: ClassVar[int] = 1  # the number of the first new issue

    assessment: NonEmpty
    # Not in the schema of the first round, which has no earlier issues.
    earlier: SkipJsonSchema[list[IssueUpdate]] = Field(default_factory=list[IssueUpdate])
    issues: list[Issue] = Field(max_length=MAX_ISSUES)
    score: int = Field(ge=0, le=10)
    ready: bool

    @property
    def numbered(self) -> list[tuple[str, Issue]]:
        """The new issues with their ids."""
        return [(f"i{number}", issue) for number, issue in enumerate(self.issues, self.first)]

    def prose(self) -> str:
        updates = [f"- {update.prose()}" for update in self.earlier]
        new = [f"- {id}, {issue.severity}: {issue.prose()}" for id, issue in self.numbered]
        return "\n\n".join(part for part in (self.assessment, "\n".join(updates), "\n".join(new)) if part)


@lru_cache(maxsize=256)
def critique_after(open_ids: tuple[str, ...], raised: int, *, short: bool = False) -> type[Critique]:
    """The shape of a critique when `raised` issues have been raised and those of `open_ids` are open."""
    fields: dict[str, Any] = {}
    if short:
        few: Any = list[ShortIssue]
        fields["assessment"] = (Passage, ...)
        fields["issues"] = (few, Field(max_length=FEW_ISSUES))
    if open_ids:
        ids: Any = Literal[open_ids]  # pyright: ignore[reportInvalidTypeForm]
        update = create_model("IssueUpdate", __base__=IssueUpdate, id=(ids, ...))
        updates: Any = list[update]
        fields["earlier"] = (updates, Field(default_factory=list[IssueUpdate], max_length=len(open_ids)))
    made = create_model("Critique", __base__=Critique, **fields)
    made.first = raised + 1
    return made


@dataclass(kw_only=True)
class Round:
    number: int
    answer: str
    flaw: str = ""  # why the answer can't carry a verdict, to follow "the proposer's answer"; empty if it can
    cut: bool = False  # whether the answer was cut off at its limit
    critique: Critique | Failed | None = None  # None: the debate ended before it
