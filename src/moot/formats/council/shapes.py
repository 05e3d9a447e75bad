"""What members and chair are asked for. What a ballot may say depends on the labels its reader was shown."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, create_model, field_validator

from moot.types import Answer

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Opinion(Answer):
    position: Words = Field(max_length=600)
    answer: Words
    reasons: list[Words] = Field(min_length=1, max_length=6)
    confidence: int = Field(ge=0, le=100)  # never shown to another member: it persuades without being a reason

    def prose(self) -> str:
        reasons = "\n".join(f"- {reason}" for reason in self.reasons)
        return f"{self.position}\n\n{self.answer}\n\n{reasons}"


class RankedBallot(Answer):
    reasoning: Words
    ranking: list[str]
    stands_behind: list[str]

    def prose(self) -> str:
        return self.reasoning


class Objection(Answer):
    against: str
    objection: Words

    def prose(self) -> str:
        return self.objection


class Rebuttal(Answer):
    rebuttal: Words
    revised: Opinion | None

    def prose(self) -> str:
        return self.rebuttal if self.revised is None else f"{self.rebuttal}\n\nMy answer now: {self.revised.prose()}"


class Synthesis(Answer):
    answer: Words
    departs: bool

    def prose(self) -> str:
        return self.answer


@lru_cache(maxsize=256)
def ballot_over(labels: tuple[str, ...]) -> type[RankedBallot]:
    """Every label once in `ranking`, none twice in `stands_behind`, and no others."""
    some: Any = list[Literal[labels]]  # pyright: ignore[reportInvalidTypeForm]
    once: Any = {"uniqueItems": True}
    whole = Field(min_length=len(labels), max_length=len(labels), json_schema_extra=once)

    def none_twice(value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError("a label occurs twice")
        return value

    checks: dict[str, Any] = {"none_twice": field_validator("ranking", "stands_behind")(none_twice)}
    return create_model(
        "RankedBallot",
        __base__=RankedBallot,
        __validators__=checks,
        ranking=(some, whole),
        stands_behind=(some, Field(max_length=len(labels), json_schema_extra=once)),
    )


@lru_cache(maxsize=256)
def objection_to(labels: tuple[str, ...]) -> type[Objection]:
    label: Any = Literal[labels]  # pyright: ignore[reportInvalidTypeForm]
    return create_model("Objection", __base__=Objection, against=(label, ...))
