"""Embedders for tests: one that knows given subjects, and one that fails."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence

from moot.core.errors import ModelError, ModelUnavailable
from moot.core.types import Usage


def vector(*values: float) -> bytes:
    length = math.sqrt(sum(value * value for value in values))
    return array("f", [value / length for value in values]).tobytes()


class Topics:
    """A text means the subjects whose words it has. The names of the subjects are never in the texts."""

    def __init__(self, subjects: Mapping[str, Sequence[str]], name: str = "topics") -> None:
        self.name, self._subjects = name, subjects
        self.asked: list[str] = []

    async def __call__(self, texts: Sequence[str], /) -> tuple[list[bytes], Usage]:
        self.asked += texts
        return [self._vector(text) for text in texts], Usage(tokens_in=len(texts), cost_usd=0.001 * len(texts))

    def _vector(self, text: str) -> bytes:
        said = text.casefold()
        return vector(*(float(any(word in said for word in words)) for words in self._subjects.values()), 0.01)


class Broken:
    name = "broken"

    def __init__(self, error: ModelError | None = None) -> None:
        self.error = error or ModelUnavailable("broken was not found. Check its name.")
        self.calls = 0

    async def __call__(self, texts: Sequence[str], /) -> tuple[list[bytes], Usage]:
        self.calls += 1
        raise self.error
