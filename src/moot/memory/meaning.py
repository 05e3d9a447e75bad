"""One use of the embedder: its vectors, what they cost, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from moot.errors import ModelError
from moot.types import Embedder, Usage

BATCH = 64  # texts in one call
BY_WORDS = "bm25"


class Meaning:
    def __init__(self, embedder: Embedder | None, problem: str = "") -> None:
        self._embedder = embedder
        self.usage = Usage()
        self.note = f"Only words were compared. {problem}" if problem else ""

    @property
    def name(self) -> str:
        """Of the embedder; empty when there is none, or it has failed."""
        return "" if self._embedder is None or self.note else self._embedder.name

    @property
    def by(self) -> str:
        return f"{BY_WORDS} + {self.name}" if self.name else BY_WORDS

    async def of(self, texts: Sequence[str]) -> list[bytes] | None:
        """None when there is no embedder, or it has failed once; then `note` says why."""
        if self._embedder is None or self.note:
            return None
        vectors: list[bytes] = []
        try:
            for start in range(0, len(texts), BATCH):
                some, usage = await self._embedder(texts[start : start + BATCH])
                vectors += some
                self.usage += usage
        except ModelError as error:
            self.usage += error.usage or Usage()
            self.note = f"Only words were compared. {error}"
            return None
        return vectors
