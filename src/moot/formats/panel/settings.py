from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from moot.core.settings import OutputTokens, RunningSeconds, Tokens
from moot.formats.shared.attendance import TopologySettings
from moot.formats.shared.ledger import LedgerSettings
from moot.formats.shared.perspectives import Perspective


def _unlimited(value: Any) -> Any:
    return 0 if value == "unlimited" else value


class PanelSettings(TopologySettings, LedgerSettings):
    max_total_output_tokens: OutputTokens = 60_000
    max_runtime_seconds: RunningSeconds = Field(
        1800, description="running time after which nothing new is asked; your own time is free"
    )
    # Twice this, for an argument and an answer, is the budget of a round.
    debater_max_tokens: Tokens = Field(1000, description="tokens in one argument or answer of a perspective")
    judge_max_tokens: Tokens = Field(700, description="tokens in one answer of the moderator")
    max_rounds: int = Field(5, ge=1, le=50, description="rounds before the panel is written up in any case")
    perspectives: Literal["auto", 2, 3, 4] = Field(
        "auto", description="how many are heard; auto: the moderator decides"
    )
    default_perspectives: int = Field(2, ge=2, le=4, description="how many when the moderator gives no valid number")
    checkpoints: bool = Field(True, description="ask you after each round: continue, guide, end")
    token_budget_per_round: Annotated[int, BeforeValidator(_unlimited)] = Field(
        2000,
        ge=0,
        le=1_000_000,
        description="tokens for each perspective in a round, with what is tried again; 0 or unlimited: no such limit",
    )
    round_timeout_seconds: int = Field(
        120, ge=1, le=86_400, description="running time after which a round is cut short"
    )
    checkpoint_timeout_seconds: int = Field(
        1800, ge=1, le=2_592_000, description="how long a checkpoint waits for you before the panel pauses"
    )
    custom_perspectives: tuple[Perspective, ...] = Field(
        (), description="more perspectives, or others of the same name"
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [perspective.name.casefold() for perspective in self.custom_perspectives]
        if len(names) != len(set(names)):
            raise ValueError("two custom_perspectives have the same name")
        return self
