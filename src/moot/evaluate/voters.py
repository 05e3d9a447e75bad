"""Voters whose errors go together: what a majority of them is worth."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, lgamma
from random import Random

ALMOST = 1e-9


def draw_votes(rng: Random, skill: float, rho: float, k: int) -> list[bool]:
    """Which of `k` voters are right on one item. `rho` is the correlation of any two: an item has a difficulty of its
    own, drawn from the beta distribution with that mean and spread."""
    if rho <= 0:
        return [rng.random() < skill for _ in range(k)]
    if rho >= 1 - ALMOST:
        return [rng.random() < skill] * k
    spread = (1 - rho) / rho
    ease = rng.betavariate(skill * spread, (1 - skill) * spread)
    return [rng.random() < ease for _ in range(k)]


def majority_theory(skill: float, rho: float, k: int) -> float:
    """How often more than half of `k` such voters are right. `k` is odd."""
    if rho <= 0:
        return sum(comb(k, j) * skill**j * (1 - skill) ** (k - j) for j in range(k // 2 + 1, k + 1))
    if rho >= 1 - ALMOST:
        return skill
    a, b = skill * (1 - rho) / rho, (1 - skill) * (1 - rho) / rho
    return sum(comb(k, j) * exp(_log_beta(j + a, k - j + b) - _log_beta(a, b)) for j in range(k // 2 + 1, k + 1))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def error_correlation(votes: Sequence[Sequence[bool]]) -> float | None:
    """The mean correlation of two voters' being right, over items in which all of them voted; None where there is no
    variance to correlate."""
    rows = [row for row in votes if len(row) > 1]
    if len(rows) < 2:
        return None
    k = min(map(len, rows))
    found = [r for i in range(k) for j in range(i) if (r := _phi([(row[i], row[j]) for row in rows])) is not None]
    return sum(found) / len(found) if found else None


def _phi(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    n = len(pairs)
    p, q = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    spread = p * (1 - p) * q * (1 - q)
    if spread <= 0:
        return None
    return (sum(a and b for a, b in pairs) / n - p * q) / spread**0.5


def effective_voters(k: int, rho: float) -> float:
    """How many independent voters `k` correlated ones are worth."""
    return k / (1 + (k - 1) * max(0.0, rho))
