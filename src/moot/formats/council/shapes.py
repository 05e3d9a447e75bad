"""The typed answers of members and chair. The shape of a ballot depends on the labels that its voter was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, ConfigDict, Field, create_model, field_validator, model_validator

from moot.core.answers import AnswerSpec
from moot.core.types import Answer, Json, NonEmpty
from moot.formats.shared.answer import final_in, with_final
from moot.formats.shared.small import SAID_AGAIN, Conclusion, Line, Passage, Remark, in_sentences, said_once
from moot.reasoning.repetition import repetition
from moot.reasoning.statements import flaw_of


class Opinion(Answer):
    position: NonEmpty = Field(max_length=600)
    answer: NonEmpty
    reasons: list[NonEmpty] = Field(min_length=1, max_length=6)
    confidence: int = Field(ge=0, le=100)  # never shown to other members: it persuades without being a reason

    @property
    def flaw(self) -> str:
        """Why it can't be voted for, to follow "the answer"; empty if it can."""
        return next(filter(None, (flaw_of(text, "stop") for text in (self.position, self.answer))), "")

    def prose(self) -> str:
        reasons = "\n".join(f"- {reason}" for reason in self.reasons)
        final = final_in(self)
        return f"{self.position}\n\n{self.answer}\n\n{reasons}" + ("" if final is None else f"\n\nAnswer: {final}")


class ShortOpinion(Opinion):
    position: Conclusion
    answer: Passage
    reasons: Annotated[list[Remark], AfterValidator(said_once)] = Field(min_length=1, max_length=2)


class RankedBallot(Answer):
    reasoning: NonEmpty
    ranking: list[str]
    stands_behind: list[str]

    def prose(self) -> str:
        return self.reasoning


def _best_before_ranking(schema: Json) -> None:
    """A model writes fields in the schema's order."""
    properties = schema["properties"]
    schema["properties"] = {name: properties[name] for name in ("reasoning", "best", "ranking", "stands_behind")}


class ShortBallot(RankedBallot):
    """A small model ranks in the order in which it has read, whatever its reasoning says: what it calls the best comes
    first."""

    model_config = ConfigDict(json_schema_extra=_best_before_ranking)

    reasoning: Line
    best: str

    @model_validator(mode="before")
    @classmethod
    def _best_first(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        said = cast("Mapping[str, Any]", given)
        ranking: Any = said.get("ranking")
        if not isinstance(ranking, list):
            return said
        return {**said, "ranking": sorted(cast("list[Any]", ranking), key=lambda label: label != said.get("best"))}


class Objection(Answer):
    against: str
    objection: NonEmpty

    def prose(self) -> str:
        return self.objection


class Rebuttal(Answer):
    rebuttal: NonEmpty
    revised: Opinion | None

    def prose(self) -> str:
        return self.rebuttal if self.revised is None else f"{self.rebuttal}\n\nMy answer now: {self.revised.prose()}"


class Synthesis(Answer):
    answer: NonEmpty
    departs: bool

    def prose(self) -> str:
        return self.answer


class ShortSynthesis(Answer):
    """What a small model writes as the chair, to follow the conclusion of the answer that ranks first. It would not
    reliably keep to that if it wrote the conclusion itself."""

    reason: Line
    exception: Line

    def prose(self) -> str:
        return in_sentences(self.reason, self.exception)

    def after(self, conclusion: str, said: Sequence[str]) -> str:
        """The council's answer. Sentences that copy what members have `said` are left out."""
        own = (line for line in (self.reason, self.exception) if repetition(line, said) < SAID_AGAIN)
        return in_sentences(conclusion, *own)


def opinion_shape(spec: AnswerSpec | None, *, short: bool) -> type[Opinion]:
    """The shape of an opinion, with the typed answer that is asked for, if one is."""
    base: type[Opinion] = ShortOpinion if short else Opinion
    return base if spec is None else with_final(base, spec)


@lru_cache(maxsize=256)
def rebuttal_shape(spec: AnswerSpec | None, *, short: bool) -> type[Rebuttal]:
    if spec is None and not short:
        return Rebuttal
    revised: Any = opinion_shape(spec, short=short) | None
    words: Any = Passage if short else NonEmpty
    return create_model("Rebuttal", __base__=Rebuttal, rebuttal=(words, ...), revised=(revised, ...))


@lru_cache(maxsize=256)
def ballot_over(labels: tuple[str, ...], *, short: bool = False) -> type[RankedBallot]:
    """A ballot with every label exactly once in `ranking`, and at most once in `stands_behind`."""
    some: Any = list[Literal[labels]]  # pyright: ignore[reportInvalidTypeForm]
    once: Any = {"uniqueItems": True}
    whole = Field(min_length=len(labels), max_length=len(labels), json_schema_extra=once)

    def none_twice(value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError("a label occurs twice")
        return value

    checks: dict[str, Any] = {"none_twice": field_validator("ranking", "stands_behind")(none_twice)}
    one: Any = Literal[labels]  # pyright: ignore[reportInvalidTypeForm]
    best: dict[str, Any] = {"best": (one, ...)} if short else {}
    return create_model(
        "RankedBallot",
        __base__=ShortBallot if short else RankedBallot,
        __validators__=checks,
        **best,
        ranking=(some, whole),
        stands_behind=(some, Field(max_length=len(labels), json_schema_extra=once)),
    )


@lru_cache(maxsize=256)
def objection_to(labels: tuple[str, ...], *, short: bool = False) -> type[Objection]:
    label: Any = Literal[labels]  # pyright: ignore[reportInvalidTypeForm]
    words: Any = Passage if short else NonEmpty
    return create_model("Objection", __base__=Objection, against=(label, ...), objection=(words, ...))
