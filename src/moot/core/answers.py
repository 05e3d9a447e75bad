"""Typed answers to a question: what kind of answer is wanted, and when two answers are the same."""

from __future__ import annotations

import re
from functools import lru_cache
from math import isfinite
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from moot.core.values import Frozen, NonEmpty

AnswerKind = Literal["choice", "number", "text", "code", "patch"]
ANSWER_KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)

_NUMBER = re.compile(r"[-+]?(?:\d[\d,_ ]*)?\.?\d+(?:[eE][-+]?\d+)?%?")
_FRACTION = re.compile(r"^\s*([-+]?\d+)\s*/\s*(\d+)\s*$")
_SPACE = re.compile(r"\s+")


class AnswerSpec(Frozen):
    """The answer that a debate is to come to."""

    kind: AnswerKind = "text"
    options: tuple[NonEmpty, ...] = Field(default=(), max_length=26)  # of a choice: what there is to choose from

    def __hash__(self) -> int:
        return hash((self.kind, self.options))

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.kind != "choice":
            if self.options:
                raise ValueError(f"only a choice has options, not an answer of the kind {self.kind!r}")
            return self
        if len(self.options) < 2:
            raise ValueError("a choice needs at least two options")
        if len({each.casefold() for each in self.options}) < len(self.options):
            raise ValueError("two options are the same")
        return self


def written_number(value: float) -> str:
    """A number as answers write it: whole numbers without a fraction."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def number_in(text: str) -> float | None:
    """The number that a text is, or the last that it has; None if it has none."""
    if fraction := _FRACTION.match(text):
        return int(fraction[1]) / int(fraction[2]) if int(fraction[2]) else None
    found = _NUMBER.findall(text)
    if not found:
        return None
    read = re.sub(r"[,_ %]", "", found[-1])
    try:
        value = float(read)
    except ValueError:
        return None
    return value if isfinite(value) else None


@lru_cache(maxsize=8192)
def same_as(value: str, spec: AnswerSpec) -> str:
    """The form in which two answers are compared: they are the same if and only if their forms are equal."""
    if spec.kind == "choice":
        return next((each for each in spec.options if each.casefold() == value.strip().casefold()), value.strip())
    if spec.kind == "number":
        number = number_in(value)
        return value.strip() if number is None else written_number(number)
    if spec.kind == "text":
        return _SPACE.sub(" ", value).strip(" .,;:!?\"'`*").casefold()
    return value.strip()
