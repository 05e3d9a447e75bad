from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from moot.formats.shared.ledger import LedgerSettings
from moot.formats.shared.sides import SidesSettings

Stance = Literal["pro", "con"]


class ClassicSettings(SidesSettings, LedgerSettings):
    max_rounds: int = Field(5, ge=1, le=1000, description="rounds, each a statement by A and one by B")
    a_stance: Stance = Field(
        "pro", description="whether A argues for or against, or for the first or the second side; B takes the other one"
    )
    judge_every_round: bool = Field(False, description="the judge also rules after each round")
    stop_when_stale: bool = Field(
        False, description="end when the judge of a round finds no new argument (needs judge_every_round)"
    )

    @model_validator(mode="after")
    def _stale_needs_a_judge(self) -> Self:
        if self.stop_when_stale and not self.judge_every_round:
            raise ValueError("stop_when_stale needs judge_every_round: only a judge can tell")
        return self
