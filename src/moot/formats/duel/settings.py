from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from moot.formats.jury import JurySettings
from moot.settings import Name, SeatSettings, Text


class Debater(SeatSettings):
    name: Name
    personality: Text = ""
    position: Text = ""
    instructions: Text = ""


class Judge(SeatSettings):
    name: Name = "The judge"
    personality: Text = (
        "You are a patient, exacting judge of debates. You follow the argument wherever it leads and are moved by "
        "reasons, not by confidence."
    )
    judging_criteria: Text = (
        "Reward sound logic, evidence that carries its conclusion, and direct answers to the opponent's best point. "
        "Give no credit for repetition, for volume, or for claims of victory."
    )


_MANNER = (
    "Argue honestly and concretely. Answer the strongest form of what your opponent says. Keep each statement to a "
    "few short paragraphs."
)

ADVOCATE = Debater(
    name="Ada",
    personality="You are Ada: quick, precise, fond of concrete examples.",
    position="You argue for the proposition; where the topic offers alternatives, for the first one it names.",
    instructions=_MANNER,
)
SCEPTIC = Debater(
    name="Basil",
    personality="You are Basil: dry, careful, hard to impress.",
    position="You argue against the proposition; where the topic offers alternatives, for the other one.",
    instructions=_MANNER,
)


class DuelSettings(JurySettings):
    max_total_output_tokens: int = Field(
        32_000, ge=1, le=100_000_000, description="tokens that all models together may write"
    )
    max_runtime_seconds: int = Field(
        1800, ge=1, le=604_800, description="running time after which nothing new is asked"
    )
    premise: Text | None = Field(None, min_length=1, description="what the first debater upholds and the second denies")
    turns: int = Field(6, ge=2, le=200, description="public statements in all; the first debater opens")
    debaters: tuple[Debater, Debater] = Field((ADVOCATE, SCEPTIC), description="the two who speak")
    judge: Judge = Field(Judge(), description="the one who scores and rules")
    blind: bool = Field(False, description="the judge reads labels instead of names")

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        one, two = (debater.name for debater in self.debaters)
        if one.casefold() == two.casefold():
            raise ValueError(f"both debaters are called {one!r}; a verdict between them could not be told apart")
        return self
