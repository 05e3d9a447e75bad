"""From ranked ballots to an order of answers, by arithmetic alone.

A ballot lists the answers that its voter was shown, best first. A voter is never shown its own answers, so ballots
differ in what they rank. Points are therefore shares, not sums: being on fewer ballots costs an answer nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import groupby

from moot.core.types import record

Ballots = Collection[tuple[str, ...]]


@record
class Standing:
    """The result of one answer in a vote."""

    answer: str
    points: Fraction | None  # None: no ballot compares it with another
    pairwise: int  # pairwise wins less losses, against the answers with the same points
    ballots: int  # that rank it
    firsts: int  # that rank it first
    behind: int  # members who stand behind it


def points(answer: str, ballots: Ballots) -> Fraction | None:
    """The Borda count as a share: of the other answers on a ballot, how many are ranked below; the mean of all ballots.

    1 is first on every ballot, 0 is last on every ballot. A ballot with one answer compares nothing and doesn't count.
    """
    shares = [
        Fraction(len(ballot) - 1 - ballot.index(answer), len(ballot) - 1)
        for ballot in ballots
        if answer in ballot and len(ballot) > 1
    ]
    return sum(shares, Fraction()) / len(shares) if shares else None


def preferences(ballots: Ballots) -> Counter[tuple[str, str]]:
    """For each pair of answers, how many ballots rank the first above the second."""
    counted: Counter[tuple[str, str]] = Counter()
    for ballot in ballots:
        for place, better in enumerate(ballot):
            counted.update((better, worse) for worse in ballot[place + 1 :])
    return counted


def condorcet_winner(answers: Collection[str], ballots: Ballots) -> str | None:
    """The answer that wins every pairwise comparison, if there is one."""
    prefer = preferences(ballots)
    for one in answers:
        others = [other for other in answers if other != one]
        if others and all(prefer[one, other] > prefer[other, one] for other in others):
            return one
    return None


def standings(
    answers: Collection[str], ballots: Ballots, behind: Mapping[str, int]
) -> tuple[tuple[Standing, ...], ...]:
    """The places, best first; answers that share a place are tied.

    Answers are ordered by points; equal points by pairwise wins among them; then by how many members stand behind
    them. What is still equal is a tie.
    """
    earned = {answer: points(answer, ballots) for answer in answers}
    prefer = preferences(ballots)

    def pairwise(one: str) -> int:
        rivals = [other for other in answers if other != one and earned[other] == earned[one]]
        return sum(_sign(prefer[one, other] - prefer[other, one]) for other in rivals)

    listed = [
        Standing(
            answer=answer,
            points=earned[answer],
            pairwise=pairwise(answer),
            ballots=sum(answer in ballot for ballot in ballots),
            firsts=sum(ballot[:1] == (answer,) for ballot in ballots),
            behind=behind.get(answer, 0),
        )
        for answer in answers
    ]
    listed.sort(key=_merit, reverse=True)  # stable: tied answers keep the order given
    return tuple(tuple(place) for _, place in groupby(listed, key=_merit))


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


def _merit(standing: Standing) -> tuple[Fraction, int, int]:
    return (Fraction(-1) if standing.points is None else standing.points, standing.pairwise, standing.behind)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
