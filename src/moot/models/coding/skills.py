"""How good a simulated engineer, or answerer of simulated questions, is."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from pydantic import Field

from moot.core.types import Frozen


class Skills(Frozen):
    skill: float = Field(0.6, ge=0, le=1)  # that code is right
    cases: float = Field(0.85, ge=0, le=1)  # that a stated value is right
    repair: float = Field(0.5, ge=0, le=1)  # that a repair makes code right
    red: float = Field(0.5, ge=0, le=1)  # that a mistake in code is found
    cheat: float = Field(0, ge=0, le=1)  # that code tries to fool its tests instead
    sway: float = Field(0, ge=0, le=1)  # that an answer follows what most others say
    rho: float = Field(0, ge=0, le=1)  # how often a draw is that of the whole family
    family: str = Field("", max_length=60)

    @property
    def skilled(self) -> bool:
        """Whether any of these is set: otherwise the model writes no code, and answers no simulated questions."""
        return bool(self.model_fields_set & Skills.model_fields.keys())


@dataclass(frozen=True, kw_only=True, slots=True)
class Draws:
    """Random numbers for one step of one task; those of equal seeds are equal."""

    own: str  # seed, step and task
    family: str  # what seats of one family share
    rho: float

    def of(self, what: str) -> Random:
        own = Random(f"{self.own}/{what}")
        return Random(f"{self.family}/{what}") if own.random() < self.rho else own
