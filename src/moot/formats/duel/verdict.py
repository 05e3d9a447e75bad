"""The shapes in which a duel's judge rules; they depend on what the two debaters are called."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from pydantic import ConfigDict, Field, create_model, field_validator

from moot.types import Answer


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
    """The verdict as this judge must record it: the confirmed winner, and scores that do not contradict it."""
    loser = b if winner == a else a
    confirmed: Any = Literal[winner]  # pyright: ignore[reportInvalidTypeForm]
    scores: Any = create_model(
        "Scores",
        __config__=ConfigDict(extra="forbid", frozen=True),
        first=(int, Field(ge=0, le=10, alias=a)),
        second=(int, Field(ge=0, le=10, alias=b)),
    )

    def consistent(value: Any) -> Any:
        given = value.model_dump(by_alias=True)
        if given[winner] < given[loser]:
            raise ValueError(f"{winner!r} won, but has the lower score")
        return value

    checks: dict[str, Any] = {"consistent": field_validator("scores")(consistent)}
    return create_model(
        "VerdictOnRecord",
        __base__=VerdictOnRecord,
        __validators__=checks,
        winner=(confirmed, ...),
        scores=(scores, ...),
    )
