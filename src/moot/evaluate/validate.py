"""The statistics of `moot eval`, held against evaluations in which the truth is known."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from random import Random
from typing import Literal

from moot.core.types import record
from moot.evaluate.comparing import POWER, finding
from moot.evaluate.intervals import Pairs, clustered_wilson, expected_pairs, tango, wilson
from moot.evaluate.pooled_checks import Scenario, simulated
from moot.evaluate.voters import draw_votes, majority_theory

EVALUATIONS = 2000
COVERAGE = 0.935
FALSE_HELPED = 0.025
VOTED_ITEMS = 100_000
WITHIN = 0.01
NEGLIGIBLE = 1e-12


@record
class Check:
    """One figure of the statistics, and what it must be."""

    name: str
    measured: float
    limit: float
    side: Literal["at least", "at most"]

    @property
    def holds(self) -> bool:
        return self.measured >= self.limit if self.side == "at least" else self.measured <= self.limit


def validate(seed: int = 1, evaluations: int = EVALUATIONS) -> Iterator[Check]:
    """Yield each check as it is made. Where every possible evaluation can be counted, it is; the others are simulated,
    and the same seed gives the same figures."""
    for n, p in ((50, 0.97), (50, 0.5), (164, 0.7)):
        yield _coverage(f"Wilson, {n} items, {p:.0%} right", _wilson_coverage(n, p))
    for n, gain, loss in ((30, 0.08, 0.03), (50, 0.1, 0.1), (100, 0.05, 0.2)):
        yield _coverage(f"Tango, {n} items, {gain:.0%} gained, {loss:.0%} lost", _tango_coverage(n, gain, loss))
    yield _coverage("clustered Wilson, 100 items, 5 epochs", _clustered_coverage(seed, evaluations, 100, 5))
    for n in (30, 50, 100):
        yield Check(
            name=f"said to help where it changes 20% of answers and betters none, {n} items",
            measured=_said_to_help(n, 0.1, 0.1),
            limit=FALSE_HELPED,
            side="at most",
        )
    yield Check(
        name="said to help where it repairs half of 30% errors, 100 items",
        measured=_said_to_help(100, 0.17, 0.02),
        limit=POWER,
        side="at least",
    )
    for clusters, size in RARE:
        yield Check(
            name=f"said to help where it is worse on a few of {clusters} topics and better on most, {size} items each",
            measured=_helped_by_rarity(seed, evaluations, clusters, size),
            limit=FALSE_HELPED,
            side="at most",
        )
    yield from _pooled(seed, evaluations)
    for rho in (0.0, 0.5, 0.8):
        yield Check(
            name=f"majority of 5 against theory, correlation {rho}",
            measured=abs(_majority(seed, rho) - majority_theory(0.7, rho, 5)),
            limit=WITHIN,
            side="at most",
        )


RARE = ((20, 30), (60, 10))  # topics, and items of each
NO_BETTER = (
    Scenario(name="3 samples, 50 items", items=50),
    Scenario(name="3 samples, 164 items", items=164),
    Scenario(name="the best of 3 codes, 50 items", items=50, code=True),
    Scenario(name="3 samples, 50 items, 3 epochs, better on some and worse on others", items=50, epochs=3, sways=0.2),
    Scenario(name="3 samples, 1 item, 40 epochs, better on some and worse on others", items=1, epochs=40, sways=0.4),
    Scenario(name="3 samples, 5 items, 12 epochs, better on some and worse on others", items=5, epochs=12, sways=0.4),
)
REPAIRS = Scenario(name="3 samples, 100 items", items=100, repairs=0.5)


def _pooled(seed: int, evaluations: int) -> Iterator[Check]:
    """Comparisons with samples from a pool, whose scores are probabilities."""
    for scenario in NO_BETTER:
        found = simulated(scenario, seed, evaluations)
        yield _coverage(f"a debate as good as {scenario.name}", found.covered)
        yield Check(
            name=f"said to help where it is as good as {scenario.name}",
            measured=found.helped,
            limit=FALSE_HELPED,
            side="at most",
        )
    found = simulated(REPAIRS, seed, evaluations)
    yield _coverage(f"a debate without half of the errors of {REPAIRS.name}", found.covered)
    yield Check(
        name=f"said to help where it has half of the errors of {REPAIRS.name}",
        measured=found.helped,
        limit=POWER,
        side="at least",
    )


def _coverage(name: str, measured: float) -> Check:
    return Check(name=f"coverage: {name}", measured=measured, limit=COVERAGE, side="at least")


def _wilson_coverage(n: int, p: float) -> float:
    """Exact: over every number of right answers."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if p in wilson(k, n))


def _tango_coverage(n: int, gain: float, loss: float) -> float:
    return sum(chance for pairs, chance in _outcomes(n, gain, loss) if gain - loss in tango(pairs))


def _said_to_help(n: int, gain: float, loss: float) -> float:
    return sum(chance for pairs, chance in _outcomes(n, gain, loss) if finding(pairs) == "helped")


def _outcomes(n: int, gain: float, loss: float) -> Iterator[tuple[Pairs, float]]:
    """Every evaluation of `n` items, with its probability, where an item is gained or lost so often."""
    same = 1 - gain - loss
    for gained in range(n + 1):
        for lost in range(n + 1 - gained):
            ways = comb(n, gained) * comb(n - gained, lost)
            chance = ways * gain**gained * loss**lost * same ** (n - gained - lost)
            if chance > NEGLIGIBLE:
                yield Pairs(n=n, gained=gained, lost=lost), chance


def _clustered_coverage(seed: int, evaluations: int, items: int, epochs: int) -> float:
    rng = Random(seed)

    def covered() -> bool:
        return 0.7 in clustered_wilson([draw_votes(rng, 0.7, 0.6, epochs) for _ in range(items)])

    return sum(covered() for _ in range(evaluations)) / evaluations


def _helped_by_rarity(seed: int, evaluations: int, clusters: int, size: int) -> float:
    """No true difference: on a fifth of the topics right less often by 80 points, on the others more often by 20."""
    rng = Random(seed)

    def helped() -> bool:
        chances = [(0.1, 0.9) if rng.random() < 0.2 else (0.5, 0.3) for _ in range(clusters)]
        drawn = [[(float(rng.random() < a), float(rng.random() < b)) for _ in range(size)] for a, b in chances]
        return finding(expected_pairs(drawn)) == "helped"

    return sum(helped() for _ in range(evaluations)) / evaluations


def _majority(seed: int, rho: float) -> float:
    rng = Random(seed)
    return sum(sum(draw_votes(rng, 0.7, rho, 5)) > 2 for _ in range(VOTED_ITEMS)) / VOTED_ITEMS
