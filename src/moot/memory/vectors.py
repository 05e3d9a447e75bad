"""Vectors as they are stored, and which of many are nearest. With numpy that is fast, without it just as right."""

from __future__ import annotations

import asyncio
import heapq
import importlib
import sys
from array import array
from functools import cache
from operator import mul
from typing import Any

from moot.store import Store, Vector

_DECIDED, _DEMONSTRATION = 1, 2


def cosine(one: bytes, two: bytes) -> float:
    """Of two vectors of length 1; 0 when they are not of one kind."""
    return _dot(_floats(one), _floats(two)) if len(one) == len(two) else 0.0


class Nearness:
    """The vectors of past debates that one embedder made, kept between queries and topped up from the store."""

    def __init__(self, embedder: str) -> None:
        self.embedder = embedder
        self._lock = asyncio.Lock()  # two who read at once would have everything twice
        self._forget()

    async def nearest(
        self, store: Store, vector: bytes, count: int, *, decided: bool = False, demonstrations: bool = True
    ) -> list[tuple[str, float]]:
        """Debates and their cosines, nearest first."""
        async with self._lock:
            await self._refresh(store)
            rows = self._rows.get(len(vector))
            wanted, refused = _DECIDED * decided, _DEMONSTRATION * (not demonstrations)
            return [] if rows is None else rows.nearest(vector, count, wanted, refused)

    async def _refresh(self, store: Store) -> None:
        await self._read(store)
        if self._total != self._seen:
            # Some came in behind our last place, or are gone.
            self._forget()
            await self._read(store)

    def _forget(self) -> None:
        self._place = self._total = self._seen = 0
        # By size: what a provider gives under one name can change, and then the old ones can't be compared.
        self._rows: dict[int, _Rows] = {}

    async def _read(self, store: Store) -> None:
        while True:
            page = await store.vectors(self.embedder, self._place)
            self._total = page.total
            for vector in page.vectors:
                self._rows.setdefault(len(vector.embedding), _Rows()).add(vector)
                self._place = vector.place
            self._seen += len(page.vectors)
            if not page.vectors:
                return


class _Rows:
    def __init__(self) -> None:
        self._ids: list[str] = []
        self._kinds = bytearray()
        self._packed = bytearray()

    def add(self, vector: Vector) -> None:
        self._ids.append(vector.debate_id)
        self._kinds.append(_DECIDED * vector.decided + _DEMONSTRATION * vector.demonstration)
        self._packed += vector.embedding

    def nearest(self, vector: bytes, count: int, wanted: int, refused: int) -> list[tuple[str, float]]:
        np = numpy()
        places = (
            self._plainly(vector, wanted, refused) if np is None else self._fast(np, vector, wanted, refused, count)
        )
        # Of equals, the one that came last: 32-bit sums of the same numbers may differ a little.
        best = heapq.nlargest(count, places, key=lambda place: (round(place[1], 5), place[0]))
        return [(self._ids[at], score) for at, score in best]

    def _plainly(self, vector: bytes, wanted: int, refused: int) -> list[tuple[int, float]]:
        query, size = _floats(vector), len(vector)
        return [
            (at, _dot(query, _floats(self._packed[at * size : (at + 1) * size])))
            for at, kind in enumerate(self._kinds)
            if kind & wanted == wanted and not kind & refused
        ]

    def _fast(self, np: Any, vector: bytes, wanted: int, refused: int, count: int) -> list[tuple[int, float]]:
        matrix = np.frombuffer(self._packed, dtype="<f4").reshape(len(self._ids), -1)
        kinds = np.frombuffer(self._kinds, dtype=np.uint8)
        fitting = np.flatnonzero((kinds & wanted == wanted) & (kinds & refused == 0))
        scores = (matrix @ np.frombuffer(vector, dtype="<f4"))[fitting]
        least = np.partition(scores, -count)[-count] if len(scores) > count else -1.0
        return [(int(fitting[at]), float(scores[at])) for at in np.flatnonzero(scores >= least - 1e-4)]


@cache
def numpy() -> Any:
    """None where it is not installed."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


def _floats(packed: bytes | bytearray) -> array[float]:
    values = array("f", bytes(packed))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _dot(one: array[float], two: array[float]) -> float:
    return sum(map(mul, one, two))
