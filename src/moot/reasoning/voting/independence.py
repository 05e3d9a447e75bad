"""How many independent voters a vote is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction


def effective_voters(signed: Mapping[str, AbstractSet[str]], answers: Sequence[str]) -> float | None:
    """A lower bound for how many independent voters these are worth; None with fewer than two voters.

    `signed` has, for each voter, the answers it stands behind. The likeness of two voters is r = 2m - 1 (Hamann), with
    m the share of answers on which both say the same; below 0 it counts as 0. The result is Kish's effective sample
    size, n / (1 + (n - 1)·mean r), with the mean over all pairs of voters: n when no two vote alike, 1 when all do.
    Voters can also agree because they are right; the bound treats all agreement as shared error.
    """
    if len(signed) < 2 or not answers:
        return None

    def likeness(one: AbstractSet[str], two: AbstractSet[str]) -> Fraction:
        same = sum((answer in one) == (answer in two) for answer in answers)
        return max(Fraction(0), Fraction(2 * same, len(answers)) - 1)

    total = sum((likeness(one, two) for one in signed.values() for two in signed.values()), Fraction())
    return float(len(signed) ** 2 / total)
