"""The effective sample size of scores in clusters: an item's epochs, or items that are related. Pure.

It is the number of independent scores that would tell as much. It can't be smaller than Kish's effective number of
clusters (`equal_clusters`), which it is when the scores of each cluster are all alike. Beyond that it follows from the
design effect: the jackknife's variance over clusters (CR3), with Student's t at Satterthwaite's degrees of freedom, and
for differences with Hall's correction for skewed clusters, such as a few topics on which an arm does far worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import cos, exp, lgamma, pi, sqrt, tan
from statistics import NormalDist

LEVEL = 0.95
NORMAL_FROM = 2000.0  # degrees of freedom, from which on Student's t is the normal distribution
FEWEST = 6  # clusters of equal size, below which their variance is not used: by chance it can be far too small
FEWEST_COMPARED = 50  # the same for differences: a kind of topic that a tenth are may be missing from fewer
STEPS = 64
BISECTIONS = 60


def z_of(level: float = LEVEL) -> float:
    """The two-sided normal quantile: 1.96 for 95%."""
    return NormalDist().inv_cdf(0.5 + level / 2)


@lru_cache(maxsize=1024)
def t_of(freedom: float, level: float = LEVEL) -> float:
    """The two-sided quantile of Student's t; degrees of freedom need not be whole, and are 1 at least."""
    if freedom >= NORMAL_FROM:
        return z_of(level)
    # With x = √freedom · tan(angle), the density is that of cos(angle) ** (freedom - 1).
    scale = 2 * exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    low, high = 0.0, pi / 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if scale * _simpson(freedom - 1, middle) < level else (low, middle)
    return sqrt(freedom) * tan(low)


def _simpson(power: float, end: float) -> float:
    """The integral of cos ** power from 0 to `end`."""
    step = end / STEPS
    inner = sum((4 if at % 2 else 2) * cos(at * step) ** power for at in range(1, STEPS))
    return step / 3 * (1 + inner + max(0.0, cos(end)) ** power)


def equal_clusters(sizes: Sequence[int]) -> float:
    """How many clusters of equal size so many are worth: a mean of scores that are alike within each varies as much."""
    return sum(sizes) ** 2 / sum(size * size for size in sizes)


def freedom_of(sizes: Sequence[int]) -> float:
    """Satterthwaite's degrees of freedom of `robust_variance`, where clusters differ in their means alone: one less
    than the clusters if they are of one size, hardly more than 1 if two of them have most scores."""
    n, counted = sum(sizes), Counter(sizes)
    shares = {size: size / n for size in counted}
    square = sum(count * shares[size] ** 2 for size, count in counted.items())
    total = squared = 0.0
    for size, count in counted.items():
        share = shares[size]
        own = (share / (1 - share)) ** 2
        spread = own * (1 - 2 * share + square)
        total += count * spread
        squared += count * spread * spread
        for other, others in counted.items():
            beside = shares[other]
            pairs = count * (others - (other == size))
            squared += pairs * own * (beside / (1 - beside)) ** 2 * (square - share - beside) ** 2
    return max(1.0, total * total / squared)


def robust_variance(residuals: Sequence[float], sizes: Sequence[int]) -> float:
    """Of the mean over all scores, from the sums of the residuals in each cluster: the jackknife's, which leaves out
    one cluster at a time."""
    n = sum(sizes)
    return sum((each / (n - size)) ** 2 for each, size in zip(residuals, sizes, strict=True))


def skewness(residuals: Sequence[float]) -> float:
    """How lopsided they are: below 0 where a few lie far below the others."""
    spread = sum(each**2 for each in residuals) / len(residuals)
    return sum(each**3 for each in residuals) / len(residuals) / spread**1.5 if spread > 0 else 0.0


def effective_size(
    sizes: Sequence[int], naive: float, robust: float, *, skew: float = 0.0, fewest: int = FEWEST
) -> float:
    """The effective number of scores in clusters of these sizes. `naive`: variance of one score; `robust`: of the mean,
    over clusters; `skew`: of the clusters, below 0 where those are rare that speak against what the mean says."""
    least = equal_clusters(sizes)
    if naive <= 0 or robust <= 0 or least < fewest:
        return least
    quantile = _skewed(t_of(freedom_of(sizes)), skew, len(sizes))
    return min(sum(sizes), max(least, naive / robust * (z_of() / quantile) ** 2)) if quantile else least


def _skewed(quantile: float, skew: float, clusters: int) -> float | None:
    """What a t statistic must exceed if the clusters are skewed, by the inverse of Hall's transformation; never less
    than without. None: it can't exceed enough."""
    a = min(0.0, skew) / sqrt(clusters)
    if not a:
        return quantile
    inner = 1 + a * (quantile - a / 6)
    return max(quantile, 3 / a * (inner ** (1 / 3) - 1)) if inner > 0 else None
