"""What a skeptic is asked for. Which earlier issues it can settle depends on which are open."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, StringConstraints, create_model
from pydantic.json_schema import SkipJsonSchema

from moot.types import Answer, Json

MOST_ISSUES = 5  # in one critique: the gravest, not all

Severity = Literal["critical", "major", "minor"]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Remark = Annotated[str, StringConstraints(strip_whitespace=True)]


class Issue(Answer):
    about: Remark  # the claim, in the proposer's words
    problem: Words
    fix: Remark
    severity: Severity

    def prose(self) -> str:
        about = f' About: "{self.about}"' if self.about else ""
        return f"{self.problem}{about}{f' To fix it: {self.fix}' if self.fix else ''}"


class Mark(Answer):
    """What has become of an earlier issue."""

    id: str
    why: Remark
    status: Literal["resolved", "open"]

    def prose(self) -> str:
        return f"{self.id} is {'resolved' if self.status == 'resolved' else 'still open'}. {self.why}".rstrip()


def _all_required(schema: Json) -> None:
    """A model must say what became of each issue; if it does not, nothing has."""
    schema["required"] = list(schema["properties"])


class Critique(Answer):
    model_config = ConfigDict(json_schema_extra=_all_required)

    first: ClassVar[int] = 1  # the number of the first new issue

    assessment: Words
    # In the first round there is none, and nobody is asked for one.
    earlier: SkipJsonSchema[list[Mark]] = Field(default_factory=list[Mark])
    issues: list[Issue] = Field(max_length=MOST_ISSUES)
    score: int = Field(ge=0, le=10)
    ready: bool

    @property
    def numbered(self) -> list[tuple[str, Issue]]:
        """The new issues with the ids that code gives them."""
        return [(f"i{number}", issue) for number, issue in enumerate(self.issues, self.first)]

    def prose(self) -> str:
        marks = [f"- {mark.prose()}" for mark in self.earlier]
        new = [f"- {id}, {issue.severity}: {issue.prose()}" for id, issue in self.numbered]
        return "\n\n".join(part for part in (self.assessment, "\n".join(marks), "\n".join(new)) if part)


@lru_cache(maxsize=256)
def critique_after(open_ids: tuple[str, ...], raised: int) -> type[Critique]:
    """A critique when so many issues have been raised, of which some are open."""
    fields: dict[str, Any] = {}
    if open_ids:
        ids: Any = Literal[open_ids]  # pyright: ignore[reportInvalidTypeForm]
        mark = create_model("Mark", __base__=Mark, id=(ids, ...))
        some: Any = list[mark]
        fields["earlier"] = (some, Field(default_factory=list[Mark], max_length=len(open_ids)))
    made = create_model("Critique", __base__=Critique, **fields)
    made.first = raised + 1
    return made
