"""Each arm that debates against each baseline, item by item: at equal cost where the baseline comes from a pool."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from moot.config import masked
from moot.core.types import Json
from moot.evaluate.baselines import Baseline, bases
from moot.evaluate.bounds import NO_FINDING, comparison, known_of, settle
from moot.evaluate.plans import POOL, EvaluationPlan
from moot.evaluate.rows import Arms, Row
from moot.evaluate.sentences import sentence, sentence_without_finding

NEARLY = 0.95  # of a debate's cost is as much, for a baseline with debates of its own


def against(plan: EvaluationPlan, read: Arms, whole: Arms, unit: str) -> list[Json]:
    """The comparisons. `whole`: also the blocks in which a debate failed."""
    if not read.pools[POOL]:
        return []
    made: list[Json] = []
    for arm in plan.compared:
        rows, ended = read.rows[arm.name], whole.rows[arm.name]
        cost = fmean(row.cost(unit) for row in rows)
        # A failed debate may have cost more than the others before it failed: that is counted in the pool's favour.
        dearer = max(cost, fmean(row.cost(unit) for row in ended))
        baselines = bases(plan, read, cost, unit)
        lowest, highest = bases(plan, whole, dearer, unit), bases(plan, whole, cost, unit)
        made += [
            {"arm": arm.name, "cost": cost, **_one(rows, base, ended, low, high, unit)}
            for base, low, high in zip(baselines, lowest, highest, strict=True)
        ]
    for name in dict.fromkeys(str(each["baseline"]) for each in made):
        same = [each for each in made if each["baseline"] == name]
        settle(same)
        for each in same:
            each["sentence"] = sentence(each, unit)
            if plan.judge is not None:
                _doubt(each, unit)
    return made


def _one(rows: Sequence[Row], base: Baseline, ended: Sequence[Row], low: Baseline, high: Baseline, unit: str) -> Json:
    """One arm less one baseline. `low`, `high`: the baseline of all that have ended, where failures count against the
    arm, and in its favour."""
    pairs = list(zip(rows, base.rows, strict=True))
    found = comparison(pairs, list(zip(ended, low.rows, strict=True)), list(zip(ended, high.rows, strict=True)))
    for bound, other in (("counted_against", low), ("counted_for", high)):
        if found[bound]:
            found[bound] |= {"samples": other.samples, "pool_too_small": other.short}
    drawn = [other for _, other in known_of(pairs)] or base.rows
    cost, own = fmean(row.cost(unit) for row in drawn), base.samples is None
    return {
        **found,
        "baseline": base.name,
        "samples": base.samples,
        "baseline_cost": cost,
        "pool_too_small": base.short,
        "baseline_cheaper": own and cost < NEARLY * fmean(row.cost(unit) for row in rows),
        "models": _models(rows),
        "baseline_models": _models(drawn),
        "no_answer": _silence(rows),
        "baseline_no_answer": _silence(drawn),
    }


def _models(rows: Sequence[Row]) -> list[str]:
    return sorted({masked(model) for row in rows for model in row.models})


def _silence(rows: Sequence[Row]) -> float:
    """The share of answers that are none; of a baseline from the pool, of its samples."""
    samples = sum(row.samples for row in rows)
    return sum(row.silent for row in rows) / samples if samples else fmean(row.no_answer for row in rows)


def _doubt(comparison: Json, unit: str) -> None:
    """Take back what a comparison finds, because a model graded the answers."""
    comparison |= {"finding": NO_FINDING, "doubt": "graded", "needed": None}
    comparison["sentence"] = sentence_without_finding(comparison, unit)
