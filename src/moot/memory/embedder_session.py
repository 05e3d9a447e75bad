"""One use of the embedder: its vectors, what they cost, and why it failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from moot.core.errors import ModelError, OverBudget, StoreError
from moot.core.types import Embedder, Usage
from moot.memory.paying import Account, Payer, TooDear

BATCH = 64  # texts in one call
BY_WORDS = "bm25"

Keep = Callable[[Sequence[str], Sequence[bytes]], Awaitable[None]]  # texts and their vectors


class EmbedderSession:
    """Embeds texts until the embedder fails, or what may be spent on it is used up; after that, `embed` returns None
    and `note` says why."""

    def __init__(self, embedder: Embedder | None, account: Account, payer: Payer, problem: str = "") -> None:
        self._embedder, self._account, self._payer = embedder, account, payer
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

    async def embed(self, texts: Sequence[str], keep: Keep | None = None) -> list[bytes] | None:
        """A vector for each text, or None without a working embedder. `keep` gets the vectors of each call as they
        come, so that those that were paid for outlast a call that fails."""
        if self._embedder is None or self.note:
            return None
        vectors: list[bytes] = []
        try:
            for start in range(0, len(texts), BATCH):
                asked = texts[start : start + BATCH]
                some, usage = await self._account.call(self._embedder, asked, self._left)
                vectors += some
                self.usage += usage
                if keep is not None:
                    await keep(asked, some)
        except ModelError as error:
            self.usage += error.usage or Usage()
            self.note = f"Only words were compared. {error}"
            return None
        except (TooDear, OverBudget, StoreError) as error:
            self.note = f"Only words were compared. {error}"
            return None
        return vectors

    @property
    def _left(self) -> Payer:
        """The payer, with what is left of their room."""
        room = self._payer.room_usd
        return self._payer if room is None else replace(self._payer, room_usd=room - (self.usage.cost_usd or 0.0))
