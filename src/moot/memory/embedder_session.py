"""One use of the embedder: its vectors, what they cost, and why it failed."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.errors import ModelError
from moot.core.types import Embedder, Usage

BATCH = 64  # texts in one call
BY_WORDS = "bm25"


class EmbedderSession:
    """Embeds texts until the embedder fails; after that, `embed` returns None and `note` says why."""

    def __init__(self, embedder: Embedder | None, problem: str = "") -> None:
        self._embedder = embedder
        self.usage = Usage()
        self.note = f"Only words were compared. {problem}" if problem else ""

    @property
    def name(self) -> str:
        """The embedder's name; empty if there is none, or it has failed."""
        return "" if self._embedder is None or self.note else self._embedder.name

    @property
    def method(self) -> str:
        """How texts are compared: by words, or by words and this embedder."""
        return f"{BY_WORDS} + {self.name}" if self.name else BY_WORDS

    async def embed(self, texts: Sequence[str]) -> list[bytes] | None:
        """A vector for each text, or None without a working embedder."""
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
