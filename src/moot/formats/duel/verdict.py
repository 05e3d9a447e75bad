"""The typed answers of a duel's judge. Their shapes depend on the debaters' names."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model, field_validator, model_validator

from moot.core.reading import matched, with_names_matched
from moot.core.types import Answer


class ChoiceOfWinner(Answer):
    winner: str

    def prose(self) -> str:
        return self.winner


class VerdictOnRecord(Answer):
    winner: str
    scores: Any

    def points(self, name: str) -> int:
        return self._by_name()[name]

    def prose(self) -> str:
        return f"{self.winner} won; " + ", ".join(f"{name} {score}" for name, score in self._by_name().items()) + "."

    def _by_name(self) -> dict[str, int]:
        return self.scores.model_dump(by_alias=True)


@lru_cache(maxsize=256)
def choice_between(a: str, b: str) -> type[ChoiceOfWinner]:
    names: Any = Literal[a, b]  # pyright: ignore[reportInvalidTypeForm]
    return create_model("ChoiceOfWinner", __base__=ChoiceOfWinner, winner=(names, ...))


@lru_cache(maxsize=256)
def record_for(a: str, b: str, winner: str) -> type[VerdictOnRecord]:
    """The shape of a recorded verdict: the confirmed winner, and scores that don't contradict it."""
    loser = b if winner == a else a
    confirmed: Any = Annotated[
        Literal[winner],  # pyright: ignore[reportInvalidTypeForm]
        BeforeValidator(lambda value: matched(value, (a, b))),
    ]

    def by_name(value: Any) -> Any:
        return with_names_matched(value, (a, b))

    matching: dict[str, Any] = {"by_name": model_validator(mode="before")(by_name)}
    scores: Any = create_model(
        "Scores",
        __base__=Answer,
        __validators__=matching,
        first=(int, Field(ge=0, le=10, alias=a)),
        second=(int, Field(ge=0, le=10, alias=b)),
    )

    def consistent(value: Any) -> Any:
        given = value.model_dump(by_alias=True)
        if given[winner] <= given[loser]:
            raise ValueError(f"{winner!r} won, but does not have the higher score")
        return value

    checks: dict[str, Any] = {"consistent": field_validator("scores")(consistent)}
    return create_model(
        "VerdictOnRecord",
        __base__=VerdictOnRecord,
        __validators__=checks,
        winner=(confirmed, ...),
        scores=(scores, ...),
    )
