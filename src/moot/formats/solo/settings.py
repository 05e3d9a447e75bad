from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.core.answers import AnswerSpec
from moot.core.settings import DebateSettings, OutputTokens, RunningSeconds, Tokens

MOST_SAMPLES = 64
MOST_REFLECTIONS = 5
MAX_TEST_CHARS = 200_000

Method = Literal["auto", "plurality", "judge", "tests"]


class SoloSettings(DebateSettings):
    max_total_output_tokens: OutputTokens = 64_000
    max_runtime_seconds: RunningSeconds = 1800
    debater_max_tokens: Tokens = Field(800, description="tokens in one answer")
    model_debater: str | None = Field(None, description="model that answers")
    model_judge: str | None = Field(None, description="model that picks the best answer")
    samples: int = Field(5, ge=1, le=MOST_SAMPLES, description="answers that are asked for, each by itself")
    models: tuple[str, ...] = Field(
        (), max_length=MOST_SAMPLES, description="several models that answer in turn, instead of one"
    )
    method: Method = Field(
        "auto",
        description="the most frequent answer (plurality), a judge's choice, or the code that passes most tests; "
        "auto: what suits the kind of answer",
    )
    reflections: int = Field(
        0, ge=0, le=MOST_REFLECTIONS, description="how often each answer is read again and corrected"
    )
    tests: Annotated[str, Field(max_length=MAX_TEST_CHARS)] = Field(
        "", description="a Python test file by which code is picked"
    )

    @property
    def wanted(self) -> AnswerSpec:
        return self.answer or AnswerSpec()

    @property
    def picked_by(self) -> Literal["plurality", "judge", "tests"]:
        if self.method != "auto":
            return self.method
        if self.wanted.kind in ("choice", "number"):
            return "plurality"
        return "tests" if self.wanted.kind == "code" and self.tests else "judge"
