"""The typed answers of a solo: samples, and the judge's choice among them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from pydantic import Field, create_model

from moot.core.answers import AnswerSpec
from moot.core.types import Answer, NonEmpty
from moot.formats.shared.answer import Written, final_in, with_final
from moot.formats.shared.small import Passage

CODE = ("code", "patch")


class Reasoned(Answer):
    reasoning: NonEmpty

    def prose(self) -> str:
        return f"{self.reasoning}\n\nAnswer: {final_in(self)}"


class BriefReasoned(Reasoned):
    """A small model that rambles never closes its JSON."""

    reasoning: Passage


class Pick(Answer):
    reasoning: NonEmpty
    best: str

    def prose(self) -> str:
        return self.reasoning


@lru_cache(maxsize=256)
def sample_shape(spec: AnswerSpec, *, small: bool) -> type[Answer]:
    """Reasoning, answer and confidence, in this order; code is written as text."""
    if spec.kind in CODE:
        return Written
    base: type[Reasoned] = with_final(BriefReasoned if small else Reasoned, spec)
    return create_model("Sample", __base__=base, confidence=(int, Field(ge=0, le=100)))


@lru_cache(maxsize=256)
def pick_among(labels: tuple[str, ...]) -> type[Pick]:
    one: Any = Literal[labels]  # pyright: ignore[reportInvalidTypeForm]
    return create_model("Pick", __base__=Pick, best=(one, ...))


def confidence_in(given: Answer) -> float | None:
    """What the sample itself says, 0 to 1; None if it was not asked."""
    stated: object = getattr(given, "confidence", None)
    return stated / 100 if isinstance(stated, int) else None
