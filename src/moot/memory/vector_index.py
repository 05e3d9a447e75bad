"""Nearest-neighbour search over the stored vectors of past debates; fast with numpy, the same results without."""

from __future__ import annotations

import asyncio
import heapq
import importlib
import sys
from array import array
from functools import cache
from operator import mul
from typing import Any

from moot.store import Memories, Vector

_DECIDED, _DEMONSTRATION = 1, 2


def cosine(one: bytes, two: bytes) -> float:
    """Cosine of two vectors of length 1; 0 if their dimensions differ."""
    return _dot(_floats(one), _floats(two)) if len(one) == len(two) else 0.0


class VectorIndex:
    """The vectors that one embedder made of past debates, cached between queries and refreshed from the store."""

    def __init__(self, embedder: str) -> None:
        self.embedder = embedder
        self._lock = asyncio.Lock()  # concurrent refreshes would add every vector twice
        self._forget()

    async def nearest(
        self, store: Memories, vector: bytes, count: int, *, decided: bool = False, demonstrations: bool = True
    ) -> list[tuple[str, float]]:
        """Debates and their cosines, nearest first."""
        async with self._lock:
            await self._refresh(store)
            rows = self._rows.get(len(vector))
            wanted, refused = _DECIDED * decided, _DEMONSTRATION * (not demonstrations)
            return [] if rows is None else rows.nearest(vector, count, wanted, refused)

    async def _refresh(self, store: Memories) -> None:
        await self._read(store)
        if self._total != self._seen:
            # Vectors were added before the last place read, or deleted.
            self._forget()
            await self._read(store)

    def _forget(self) -> None:
        self._place = self._total = self._seen = 0
        # By size, since a provider may change the dimensions behind a name.
        self._rows: dict[int, _Rows] = {}

    async def _read(self, store: Memories) -> None:
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
            self._in_python(vector, wanted, refused)
            if np is None
            else self._in_numpy(np, vector, wanted, refused, count)
        )
        # Rounded, since 32-bit sums may differ a little; of equal scores, the latest comes first.
        best = heapq.nlargest(count, places, key=lambda place: (round(place[1], 5), place[0]))
        return [(self._ids[at], score) for at, score in best]

    def _in_python(self, vector: bytes, wanted: int, refused: int) -> list[tuple[int, float]]:
        query, size = _floats(vector), len(vector)
        return [
            (at, _dot(query, _floats(self._packed[at * size : (at + 1) * size])))
            for at, kind in enumerate(self._kinds)
            if kind & wanted == wanted and not kind & refused
        ]

    def _in_numpy(self, np: Any, vector: bytes, wanted: int, refused: int, count: int) -> list[tuple[int, float]]:
        matrix = np.frombuffer(self._packed, dtype="<f4").reshape(len(self._ids), -1)
        kinds = np.frombuffer(self._kinds, dtype=np.uint8)
        fitting = np.flatnonzero((kinds & wanted == wanted) & (kinds & refused == 0))
        scores = (matrix @ np.frombuffer(vector, dtype="<f4"))[fitting]
        least = np.partition(scores, -count)[-count] if len(scores) > count else -1.0
        return [(int(fitting[at]), float(scores[at])) for at in np.flatnonzero(scores >= least - 1e-4)]


@cache
def numpy() -> Any:
    """The numpy module, or None if it is not installed."""
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
