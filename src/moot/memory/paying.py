"""What embeddings may cost: reserved before each call, and booked for the one who pays."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence

from moot.core.ceilings import Reserved, daily, in_money
from moot.core.errors import MootError, OverBudget
from moot.core.settings import Ceilings
from moot.core.types import Embedder, Price, Usage, record
from moot.store import Store

OVERHEAD = 8  # tokens that a server may add to a text


class TooDear(MootError):
    """The limits leave too little for a call of the embedder."""


@record
class Payer:
    token_id: str = ""  # the access token that pays; empty: the local user
    room_usd: float | None = None  # what the limits of its debate leave; None: there are none


class Account:
    """Calls an embedder at a payer's expense, within the operator's ceilings."""

    def __init__(
        self, store: Callable[[], Store], price: Callable[[], Price | None], ceilings: Callable[[], Ceilings]
    ) -> None:
        """`price`: of the embedder; None: it is not known."""
        self._store, self._price, self._ceilings = store, price, ceilings

    def most_usd(self, texts_bytes: int) -> float | None:
        """The most that texts of so many bytes may cost: no tokenizer makes more tokens than there are bytes. None: the
        price is not known."""
        price = self._price()
        return None if price is None else price.of(texts_bytes, 0)

    async def call(self, embedder: Embedder, texts: Sequence[str], payer: Payer) -> tuple[list[bytes], Usage]:
        """Raises TooDear or OverBudget, with nothing spent, and what the embedder raises."""
        most, ceilings = self.most_usd(sum(len(text.encode()) + OVERHEAD for text in texts)), self._ceilings()
        if most == 0:
            return await embedder(texts)
        if most is None and (payer.room_usd is not None or in_money(ceilings)):
            raise TooDear(f"The price of {embedder.name} is not known, so limits on costs could not be kept.")
        if most is not None and payer.room_usd is not None and most > payer.room_usd:
            raise TooDear(f"${payer.room_usd:.4f} is left for {embedder.name}, which could cost more.")
        return await self._booked(embedder, texts, payer, most or 0.0, ceilings)

    async def _booked(
        self, embedder: Embedder, texts: Sequence[str], payer: Payer, most: float, ceilings: Ceilings
    ) -> tuple[list[bytes], Usage]:
        store, name = self._store(), f"embedding/{uuid.uuid4()}"
        refused: OverBudget | None = None
        if daily(ceilings):
            refused = await store.reserve(name, payer.token_id, 0, Reserved(cost_usd=most), ceilings)
        if refused is not None:
            raise refused
        used = Usage(cost_usd=most)  # unless it is known better: the caller may go away
        try:
            vectors, used = await embedder(texts)
            return vectors, used
        except MootError:
            used = Usage()
            raise
        finally:
            await asyncio.shield(store.book(name, payer.token_id, 0, used))
