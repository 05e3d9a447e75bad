"""What the tools return. Fields that are None are left out of a result."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from pydantic import BaseModel, Field

from moot.core.types import FinalAnswer, GateKind, Json, Status


class DebateState(BaseModel):
    """What became of a debate, after a tool has changed it."""

    id: str
    format: str
    status: Status
    next: str = Field(description="what to do now")


class Question(BaseModel):
    """An open gate: what a debate asks a person."""

    key: str
    kind: GateKind
    question: str
    choices: list[str] = Field(description="give one as `choice`; empty: give `text`")
    artifacts: Json | None = Field(None, description="what helps to decide, such as code, its diff and its tests")


class DebateStatus(BaseModel):
    """Everything that a caller needs to know of a debate, the answer first."""

    headline: str | None = Field(None, description="the outcome in a sentence")
    answer: FinalAnswer | None = Field(None, description="the answer as such")
    how: str | None = Field(None, description="how the outcome came about")
    checked: str | None = Field(None, description="what code has checked about the verdict, doubts first")
    id: str
    question: str
    format: str
    status: Status
    next: str = Field(description="what to do now")
    statement: str | None = Field(None, description="the outcome in full")
    winner: str | None = None
    turned_out: str | None = Field(None, description="how the decision turned out, as recorded later")
    demonstration: bool = Field(description="true: a demonstration model took part, the verdict means nothing")
    asks: list[Question] = Field(description="what it waits for")
    error: str | None = None
    turns: int
    tokens: int
    cost_usd: float | None = Field(None, description="left out: a price is not known")
    transcript: str = Field(description="the resource with what was said")


class ListedDebate(BaseModel):
    id: str
    question: str
    headline: str | None = None
    format: str
    status: Status
    created_at: float = Field(description="seconds since 1970, UTC")


class DebateList(BaseModel):
    """Debates, newest first."""

    debates: list[ListedDebate]
    next: str | None = Field(None, description="give it as `after` for the next page")


class PastDecision(BaseModel):
    id: str
    question: str
    headline: str
    format: str
    score: float = Field(description="0 to 1; larger fits better")


class PastDecisions(BaseModel):
    """Past decisions that match a search, best first."""

    found: list[PastDecision]
    by: str = Field(description="how they were found")
    note: str


class FormatList(BaseModel):
    """The formats; of a format that was asked for, also how it goes and its settings."""

    formats: dict[str, str] = Field(description="by name: what each is for")
    default: str = Field(description="what start_debate takes when no format is given")
    presets: dict[str, str] = Field(description="by name: their format")
    summary: str | None = None
    settings: dict[str, str] | None = Field(default=None, description="by name: what it is, and its default")


# Keywords that a model does without: in every schema, and in those of results, where names and docs/mcp.md say it.
_NOISE = {"title", "$defs", "additionalProperties", "minLength", "maxLength"}
_OF_ARGUMENTS = {"description", "enum", "const", "default"}


def compact(schema: Json, *, returned: bool = False) -> Json:
    """A schema without titles, references and null: what may be null may be left out. `returned`: the schema of a
    result, of which only names and types are kept."""
    left_out = _NOISE | _OF_ARGUMENTS | {"required"} if returned else _NOISE
    return _compact(schema, schema.get("$defs", {}), left_out)


def _compact(node: Any, named: Json, left_out: Collection[str]) -> Any:
    if isinstance(node, list):
        return [_compact(each, named, left_out) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    found = dict(cast(Json, node))
    if "$ref" in found:
        found = {**named[found.pop("$ref").rsplit("/", 1)[-1]], **found}
    kinds = [each for each in found.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) == 1:
        del found["anyOf"]
        found = {**_compact(kinds[0], named, left_out), **found}
    if found.get("default", ...) is None:
        del found["default"]
    made: Json = {}
    for keyword, value in found.items():
        if keyword == "properties":  # its keys are names, of which one may be `title`
            made[keyword] = {name: _compact(each, named, left_out) for name, each in value.items()}
        elif keyword not in left_out:
            made[keyword] = value if keyword in _OF_ARGUMENTS else _compact(value, named, left_out)
    return made
