"""What so many items can show: the smallest true difference between two arms that is found with 80% power. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import ceil

from moot.core.amounts import count
from moot.core.types import Json
from moot.evaluate.clusters import FEWEST_COMPARED, LEVEL, equal_clusters
from moot.evaluate.comparing import FEWEST_DISCORDANT, items_for
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.tasks import Item

DISCORDANT = 0.2  # share of items on which two arms differ, for planning


def detectable(items: float, arms: int = 1) -> float | None:
    """The smallest true difference, in whole points, that so many items show where two arms differ on a fifth of them,
    or on as many as that takes. `items`: may be an effective number; `arms`: that are compared with the same baseline,
    each at its share of the level. None: none at all."""
    level = 1 - (1 - LEVEL) / arms
    for points in range(1, 101):
        difference = points / 100
        discordant = max(DISCORDANT, difference)
        if items_for(difference, discordant, level) <= items and ceil(FEWEST_DISCORDANT / discordant) <= round(items):
            return difference
    return None


def power(plan: EvaluationPlan, items: Iterable[Item]) -> Json:
    """What these items can show. Related ones count as comparisons count them: where there are few groups of one size,
    as no more than so many items; otherwise as items, though they may be alike."""
    sizes = [*Counter(item.cluster or item.id for item in items).values()]
    n = sum(sizes)
    groups = None if len(sizes) == n else {"number": len(sizes), "of_one_size": equal_clusters(sizes)}
    few = groups is not None and groups["of_one_size"] < FEWEST_COMPARED
    counted = groups["of_one_size"] if groups is not None and few else n
    return {"smallest_difference": detectable(counted, max(1, len(plan.compared))), "groups": groups}


def power_in_words(found: Json, items: int, arms: int) -> str:
    """What so many items can show, in a sentence. `arms`: that are compared with the same baseline."""
    groups, difference = found["groups"], found["smallest_difference"]
    listed = count(items, "item")
    many = groups is not None and groups["of_one_size"] >= FEWEST_COMPARED
    if groups is not None:
        number, equal = groups["number"], groups["of_one_size"]
        worth = f" (worth {equal:.1f} of one size)" if round(equal, 1) != number else ""
        listed += f" in {count(number, 'group')} of related items{worth}"
    if difference is None:
        return f"{listed} can't show anything, however the arms differ: they are too few."
    shown = (
        f"{'So many items' if groups is None else listed} show a difference of {difference * 100:.0f} points or more"
    )
    each = f" for each of {arms} arms" if arms > 1 else ""
    on = "on a fifth of them" if difference <= DISCORDANT else "on no more of them than that"
    alike = " and related items are no more alike than others" if many else ""
    return f"{shown}{each}, where the arms differ {on}{alike}."


def few(report: Json) -> str:
    """What the complete items of a report can show."""
    arms = max((int(each["arms_compared"]) for each in report["comparisons"]), default=1)
    return power_in_words(report, report["complete"], arms) if report["complete"] else ""
