"""What k samples of a pool are worth, against counting every way to draw them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.evaluate import pool
from moot.evaluate.pool import Pool, Votes, picked_of, plurality_of, plurality_of_groups, samples_for


def of_groups(shares: list[int], groups: list[Votes]) -> float:
    """Every way to draw so many of each group is counted."""
    each_way = [
        list(combinations([n for n, size in enumerate(group.counts) for _ in range(size)] + [-1] * group.silent, share))
        for share, group in zip(shares, groups, strict=True)
    ]
    total = ways = 0.0
    for drawn in product(*each_way):
        ways += 1
        votes = Counter(each for part in drawn for each in part if each >= 0)
        leading = [each for each, count in votes.items() if count == max(votes.values())]
        total += (0 in leading) / max(1, len(leading))
    return total / ways


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4), st.lists(st.integers(1, 3), max_size=3), st.integers(0, 2), st.integers(1, 9))
def test_the_plurality_of_k_samples_is_exact(right: int, others: list[int], silent: int, k: int):
    size = right + sum(others) + silent
    if size == 0:
        return
    k = min(k, size)
    assert isclose(
        plurality_of(k, right, others, silent), of_groups([k], [Votes((right, *others), silent)]), abs_tol=1e-12
    )


def picked(k: int, levels: list[tuple[int, int]], silent: int) -> float:
    pool = [(n, True) for n, (right, _) in enumerate(levels) for _ in range(right)]
    pool += [(n, False) for n, (_, wrong) in enumerate(levels) for _ in range(wrong)] + [(-1, False)] * silent
    total = ways = 0.0
    for drawn in combinations(pool, k):
        ways += 1
        leading = [right for level, right in drawn if level == max(drawn)[0]]
        total += sum(leading) / len(leading)
    return total / ways


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=4), st.integers(0, 2), st.integers(1, 9))
def test_the_best_of_k_samples_by_its_examples_is_exact(levels: list[tuple[int, int]], silent: int, k: int):
    levels = [each for each in levels if sum(each)]
    size = silent + sum(map(sum, levels))
    if size == 0:
        return
    k = min(k, size)
    assert isclose(picked_of(k, levels, silent), picked(k, levels, silent), abs_tol=1e-12)


def test_one_sample_is_the_mean_of_the_pool():
    assert plurality_of(1, 3, [1, 1], 5) == 0.3
    with pytest.raises(ValueError, match="6 samples"):
        plurality_of(6, 3, [2], 0)


def test_samples_are_rounded_up_in_the_baselines_favour():
    assert samples_for(10.0, 3.0, 32) == 4
    assert samples_for(9.0, 3.0, 32) == 3
    assert samples_for(1000.0, 3.0, 32) == 32
    assert samples_for(0.1, 3.0, 32) == 1
    assert samples_for(5.0, 0.0, 32) == 32


GROUP = st.builds(
    lambda counts, silent: Votes(tuple(counts), silent),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.integers(0, 2),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(GROUP, st.integers(0, 3)), min_size=2, max_size=3))
def test_the_plurality_of_samples_from_each_model_is_exact(drawn: list[tuple[Votes, int]]):
    groups, shares = [group for group, _ in drawn], [min(share, group.size) for group, share in drawn]
    assert isclose(plurality_of_groups(shares, groups), of_groups(shares, groups), abs_tol=1e-12)


def test_one_sample_from_each_of_three_models_is_more_than_three_of_all():
    three = Pool(votes=(Votes((3, 0), 0), Votes((3, 0), 0), Votes((0, 3), 0)))
    assert (three.score(3), three.drawn(2), three.drawn(3), three.drawn(4)) == (1.0, 3, 3, 6)
    assert three.mixed.score(3) < 0.8


def test_very_many_ways_to_draw_are_drawn_from_and_always_alike(monkeypatch: pytest.MonkeyPatch):
    groups = [Votes((4, 2, 1), 1), Votes((2, 3, 1), 2)]
    exact = plurality_of_groups([3, 3], groups)
    monkeypatch.setattr(pool, "MOST_WAYS", 10)
    drawn = pool._grouped.__wrapped__((3, 3), tuple(groups))
    assert abs(drawn - exact) < 0.05
    assert drawn == pool._grouped.__wrapped__((3, 3), tuple(groups)) != exact
