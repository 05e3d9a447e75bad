"""One arm against a baseline on the same items: test, correction for several arms, and one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb
from typing import Literal

from moot.core.types import record
from moot.evaluate.clusters import LEVEL, z_of
from moot.evaluate.intervals import Interval, Pairs, tango

MARGIN = 0.02  # a smaller gain is none that is worth its cost
POWER = 0.8
FEWEST_DISCORDANT = 6  # on which the arms differ, all in one direction: fewer pass no exact test at this level

Finding = Literal["helped", "hurt", "did not help", "can't tell"]


@record
class Comparison:
    pairs: Pairs
    interval: Interval
    p: float  # mid-p McNemar
    finding: Finding
    needed: int | None  # how many items would tell, where these can't


def compared(pairs: Pairs, items: int | None = None) -> Comparison:
    """`items`: how many there are, where pairs are counted at their effective number."""
    interval = tango(pairs)
    found = finding(pairs)
    return Comparison(
        pairs=pairs,
        interval=interval,
        p=mid_p(round(pairs.gained), round(pairs.lost)),
        finding=found,
        needed=items_needed(pairs, items) if found == "can't tell" else None,
    )


def finding(pairs: Pairs) -> Finding:
    """What the pairs show. The interval alone would say *helped* of a useless arm in up to 2.6% of evaluations; with
    the exact test beside it, never in more than 2.5%."""
    interval = tango(pairs)
    surprising = one_sided(round(pairs.gained), round(pairs.lost)) <= (1 - LEVEL) / 2
    if interval.low > 0 and surprising:
        return "helped"
    if interval.high < 0 and surprising:
        return "hurt"
    return "did not help" if interval.high < MARGIN else "can't tell"


def among(alone: Finding, p_holm: float) -> Finding:
    """What one of several comparisons shows. `alone`: what it would show by itself; `p_holm`: its p value, corrected.
    With the correction, all of them together say *helped* or *hurt* wrongly as seldom as one does. What is not said to
    have hurt has not helped, either: its interval ends below 0."""
    if p_holm <= 1 - LEVEL:
        return alone
    taken_back: dict[Finding, Finding] = {"helped": "can't tell", "hurt": "did not help"}
    return taken_back.get(alone, alone)


def one_sided(gained: int, lost: int) -> float:
    """How likely a difference this large, in this direction, would be if items were gained and lost alike."""
    n, more = gained + lost, max(gained, lost)
    return sum(comb(n, k) for k in range(more, n + 1)) / 2**n


def mid_p(gained: int, lost: int) -> float:
    """McNemar's exact test in its mid-p form, two-sided; 1 where the arms never differ."""
    n, fewer = gained + lost, min(gained, lost)
    if n == 0:
        return 1.0
    weights = [comb(n, k) for k in range(fewer + 1)]
    here = weights[-1] / 2**n
    if gained == lost:
        return 1 - here / 2
    return min(1.0, 2 * sum(weights) / 2**n - here)


def holm(ps: Sequence[float]) -> list[float]:
    """The same p values, corrected for being several, in the order given."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    corrected, least = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[at]))
        corrected[at] = least
    return corrected


def items_for(difference: float, discordant: float, level: float = LEVEL) -> int:
    """How many items show a true difference, where a share `discordant` of them tells the arms apart."""
    if difference == 0:
        raise ValueError("No number of items shows a difference of 0.")
    z_level, z_power = z_of(level), z_of(2 * POWER - 1)
    spread = max(discordant, abs(difference))
    spoken = z_level * spread**0.5 + z_power * (spread - difference * difference) ** 0.5
    return ceil((spoken / difference) ** 2)


def items_needed(pairs: Pairs, items: int | None = None, arms: int = 1) -> int | None:
    """How many items like these, asked as often as these, would tell; None where these are too few to say even that.
    `items`: how many there are, where pairs are counted at their effective number. `arms`: that are compared with the
    same baseline, each at its share of the level."""
    discordant = (pairs.gained + pairs.lost) / pairs.n if pairs.n else 0.0
    if discordant == 0:
        return None
    least = ceil(FEWEST_DISCORDANT / discordant)
    level = 1 - (1 - LEVEL) / arms
    needed = max(least, items_for(max(abs(pairs.difference), MARGIN), discordant, level))
    given = pairs.n if items is None else items
    return max(ceil(needed * given / pairs.n), int(given) + 1)
