"""Confidence intervals for shares and for paired differences. Pure; every formula is short enough to read.

`moot eval validate` holds them against simulations with a known truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

from moot.core.types import record
from moot.evaluate.clusters import BISECTIONS, FEWEST_COMPARED, LEVEL, effective_size, robust_variance, skewness, z_of


@record
class Interval:
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low


def wilson(right: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson's score interval for `right` of `n`; both may be effective, and so fractional, numbers."""
    if n <= 0:
        return Interval(low=0.0, high=1.0)
    z, p = z_of(level), right / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Interval(low=max(0.0, middle - half), high=min(1.0, middle + half))


def effective_n(scores: Sequence[Sequence[float]]) -> float:
    """How many independent observations scores in clusters are worth: one cluster an item's epochs, or related items.

    At least that of clusters of equal size, at most that of the scores."""
    clusters = [each for each in scores if each]
    sizes = [len(each) for each in clusters]
    n = sum(sizes)
    if len(clusters) < 2:
        return float(min(n, 1))
    p = sum(map(sum, clusters)) / n
    residuals = [sum(each) - len(each) * p for each in clusters]
    return effective_size(sizes, p * (1 - p), robust_variance(residuals, sizes))


def clustered_wilson(scores: Sequence[Sequence[float]]) -> Interval:
    """Wilson's interval for the mean of scores in clusters, at their effective number."""
    n = sum(len(each) for each in scores)
    if not n:
        return Interval(low=0.0, high=1.0)
    effective = effective_n(scores)
    return wilson(sum(map(sum, scores)) / n * effective, effective)


@record
class Pairs:
    """What two arms made of the same items."""

    n: float
    gained: float  # items that only the first got right
    lost: float  # items that only the second got right

    @property
    def difference(self) -> float:
        return (self.gained - self.lost) / self.n if self.n else 0.0


def paired(first: Sequence[bool], second: Sequence[bool]) -> Pairs:
    both = list(zip(first, second, strict=True))
    return Pairs(n=len(both), gained=sum(a and not b for a, b in both), lost=sum(b and not a for a, b in both))


def tango(pairs: Pairs) -> Interval:
    """Tango's score interval for the difference of two paired shares.

    The test statistic falls as the assumed difference rises; the interval holds the differences it does not reject."""
    if pairs.n <= 0:
        return Interval(low=-1.0, high=1.0)
    z, observed = z_of(), pairs.difference
    return Interval(
        low=_crossing(lambda delta: _score(pairs, delta) - z, -1.0, observed),
        high=_crossing(lambda delta: _score(pairs, delta) + z, observed, 1.0),
    )


def _score(pairs: Pairs, delta: float) -> float:
    """Tango's statistic for the hypothesis that the true difference is `delta`."""
    n, gained, lost = pairs.n, pairs.gained, pairs.lost
    surplus = gained - lost - n * delta
    b = -gained - lost + (2 * n - gained + lost) * delta
    c = -lost * delta * (1 - delta)
    q = (sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)  # the likeliest share of `lost` under the hypothesis
    variance = n * (2 * q + delta * (1 - delta))
    if variance <= 0:
        return 0.0 if surplus == 0 else float("inf") * surplus
    return surplus / sqrt(variance)


def _crossing(f: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses 0; the end of the range where it does not."""
    if f(low) < 0:
        return low
    if f(high) > 0:
        return high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return (low + high) / 2


def expected_pairs(scores: Sequence[Sequence[tuple[float, float]]]) -> Pairs:
    """Pairs from two arms' scores of the same items, in clusters. A score may be a probability, as that of samples from
    a pool is: then gains and losses are expected ones. They vary less than counted ones, which is on the safe side.
    With several scores in a cluster, at their effective number: one cluster counts as one item, however often it was
    asked, and fewer than 50 clusters count as no more than so many items."""
    clusters = [each for each in scores if each]
    flat = [pair for each in clusters for pair in each]
    n = len(flat)
    gained, lost = sum(a * (1 - b) for a, b in flat), sum((1 - a) * b for a, b in flat)
    if n == len(clusters):
        return Pairs(n=n, gained=gained, lost=lost)
    sizes = [len(each) for each in clusters]
    mean = (gained - lost) / n
    residuals = [sum(a - b for a, b in each) - len(each) * mean for each in clusters]
    robust = robust_variance(residuals, sizes) if len(clusters) > 1 else 0.0
    effective = effective_size(
        sizes,
        (gained + lost) / n - mean * mean,
        robust,
        skew=skewness(residuals) * (1 if mean > 0 else -1),
        fewest=FEWEST_COMPARED,
    )
    scale = effective / n
    return Pairs(n=effective, gained=gained * scale, lost=lost * scale)
