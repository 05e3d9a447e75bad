"""A pool of independent samples, and what taking k of them is worth: the baselines at any cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import ceil, comb, prod
from random import Random
from typing import NamedTuple

from moot.core.types import record

MOST_WAYS = 20_000  # votes of two groups that are counted together; beyond that, they are drawn
DRAWS = 1_000


class Votes(NamedTuple):
    """The samples of one model: how often it gave each answer, the right one first, and how often none."""

    counts: tuple[int, ...] = ()
    silent: int = 0

    @property
    def size(self) -> int:
        return sum(self.counts) + self.silent


@record
class Pool:
    """The samples of one item in one epoch. Answers are voted on; code is picked by the examples of the question.

    Where several models vote, each has as many samples among those that are drawn, as far as it has so many."""

    votes: tuple[Votes, ...] = ()  # of each model; of one group where models don't matter. Answers have the same places
    levels: tuple[tuple[int, int], ...] = ()  # of code: right and wrong, by examples that they pass, fewest first
    missed: int = 0  # samples that were never given: a provider failed, or a limit was reached

    @property
    def size(self) -> int:
        return sum(each.size for each in self.votes) + sum(map(sum, self.levels))

    @property
    def silent(self) -> int:
        return sum(each.silent for each in self.votes)

    @property
    def mixed(self) -> Pool:
        """The same samples, whichever model they are of."""
        if len(self.votes) < 2:
            return self
        counts = tuple(sum(each) for each in zip(*(each.counts for each in self.votes), strict=True))
        return Pool(votes=(Votes(counts=counts, silent=self.silent),), missed=self.missed)

    def drawn(self, k: int) -> int:
        """How many samples are drawn where `k` are asked for."""
        return min(k, self.size) if len(self.votes) < 2 else sum(self._shares(k))

    def _shares(self, k: int) -> list[int]:
        turns = ceil(k / len(self.votes))
        return [min(turns, each.size) for each in self.votes]

    def score(self, k: int) -> float:
        """How likely the answer of k samples is right."""
        if not self.size:
            return 0.0
        if self.levels:
            return picked_of(min(k, self.size), self.levels, self.silent)
        if len(self.votes) == 1:
            right, *others = self.votes[0].counts or (0,)
            return plurality_of(min(k, self.size), right, [each for each in others if each], self.silent)
        return plurality_of_groups(self._shares(k), self.votes)

    def no_answer(self, k: int) -> float:
        """How likely none of k samples has an answer."""
        if not self.size:
            return 1.0
        if len(self.votes) < 2:
            k = min(k, self.size)
            return comb(self.silent, k) / comb(self.size, k)
        shares = zip(self._shares(k), self.votes, strict=True)
        return prod(comb(each.silent, share) / comb(each.size, share) for share, each in shares)


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


def plurality_of_groups(shares: Sequence[int], groups: Sequence[Votes]) -> float:
    """How often the most frequent answer is right when so many samples are drawn, without replacement, from each group.
    Exact, unless there are very many ways to draw them: then over draws that are the same for the same groups."""
    in_order = sorted(zip(shares, groups, strict=True))
    return _grouped(tuple(share for share, _ in in_order), tuple(group for _, group in in_order))


@lru_cache(maxsize=50_000)
def _grouped(shares: tuple[int, ...], groups: tuple[Votes, ...]) -> float:
    ways: dict[tuple[int, ...], int] = {tuple(0 for _ in groups[0].counts): 1}
    for share, group in zip(shares, groups, strict=True):
        own = _ways(share, group)
        if own is None or len(ways) * len(own) > MOST_WAYS:
            return _drawn_groups(shares, groups)
        longer = Counter[tuple[int, ...]]()
        for (votes, count), (more, times) in product(ways.items(), own.items()):
            longer[tuple(a + b for a, b in zip(votes, more, strict=True))] += count * times
        ways = dict(longer)
    total = sum(ways.values())
    return sum(_right(votes) * count for votes, count in ways.items()) / total


def _ways(share: int, group: Votes) -> dict[tuple[int, ...], int] | None:
    """The votes that so many samples of a group can give, with how many ways there are to draw each; None: too many."""
    ways: dict[tuple[int, ...], int] = {(): 1}
    left = group.size  # samples from which the rest is drawn
    for size in group.counts:
        left -= size
        ways = {
            (*votes, taken): count * comb(size, taken)
            for votes, count in ways.items()
            for taken in range(max(0, share - sum(votes) - left), min(size, share - sum(votes)) + 1)
        }
        if len(ways) > MOST_WAYS:
            return None
    return {votes: count * comb(group.silent, share - sum(votes)) for votes, count in ways.items()}


def _drawn_groups(shares: Sequence[int], groups: Sequence[Votes]) -> float:
    rng = Random(repr((shares, groups)))
    answers = range(len(groups[0].counts))
    total = 0.0
    for _ in range(DRAWS):
        votes = Counter[int]()
        for share, group in zip(shares, groups, strict=True):
            if not share:  # of a model that gave none
                continue
            votes.update(rng.sample([*answers, -1], share, counts=[*group.counts, group.silent]))
        total += _right([votes[at] for at in answers])
    return total / DRAWS


def _right(votes: Sequence[int]) -> float:
    """How likely the most frequent of these answers is the first of them."""
    most = max(votes, default=0)
    return (votes[0] == most) / votes.count(most) if most else 0.0


def samples_for(cost: float, sample: float, most: int) -> int:
    """How many samples cost as much as a debate, rounded up in the baseline's favour; at most the pool."""
    if sample <= 0:
        return most
    needed = int(cost / sample)
    return max(1, min(most, needed + (needed * sample < cost - 1e-12)))
