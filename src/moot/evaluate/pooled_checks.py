"""Checks of comparisons with samples from a pool, whose scores are probabilities, against simulated evaluations.

An item has a difficulty, and every way to draw its pool is known with its chance; so what k samples are worth is exact,
and a debate can be made to be exactly as good, or better by a known amount."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import factorial, prod
from random import Random

from moot.core.types import record
from moot.evaluate.comparing import finding
from moot.evaluate.intervals import expected_pairs, tango
from moot.evaluate.pool import picked_of, plurality_of

EASE = (0.05, 0.35, 0.65, 0.9)  # how often a sample of an item is right; items of each ease are equally frequent
SILENT = 0.05
WRONG = (0.5, 0.3, 0.2)  # shares of the wrong answers
SIZE, DRAWN = 5, 3
PASSES = (0.95, 0.4)  # how often right and wrong code passes the example of its question


@record
class Scenario:
    """A debate compared with samples from a pool, over and over."""

    name: str
    items: int
    epochs: int = 1
    code: bool = False  # the best of k by the question's examples, instead of the most frequent answer
    repairs: float = 0.0  # share of the baseline's errors that the debate does not make
    sways: float = 0.0  # it is better by so much on every other item, and worse by as much on the rest


@record
class Simulated:
    """What evaluations of a scenario came to."""

    helped: float  # share that says so
    covered: float  # share whose interval has the true difference


PairOfScores = tuple[float, float]


def simulated(scenario: Scenario, seed: int, evaluations: int) -> Simulated:
    """Run a scenario so often. The same seed gives the same figures."""
    rng = Random(f"{seed}/{scenario.name}")
    kinds = [_kind(scenario, ease, sign) for ease in EASE for sign in (1, -1)]
    truth = sum(kind.difference for kind in kinds) / len(kinds)
    helped = covered = 0
    for _ in range(evaluations):
        drawn = rng.choices(kinds, k=scenario.items)
        pairs = expected_pairs(
            [rng.choices(kind.scores, cum_weights=kind.chances, k=scenario.epochs) for kind in drawn]
        )
        helped += finding(pairs) == "helped"
        covered += truth in tango(pairs)
    return Simulated(helped=helped / evaluations, covered=covered / evaluations)


@record
class Kind:
    """Items of one ease: which scores debate and baseline get, and how often."""

    scores: Sequence[PairOfScores]
    chances: Sequence[float]  # cumulated
    difference: float  # true, of the debate to the baseline


def _kind(scenario: Scenario, ease: float, sign: int) -> Kind:
    pools = list(_pools(scenario, ease))
    worth = sum(chance * score for score, chance in pools)
    right = worth + (1 - worth) * scenario.repairs
    right += sign * min(scenario.sways, right, 1 - right)
    outcomes = [((1.0, score), chance * right) for score, chance in pools]
    outcomes += [((0.0, score), chance * (1 - right)) for score, chance in pools]
    return Kind(
        scores=[scores for scores, _ in outcomes],
        chances=list(accumulate(chance for _, chance in outcomes)),
        difference=right - worth,
    )


def _pools(scenario: Scenario, ease: float) -> Iterator[tuple[float, float]]:
    """What k samples are worth in every pool of an item, and how likely it is to be drawn."""
    told = 1 - SILENT
    if scenario.code:
        passed, fooled = PASSES
        shares = (
            told * ease * (1 - passed), told * (1 - ease) * (1 - fooled), told * ease * passed,
            told * (1 - ease) * fooled, SILENT,
        )  # fmt: skip
    else:
        shares = (told * ease, *(told * (1 - ease) * share for share in WRONG), SILENT)
    for counts in _compositions(SIZE, len(shares)):
        ways = factorial(SIZE) // prod(map(factorial, counts))
        chance = ways * prod(share**count for share, count in zip(shares, counts, strict=True))
        yield _worth(scenario, counts), chance


def _worth(scenario: Scenario, counts: Sequence[int]) -> float:
    if scenario.code:
        low, high, silent = (counts[0], counts[1]), (counts[2], counts[3]), counts[4]
        return picked_of(DRAWN, [level for level in (low, high) if sum(level)], silent)
    right, *others, silent = counts
    return plurality_of(DRAWN, right, [each for each in others if each], silent)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)
