"""The typed answers of moderator and panelists."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, create_model

from moot.core.types import Answer, Level
from moot.formats.shared import small

MAX_PERSPECTIVES = 4

# Bounds far beyond a sensible answer: without them, a small model that rambles would never close its JSON.
Line = Annotated[str, StringConstraints(max_length=600)]
Lines = Annotated[list[Line], Field(max_length=8)]


class Framing(Answer):
    framing: Line = Field(min_length=1)
    domain: Line
    constraints: Lines
    debaters: int = Field(ge=2, le=MAX_PERSPECTIVES)
    perspectives: Lines

    def prose(self) -> str:
        """The question as it is put to the panel, and its constraints."""
        return "\n".join([self.framing, *(f"- {each}" for each in self.constraints if each.strip())])


class Analysis(Framing):
    clarifying_question: Line


class Rebuttal(Answer):
    rebuttal: str = Field(min_length=1)
    recommendation: Line = Field(min_length=1)
    position: Literal["hold", "concede", "agree"]
    concedes_to: Line

    def prose(self) -> str:
        return f"{self.rebuttal}\n\nRecommends: {self.recommendation}"


class Assessment(Answer):
    summary: str = Field(min_length=1)
    state: Literal["converging", "stagnating", "new_ground"]
    off_topic: Lines
    redirect: Line
    mute: Lines

    def prose(self) -> str:
        left = ", ".join(name for name in self.off_topic if name.strip())
        parts = [
            self.summary,
            f"Left the question: {left}." if left else "",
            f"Next: {self.redirect}" if self.redirect.strip() else "",
        ]
        return "\n\n".join(filter(None, parts))


class Synthesis(Answer):
    recommendation: str = Field(min_length=1)
    confidence: Level
    caveats: Lines
    agreements: Lines
    tensions: Lines
    dissent: str

    def prose(self) -> str:
        return self.recommendation


# For small models: short texts, few items, and names only from a list.

ShortLines = Annotated[list[small.Line], Field(max_length=2)]
MaybeLine = Annotated[str, StringConstraints(max_length=small.LINE_CHARS)]


class ShortFraming(Framing):
    """With answers that exclude each other, one for each perspective: small models that are left to themselves all want
    the same."""

    options: list[small.Phrase]


class ShortSynthesis(Synthesis):
    recommendation: small.Passage
    caveats: ShortLines
    agreements: ShortLines
    tensions: ShortLines
    dissent: MaybeLine


@lru_cache(maxsize=64)
def short_framing(names: tuple[str, ...], count: int) -> type[ShortFraming]:
    some: Any = list[Literal[names]]  # pyright: ignore[reportInvalidTypeForm]
    return create_model(
        "Framing",
        __base__=ShortFraming,
        framing=(small.Line, ...),
        domain=(MaybeLine, ...),
        constraints=(ShortLines, ...),
        perspectives=(some, Field(min_length=1, max_length=MAX_PERSPECTIVES)),
        options=(list[small.Phrase], Field(min_length=count, max_length=count)),
    )


@lru_cache(maxsize=64)
def short_rebuttal(names: tuple[str, ...]) -> type[Rebuttal]:
    one: Any = Literal["", *names]
    return create_model(
        "Rebuttal",
        __base__=Rebuttal,
        rebuttal=(small.Passage, ...),
        recommendation=(small.Line, ...),
        concedes_to=(one, ...),
    )


@lru_cache(maxsize=64)
def short_assessment(names: tuple[str, ...]) -> type[Assessment]:
    some: Any = Annotated[list[Literal[names]], Field(max_length=len(names))]  # pyright: ignore[reportInvalidTypeForm]
    return create_model(
        "Assessment",
        __base__=Assessment,
        summary=(small.Passage, ...),
        off_topic=(some, ...),
        redirect=(MaybeLine, ...),
        mute=(some, ...),
    )
