"""Confidence intervals for shares and for paired differences. Pure; every formula is short enough to read.

`moot eval validate` holds them against simulations with a known truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import NormalDist

from moot.core.types import record

LEVEL = 0.95
BISECTIONS = 60
FEWEST_CLUSTERS = 10  # whose spread tells how far the scores within one go together


@record
class Interval:
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low


def z_of(level: float = LEVEL) -> float:
    """The two-sided normal quantile: 1.96 for 95%."""
    return NormalDist().inv_cdf(0.5 + level / 2)


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

    It is the number at which a simple sample would vary as much as the cluster means do, at most that of the scores.
    Where there is no variance, it is the number of clusters, and of few clusters it is never more."""
    clusters = [each for each in scores if each]
    n = sum(len(each) for each in clusters)
    if len(clusters) < 2:
        return float(min(n, 1))
    p = sum(map(sum, clusters)) / n
    naive = p * (1 - p)
    robust = _clustered_variance(clusters, p, n)
    if naive <= 0 or robust <= 0:
        return float(len(clusters))
    return min(_most(len(clusters), n), max(1.0, naive / robust))


def _most(clusters: int, n: int) -> float:
    """What `n` scores in so many clusters can be worth: a few clusters can be alike by chance."""
    return float(n if clusters >= FEWEST_CLUSTERS else min(n, clusters))


def _clustered_variance(clusters: Sequence[Sequence[float]], mean: float, n: int) -> float:
    """Of the mean over all scores, from the residuals' sums by cluster."""
    k = len(clusters)
    residuals = (sum(score - mean for score in each) for each in clusters)
    return k / (k - 1) * sum(each * each for each in residuals) / (n * n)


def clustered_wilson(scores: Sequence[Sequence[float]], level: float = LEVEL) -> Interval:
    """Wilson's interval for the mean of scores in clusters, at their effective number."""
    n = sum(len(each) for each in scores)
    if not n:
        return Interval(low=0.0, high=1.0)
    effective = effective_n(scores)
    return wilson(sum(map(sum, scores)) / n * effective, effective, level)


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


def tango(pairs: Pairs, level: float = LEVEL) -> Interval:
    """Tango's score interval for the difference of two paired shares.

    The test statistic falls as the assumed difference rises; the interval holds the differences it does not reject."""
    if pairs.n <= 0:
        return Interval(low=-1.0, high=1.0)
    z, observed = z_of(level), pairs.difference
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


def clustered_pairs(differences: Sequence[Sequence[float]]) -> Pairs:
    """Pairs of an effective number: `differences` are +1, 0 or -1 for each pair, in clusters. Pass it to `tango`."""
    return expected_pairs([[(float(d > 0), float(d < 0)) for d in each] for each in differences])


def expected_pairs(scores: Sequence[Sequence[tuple[float, float]]]) -> Pairs:
    """Pairs from two arms' scores of the same items, in clusters. A score may be a probability, as that of samples from
    a pool is: then gains and losses are expected ones. They vary less than counted ones, which is on the safe side.
    With several scores in a cluster, at their effective number: one cluster counts as one item, however often it was
    asked, and few clusters count as no more than so many items."""
    clusters = [each for each in scores if each]
    flat = [pair for each in clusters for pair in each]
    n = len(flat)
    gained, lost = sum(a * (1 - b) for a, b in flat), sum((1 - a) * b for a, b in flat)
    if n == len(clusters):
        return Pairs(n=n, gained=gained, lost=lost)
    scale = len(clusters) / n
    if len(clusters) > 1:
        mean = (gained - lost) / n
        naive = ((gained + lost) / n - mean * mean) / n
        robust = _clustered_variance([[a - b for a, b in each] for each in clusters], mean, n)
        if naive > 0 and robust > 0:
            scale = min(_most(len(clusters), n) / n, naive / robust)
    return Pairs(n=n * scale, gained=gained * scale, lost=lost * scale)
