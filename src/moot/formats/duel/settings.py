from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from moot.core.settings import Name, OutputTokens, RunningSeconds, SeatSettings, Text
from moot.formats.shared.ledger import LedgerSettings
from moot.formats.shared.sides import SidesSettings


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
    instructions=_MANNER,
)
SCEPTIC = Debater(
    name="Basil",
    personality="You are Basil: dry, careful, hard to impress.",
    instructions=_MANNER,
)


class DuelSettings(SidesSettings, LedgerSettings):
    max_total_output_tokens: OutputTokens = 32_000
    max_runtime_seconds: RunningSeconds = 1800
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
        if self.answer is not None and (self.premise or self.have_positions):
            raise ValueError("with answer, what is answered first decides the sides; leave premise and positions out")
        if self.premise and self.sides:
            raise ValueError("sides and a premise can't both be given: the sides of a premise are for and against it")
        return self

    @property
    def have_positions(self) -> bool:
        """Whether the debaters' own sheets say what they argue."""
        return any(debater.position for debater in self.debaters)
