"""How much scores in clusters are worth: an item's epochs, or items that are related. Pure.

The scores of a cluster go together, by how much is not known, so that fewer scores would tell as much if each stood
alone. Two things are known of that number. It is at least that of clusters of equal size (`equal_clusters`), which it
would be if the scores of a cluster were all alike. And it follows from how far the clusters' means differ; where few
clusters or a few large ones decide that, they can be alike by chance, which Student's t with Satterthwaite's degrees of
freedom allows for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import cos, exp, lgamma, pi, sqrt, tan
from statistics import NormalDist

LEVEL = 0.95
NORMAL_FROM = 2000.0  # degrees of freedom, from which on Student's t is the normal distribution
FEWEST = 6  # clusters of equal size, below which how far their means differ says nothing
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


def worth(sizes: Sequence[int], naive: float, robust: float) -> float:
    """How many scores that stand alone tell as much. `naive`: variance of one of them; `robust`: of the mean."""
    least = equal_clusters(sizes)
    if naive <= 0 or robust <= 0 or least < FEWEST:
        return least
    certainty = (z_of() / t_of(freedom_of(sizes))) ** 2
    return min(sum(sizes), max(least, naive / robust * certainty))
