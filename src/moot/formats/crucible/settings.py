from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, cast

from pydantic import Field, model_validator

from moot.core.settings import DebateSettings, OutputTokens, RunningSeconds, Temperature, Tokens


class CrucibleSettings(DebateSettings):
    max_total_output_tokens: OutputTokens = 40_000
    max_runtime_seconds: RunningSeconds = 1800
    debater_max_tokens: Tokens = Field(1200, description="tokens in one answer or critique")
    judge_max_tokens: Tokens = Field(1600, description="tokens in the final answer")
    model_debater: str | None = Field(None, description="model of proposer and skeptic")
    model_judge: str | None = Field(None, description="model of the synthesizer")
    model_proposer: str | None = Field(None, description="model of the proposer, before model_debater")
    model_skeptic: str | None = Field(None, description="model of the skeptic, before model_debater")
    model_synthesizer: str | None = Field(None, description="model of the synthesizer, before model_judge")
    temperature_proposer: Temperature | None = Field(0.7, description="null: what the model does by itself")
    temperature_skeptic: Temperature | None = Field(0.8, description="null: what the model does by itself")
    temperature_synthesizer: Temperature | None = Field(0.5, description="null: what the model does by itself")
    min_rounds: int = Field(3, ge=1, le=50, description="rounds before a content skeptic can end it")
    max_rounds: int = Field(5, ge=1, le=50, description="rounds before the answer is written up in any case")
    early_stop_score: int = Field(
        8, ge=0, le=10, description="score with which an answer that the skeptic calls ready is good enough"
    )
    claims: bool = Field(False, description="keep a ledger of claims, made from the critiques at no further cost")
    rag_top_k: int = Field(3, ge=0, le=10, description="reasoning templates that the proposer is given; 0: none")

    @model_validator(mode="before")
    @classmethod
    def _fewer_rounds_in_all(cls, given: Any) -> Any:
        """A `max_rounds` below the default of `min_rounds` lowers that default."""
        if not isinstance(given, Mapping):
            return given
        said, least = cast("Mapping[str, Any]", given), cls.model_fields["min_rounds"].default
        most = said.get("max_rounds")
        if "min_rounds" in said or not isinstance(most, int) or most >= least:
            return said
        return {**said, "min_rounds": max(1, most)}

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_rounds > self.max_rounds:
            raise ValueError(f"min_rounds is {self.min_rounds}, more than max_rounds, which is {self.max_rounds}")
        return self
