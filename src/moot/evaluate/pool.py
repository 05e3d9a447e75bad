"""A pool of independent samples, and what taking k of them is worth: the baselines at any cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb


def plurality_of(k: int, right: int, others: Sequence[int], silent: int) -> float:
    """How often the most frequent answer is right when k samples are drawn, without replacement, from a pool with
    `right` right answers, wrong ones in groups of these sizes, and `silent` samples without an answer. Exact. Where
    several answers are equally frequent, each counts as likely."""
    return _plurality(k, right, tuple(sorted(others)), silent)


@lru_cache(maxsize=200_000)
def _plurality(k: int, right: int, others: tuple[int, ...], silent: int) -> float:
    size = right + sum(others) + silent
    if not 0 < k <= size:
        raise ValueError(f"{k} samples can't be drawn from {size}")
    total = 0.0
    for got in range(1, min(right, k) + 1):
        # ways[drawn][tied]: how to draw so many of the others, none more often than the right one
        ways: dict[tuple[int, int], int] = {(0, 0): 1}
        for group in others:
            longer: dict[tuple[int, int], int] = {}
            for (drawn, tied), count in ways.items():
                for taken in range(min(group, got, k - got - drawn) + 1):
                    at = (drawn + taken, tied + (taken == got))
                    longer[at] = longer.get(at, 0) + count * comb(group, taken)
            ways = longer
        for (drawn, tied), count in ways.items():
            rest = k - got - drawn
            if 0 <= rest <= silent:
                total += comb(right, got) * count * comb(silent, rest) / (1 + tied)
    return total / comb(size, k)


def picked_of(k: int, levels: Sequence[tuple[int, int]], silent: int) -> float:
    """How often the code that passes most examples is right when k samples are drawn, without replacement, from a pool
    with so many right and wrong ones on each level, lowest first, and `silent` samples without any. Exact. Of equals,
    each counts as likely to be picked."""
    size = silent + sum(map(sum, levels))
    if not 0 < k <= size:
        raise ValueError(f"{k} samples can't be drawn from {size}")
    total, below = 0.0, silent
    for right, wrong in levels:
        highest = comb(below + right + wrong, k) - comb(below, k)  # ways in which this level is the highest drawn
        total += highest * right / (right + wrong)
        below += right + wrong
    return total / comb(size, k)


def samples_for(cost: float, sample: float, most: int) -> int:
    """How many samples cost as much as a debate, rounded up in the baseline's favour; at most the pool."""
    if sample <= 0:
        return most
    needed = int(cost / sample)
    return max(1, min(most, needed + (needed * sample < cost - 1e-12)))
