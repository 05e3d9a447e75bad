"""The nearest of many vectors, with numpy and without."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import pytest

from moot.memory import vector_index
from moot.memory.vector_index import VectorIndex, cosine
from moot.store import Vector, Vectors
from tests.memory.embedders import vector


class Kept:
    """The part of a store that the index uses."""

    def __init__(self) -> None:
        self.all: list[Vector] = []
        self.read = 0

    def add(self, name: str, embedding: bytes, place: int = 0, *, decided: bool = True, demonstration: bool = False):
        place = place or len(self.all) + 1
        self.all.append(
            Vector(place=place, debate_id=name, decided=decided, demonstration=demonstration, embedding=embedding)
        )
        self.all.sort(key=lambda each: each.place)

    async def vectors(self, embedder: str, after: int = 0, limit: int = 3) -> Vectors:
        some = [each for each in self.all if each.place > after][:limit]
        self.read += len(some)
        return Vectors(total=len(self.all), vectors=some)


@pytest.fixture(params=["numpy", "plain"])
def way(request, monkeypatch) -> Iterator[str]:
    if request.param == "plain":
        monkeypatch.setattr(vector_index, "numpy", lambda: None)
    return request.param


def nearest(near: VectorIndex, kept: Kept, query: bytes, count: int = 2, **kinds: bool) -> list[tuple[str, float]]:
    return asyncio.run(near.nearest(kept, query, count, **kinds))


def test_the_nearest_come_first(way):
    kept = Kept()
    for name, values in {"x": (1, 0), "y": (0, 1), "xy": (1, 1), "-x": (-1, 0)}.items():
        kept.add(name, vector(*values))
    found = nearest(VectorIndex("e"), kept, vector(1, 0.1), 3)
    assert [name for name, _ in found] == ["x", "xy", "y"]
    assert found[0][1] == pytest.approx(0.995, abs=1e-3)


def test_of_equals_the_one_that_came_last(way):
    kept = Kept()
    for n in range(20):
        kept.add(f"d{n}", vector(1, 2, 3))
    assert [name for name, _ in nearest(VectorIndex("e"), kept, vector(1, 2, 3), 3)] == ["d19", "d18", "d17"]


def test_kinds_can_be_left_out(way):
    kept = Kept()
    for name, decided, demonstration in (("real", 1, 0), ("open", 0, 0), ("demo", 1, 1), ("open demo", 0, 1)):
        kept.add(name, vector(1, 0), decided=bool(decided), demonstration=bool(demonstration))
    near = VectorIndex("e")
    assert {name for name, _ in nearest(near, kept, vector(1, 0), 9)} == {"real", "open", "demo", "open demo"}
    assert {name for name, _ in nearest(near, kept, vector(1, 0), 9, decided=True)} == {"real", "demo"}
    assert [n for n, _ in nearest(near, kept, vector(1, 0), 9, decided=True, demonstrations=False)] == ["real"]


def test_only_what_is_new_is_read_again(way):
    kept, near = Kept(), VectorIndex("e")
    for n in range(7):
        kept.add(f"d{n}", vector(n + 1, 1))
    nearest(near, kept, vector(1, 0))
    assert kept.read == 7
    kept.add("new", vector(1, 0))
    assert nearest(near, kept, vector(1, 0))[0][0] == "new"
    assert kept.read == 8


def test_one_that_was_added_out_of_order_is_not_missed(way):
    kept, near = Kept(), VectorIndex("e")
    kept.add("late", vector(0, 1), place=10)
    nearest(near, kept, vector(1, 0))
    kept.add("early", vector(1, 0), place=5)
    assert nearest(near, kept, vector(1, 0))[0][0] == "early"


def test_vectors_of_another_size_are_passed_over(way):
    kept = Kept()
    kept.add("two", vector(1, 0))
    kept.add("three", vector(1, 0, 0))
    near = VectorIndex("e")
    assert [name for name, _ in nearest(near, kept, vector(1, 0, 0))] == ["three"]
    assert nearest(near, kept, vector(1, 0, 0, 0)) == []
    assert cosine(vector(1, 0), vector(1, 0, 0)) == 0.0


def test_many_who_ask_at_once_read_everything_once(way):
    kept, near = Kept(), VectorIndex("e")
    for n in range(9):
        kept.add(f"d{n}", vector(n + 1, 1))

    async def main():
        return await asyncio.gather(*(near.nearest(kept, vector(1, 0), 9) for _ in range(5)))

    first, *others = asyncio.run(main())
    assert len(first) == kept.read == 9
    assert all(other == first for other in others)


def test_both_ways_agree(monkeypatch):
    rng = random.Random(1)
    kept = Kept()
    for n in range(300):
        kept.add(f"d{n}", vector(*(rng.gauss(0, 1) for _ in range(16))), decided=n % 3 > 0)
    query = vector(*(rng.gauss(0, 1) for _ in range(16)))
    fast = nearest(VectorIndex("e"), kept, query, 20, decided=True)
    monkeypatch.setattr(vector_index, "numpy", lambda: None)
    plain = nearest(VectorIndex("e"), kept, query, 20, decided=True)
    assert [name for name, _ in fast] == [name for name, _ in plain]
    assert [score for _, score in fast] == pytest.approx([score for _, score in plain], abs=1e-5)
