"""What the tools return."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from moot.core.types import FinalAnswer, GateKind, Status


class Question(BaseModel):
    """An open gate: what a debate asks a person."""

    key: str
    kind: GateKind
    question: str
    choices: list[str] = Field(description="give one of these as `choice`; empty: give `text`")


class DebateStatus(BaseModel):
    """The state of a debate."""

    headline: str | None = Field(
        description="the outcome in one sentence: the answer, where there is one; null: none yet"
    )
    answer: FinalAnswer | None = Field(
        description="the answer as such; of a choice, with the options there were; null: there is none"
    )
    how: str | None = Field(description="how the outcome came about, in one sentence")
    checked: str | None = Field(description="what code has checked about the verdict, doubts first")
    id: str
    question: str
    format: str
    status: Status
    turns: int = Field(description="how many are done")
    rounds: int
    asks: list[Question] = Field(description="what it waits for: answer with answer_gate")
    statement: str | None = Field(description="the outcome in full")
    winner: str | None
    demonstration: bool = Field(description="a demonstration model takes part: the verdict means nothing")
    error: str | None
    tokens: int
    cost_usd: float | None = Field(description="null: a price is not known")
    record: str = Field(description="address of the resource that has the decision record, once it is completed")
    transcript: str = Field(description="address of the resource that has what was said so far")
    next: str = Field(description="what to do now")


class ListedDebate(BaseModel):
    id: str
    question: str
    headline: str | None = Field(description="the outcome in one sentence; null: none yet")
    format: str
    status: Status
    created_at: float = Field(description="seconds since 1970, UTC")


class DebateList(BaseModel):
    """Debates, newest first."""

    debates: list[ListedDebate]
    more: str | None = Field(description="pass it as `after` for the next page; null: there is none")


class PastDecision(BaseModel):
    id: str
    question: str
    headline: str
    format: str
    score: float = Field(description="0 to 1; larger fits better")
    record: str


class PastDecisions(BaseModel):
    """Past decisions that match a search, best first."""

    found: list[PastDecision]
    by: str = Field(description="how they were found")
    note: str


class FormatSetting(BaseModel):
    name: str
    default: Any
    about: str


class FormatSummary(BaseModel):
    name: str
    purpose: str = Field(description="what a person would choose it for")
    summary: str
    default: bool = Field(description="it is what start_debate takes when no format is given")
    settings: list[FormatSetting]


class FormatList(BaseModel):
    formats: list[FormatSummary]
    presets: list[str] = Field(description="names that start_debate takes as `format`, too")
