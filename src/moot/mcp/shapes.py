"""What the tools give back."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from moot.types import GateKind, Status


class Question(BaseModel):
    """Something that a debate asks a person."""

    key: str
    kind: GateKind
    question: str
    choices: list[str] = Field(description="give one of these as `choice`; empty: give `text`")


class Standing(BaseModel):
    """Where a debate stands."""

    id: str
    question: str
    format: str
    status: Status
    turns: int = Field(description="how many have been taken")
    rounds: int
    asks: list[Question] = Field(description="what it waits for: answer with answer_gate")
    headline: str | None = Field(description="the outcome in one sentence; null: it has none yet")
    statement: str | None = Field(description="the outcome in full")
    winner: str | None
    demonstration: bool = Field(description="a demonstration model takes part: the verdict means nothing")
    error: str | None
    tokens: int
    cost_usd: float | None = Field(description="null: a price is not known")
    record: str = Field(description="address of the resource that has the decision record, once it is completed")
    transcript: str = Field(description="address of the resource that has what was said so far")
    next: str = Field(description="what to do now")


class Item(BaseModel):
    id: str
    question: str
    format: str
    status: Status
    headline: str | None
    created_at: float = Field(description="seconds since 1970, UTC")


class Listing(BaseModel):
    """Debates, newest first."""

    debates: list[Item]
    more: str | None = Field(description="give it as `after` for those that follow; null: that was all")


class Found(BaseModel):
    id: str
    question: str
    format: str
    headline: str
    score: float = Field(description="0 to 1; larger fits better")
    record: str


class Decisions(BaseModel):
    """Past decisions that are about something, best first."""

    found: list[Found]
    by: str = Field(description="how they were found")
    note: str


class Setting(BaseModel):
    name: str
    default: Any
    about: str


class FormatAbout(BaseModel):
    name: str
    summary: str
    default: bool = Field(description="it is what start_debate takes when no format is given")
    settings: list[Setting]


class Formats(BaseModel):
    formats: list[FormatAbout]
    presets: list[str] = Field(description="names that start_debate takes as `format`, too")
