"""From ranked ballots to an order of answers, by arithmetic alone.

A voter ranks what it was shown, which never includes its own answers, so ballots differ in what they rank. Points are
therefore shares, not sums: nobody gains or loses by being on fewer ballots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import groupby

from moot.types import record


@record
class Ranking:
    """One valid ballot: all that its voter was shown, best first."""

    voter: str
    order: tuple[str, ...]


@record
class Standing:
    """How one answer came out of a vote."""

    answer: str
    points: Fraction | None  # None: no ballot compares it with another
    duels: int  # won less lost, against the answers with the same points
    ballots: int  # that rank it
    firsts: int  # that rank it first
    behind: int  # members who stand behind it


def points(answer: str, rankings: Collection[Ranking]) -> Fraction | None:
    """Borda as a share: of the answers beside it on a ballot, how many are placed below it; the mean of all ballots.

    1 is first on every ballot, 0 is last on every ballot. A ballot with one answer compares nothing and doesn't count.
    """
    shares = [
        Fraction(len(ranking.order) - 1 - ranking.order.index(answer), len(ranking.order) - 1)
        for ranking in rankings
        if answer in ranking.order and len(ranking.order) > 1
    ]
    return sum(shares, Fraction()) / len(shares) if shares else None


def preferences(rankings: Collection[Ranking]) -> Counter[tuple[str, str]]:
    """On how many ballots the first of two stands above the second."""
    counted: Counter[tuple[str, str]] = Counter()
    for ranking in rankings:
        for place, better in enumerate(ranking.order):
            counted.update((better, worse) for worse in ranking.order[place + 1 :])
    return counted


def beats_all(answers: Collection[str], rankings: Collection[Ranking]) -> str | None:
    """The Condorcet winner, if there is one: more ballots prefer it to each other answer than the other way round."""
    prefer = preferences(rankings)
    for one in answers:
        others = [other for other in answers if other != one]
        if others and all(prefer[one, other] > prefer[other, one] for other in others):
            return one
    return None


def standings(
    answers: Collection[str], rankings: Collection[Ranking], behind: Mapping[str, int]
) -> tuple[tuple[Standing, ...], ...]:
    """The places, best first; answers that share a place are tied.

    More points go first. Among equal points: who wins more duels against the others with these points (a duel is won by
    the answer that more ballots place above the other). Then: whom more members stand behind. What is still equal is
    a tie; no order is made up for it.
    """
    earned = {answer: points(answer, rankings) for answer in answers}
    prefer = preferences(rankings)

    def duels(one: str) -> int:
        rivals = [other for other in answers if other != one and earned[other] == earned[one]]
        return sum(_sign(prefer[one, other] - prefer[other, one]) for other in rivals)

    listed = [
        Standing(
            answer=answer,
            points=earned[answer],
            duels=duels(answer),
            ballots=sum(answer in ranking.order for ranking in rankings),
            firsts=sum(ranking.order[:1] == (answer,) for ranking in rankings),
            behind=behind.get(answer, 0),
        )
        for answer in answers
    ]
    listed.sort(key=_merit, reverse=True)  # stable: those who share a place stay in the order given
    return tuple(tuple(place) for _, place in groupby(listed, key=_merit))


def effective_voters(signed: Mapping[str, AbstractSet[str]], answers: Sequence[str]) -> float | None:
    """How many independent voters these may be worth, if all that they have in common were a shared error.

    `signed` has, for each voter, the answers it stands behind. The likeness of two voters is r = 2m - 1 (Hamann), m
    being the share of answers on which both say the same; below 0 it counts as 0. The result is Kish's effective sample
    size, n / (1 + (n - 1)·mean r), the mean being over all pairs of two voters. It is n when nobody votes like another
    and 1 when all vote alike. Voters can also agree because they are right, and nothing here can tell: this is the
    fewest that they may be worth, never a proof of independence. None with fewer than two voters.
    """
    if len(signed) < 2 or not answers:
        return None

    def likeness(one: AbstractSet[str], two: AbstractSet[str]) -> Fraction:
        same = sum((answer in one) == (answer in two) for answer in answers)
        return max(Fraction(0), Fraction(2 * same, len(answers)) - 1)

    total = sum((likeness(one, two) for one in signed.values() for two in signed.values()), Fraction())
    return float(len(signed) ** 2 / total)


def _merit(standing: Standing) -> tuple[Fraction, int, int]:
    return (Fraction(-1) if standing.points is None else standing.points, standing.duels, standing.behind)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
