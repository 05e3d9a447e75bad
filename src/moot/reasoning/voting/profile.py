"""Ballots made ready for counting: equal ones together, with exact weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import lcm

from moot.core.poll import Ballot, Candidate

Table = list[list[int]]
Places = tuple[tuple[str, ...], ...]


class BallotError(ValueError):
    """A ballot that can't be counted: it ranks what is no candidate, the same twice, or its own voter's."""


class Profile:
    """All valid ballots of a vote. Each method reads from it what it needs.

    A voter can rank every candidate but its own. Candidates that it could have ranked and did not share the place below
    those that it ranks; its own are not compared with anything. So no figure here depends on how many ballots could not
    rank a candidate.
    """

    def __init__(self, candidates: Sequence[Candidate], ballots: Iterable[Ballot], *, weighs: bool = True) -> None:
        """`weighs`: a ballot of weight 2 counts as two; otherwise each counts once. Raises BallotError."""
        self.candidates = tuple(each.id for each in candidates)
        self._bit = {name: 1 << n for n, name in enumerate(self.candidates)}  # sets of candidates are sums of these
        if not self.candidates:
            raise BallotError("there is nothing to vote for")
        if len(self._bit) != len(self.candidates):
            raise BallotError("two candidates have the same id")
        own: dict[str, int] = {}  # by author, the set of its candidates
        for each in candidates:
            if each.author:
                own[each.author] = own.get(each.author, 0) | self._bit[each.id]
        self.ballots = tuple(ballots)
        self.abstained = 0
        # Sums of whole numbers, apart for each denominator: adding fractions would take most of the time.
        counted: dict[int, dict[tuple[tuple[str, ...], int], int]] = {1: {}}
        for ballot in self.ballots:
            if not ballot.ranking:
                self.abstained += 1
                continue
            weight, scale = (ballot.weight.numerator, ballot.weight.denominator) if weighs else (1, 1)
            sums = counted.get(scale)
            if sums is None:
                sums = counted[scale] = {}
            group = (ballot.ranking, own.get(ballot.voter, 0))
            sums[group] = sums.get(group, 0) + weight
        self._scale = lcm(*counted)
        self._groups = [
            (self._checked(ranking, mine), mine, weight * (self._scale // scale))
            for scale, sums in counted.items()
            for (ranking, mine), weight in sums.items()
        ]

    def _checked(self, ranking: tuple[str, ...], own: int) -> tuple[int, ...]:
        """The ranking as bits."""
        try:
            order = tuple(map(self._bit.__getitem__, ranking))
        except KeyError as unknown:
            raise BallotError(f"a ballot ranks {unknown}, which is no candidate") from None
        if len(set(order)) != len(order):
            raise BallotError(f"a ballot ranks the same twice: {', '.join(ranking)}")
        if own and any(own & bit for bit in order):
            raise BallotError(f"a ballot ranks its own voter's: {', '.join(ranking)}")
        return order

    @property
    def voters(self) -> int:
        return len(self.ballots)

    @property
    def valid(self) -> int:
        return self.voters - self.abstained

    @cached_property
    def total(self) -> Fraction:
        """The weight of all valid ballots."""
        return Fraction(sum(weight for _, _, weight in self._groups), self._scale)

    @cached_property
    def first_places(self) -> dict[str, Fraction]:
        """The weight of the ballots that rank each candidate first."""
        counted = [0] * len(self.candidates)
        for order, _, weight in self._groups:
            counted[order[0].bit_length() - 1] += weight
        return self._exact(counted)

    @cached_property
    def could_rank(self) -> dict[str, Fraction]:
        """The weight of the ballots whose voters could rank each candidate: all but its author's."""
        everyone = sum(weight for _, _, weight in self._groups)
        left_out = [0] * len(self.candidates)
        for _, own, weight in self._groups:
            for n in _bits(own):
                left_out[n] += weight
        return self._exact([everyone - each for each in left_out])

    @cached_property
    def points(self) -> dict[str, Fraction]:
        """The Borda count as a share: of the others that a ballot compares a candidate with, how many are below it (one
        in the same place counts half); the mean over all ballots that compare it.

        1 is first on every ballot, 0 is last on every ballot. A candidate that no ballot compares has no points.
        """
        points: dict[str, Fraction] = {}
        for n, name in enumerate(self.candidates):
            earned, ballots = Fraction(), 0
            for others, (above, both) in self._tables.items():
                # Below it counts twice, beside it once: what is compared, and above, less what it is below.
                halves = sum(both[n][m] + above[n][m] - above[m][n] for m in range(len(both)) if m != n)
                earned += Fraction(halves, 2 * others)
                ballots += both[n][n]
            if ballots:
                points[name] = earned / ballots
        return points

    @cached_property
    def preferences(self) -> dict[str, dict[str, Fraction]]:
        """For each candidate and each other one, the weight of the ballots that rank the first above the second."""
        return self._pairs(lambda above, _, one, two: above[one][two])

    @cached_property
    def margins(self) -> dict[str, dict[str, Fraction]]:
        """For each candidate and each other one, the lead of the first over the second, as a share of the ballots whose
        voters could rank both: from 1 (all prefer it) to -1."""
        both = self._pairs(lambda _, both, one, two: both[one][two])
        prefer = self.preferences
        return {
            one: {
                other: (prefer[one][other] - prefer[other][one]) / both[one][other] if both[one][other] else Fraction()
                for other in others
            }
            for one, others in prefer.items()
        }

    @cached_property
    def _tables(self) -> dict[int, tuple[Table, Table]]:
        """By how many others a ballot compares each candidate with: the weight of the ballots that rank one above
        another, and of those that compare them. (With itself: of those that compare it with anything.)"""
        size, every = len(self.candidates), (1 << len(self.candidates)) - 1
        # Many ballots that differ otherwise have the same candidates below one: those are counted together.
        below: dict[int, dict[int, defaultdict[int, int]]] = {}
        apart: dict[int, defaultdict[int, int]] = {}  # the weight of ballots by their voters' own candidates
        for order, own, weight in self._groups:
            others = size - own.bit_count() - 1
            if others < 1:
                continue
            if others not in below:
                below[others] = {bit: defaultdict(int) for bit in self._bit.values()}
                apart[others] = defaultdict(int)
            rows, left = below[others], every ^ own
            for bit in order:
                left ^= bit
                rows[bit][left] += weight
            apart[others][own] += weight
        return {others: (_above(list(rows.values())), _compared(apart[others], size)) for others, rows in below.items()}

    def _pairs(self, read: Callable[[Table, Table, int, int], int]) -> dict[str, dict[str, Fraction]]:
        tables, named = self._tables.values(), list(enumerate(self.candidates))
        return {
            name: {
                other: Fraction(sum(read(*each, one, two) for each in tables), self._scale)
                for two, other in named
                if two != one
            }
            for one, name in named
        }

    def wins(self, one: str, among: Iterable[str]) -> int:
        """How many of the others `one` beats head to head, less how many beat it."""
        prefer = self.preferences
        leads = (prefer[one][other] - prefer[other][one] for other in among if other != one)
        return sum((lead > 0) - (lead < 0) for lead in leads)

    def _exact(self, counted: Sequence[int]) -> dict[str, Fraction]:
        return {name: Fraction(count, self._scale) for name, count in zip(self.candidates, counted, strict=True)}


def by_figure(candidates: Sequence[str], figures: Mapping[str, Fraction | int]) -> Places:
    """Candidates with the highest figure first; equal ones share a place, in the order given. Those without a figure
    come last."""

    def figure(name: str) -> tuple[bool, Fraction | int]:
        return name in figures, figures.get(name, 0)

    ordered = sorted(candidates, key=figure, reverse=True)
    return tuple(tuple(place) for _, place in groupby(ordered, key=figure))


def _above(rows: Sequence[Mapping[int, int]]) -> Table:
    """From the weight of the ballots with each set of candidates below one, the weight of those with each candidate."""
    table = [[0] * len(rows) for _ in rows]
    for counted, row in zip(table, rows, strict=True):
        for below, weight in row.items():
            for n in _bits(below):
                counted[n] += weight
    return table


def _compared(apart: Mapping[int, int], size: int) -> Table:
    """The weight of the ballots whose voters' own candidates are neither of two."""
    everyone = sum(apart.values())
    table = [[everyone] * size for _ in range(size)]
    for own, weight in apart.items():
        mine = list(_bits(own))
        for one in mine:
            for two in range(size):
                table[one][two] -= weight
                if not own >> two & 1:
                    table[two][one] -= weight
    return table


def _bits(mask: int) -> Iterable[int]:
    n = 0
    while mask:
        if mask & 1:
            yield n
        mask >>= 1
        n += 1
