"""What debates are compared with: samples drawn from a pool, as many as cost the same, and arms that are baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from statistics import fmean

from moot.core.types import Json, record
from moot.evaluate.costs import Equal, named
from moot.evaluate.plans import POOL, SINGLE, EvaluationPlan
from moot.evaluate.pool import samples_for
from moot.evaluate.rows import Arms, Drawing, Lost, Row

SHOWN = (2, 3, 5, 8, 13, 21)  # samples on the curve of accuracy over cost, beside those that cost what an arm costs


@record
class Baseline:
    """What a debate is compared with, item by item."""

    name: str
    rows: Sequence[Row]
    samples: int | None = None  # of a pool
    short: bool = False  # all samples of the pool cost less than the debate


def from_pools(plan: EvaluationPlan, read: Arms, samples: Mapping[str, int]) -> dict[str, list[Row]]:
    """One sample, and so many of each pool, by name. `samples`: by what several of them are; none of those without."""
    several = {name: samples.get(drawn, 0) for name, drawn in plan.pools.items()}
    return {
        SINGLE: [_single(each) for each in _of_one(plan, read)],
        **{
            named(drawn, several[name]): [_drawn(each, several[name]) for each in read.pools[name]]
            for name, drawn in plan.pools.items()
            if several[name]
        },
    }


def bases(plan: EvaluationPlan, read: Arms, cost: float, unit: str) -> list[Baseline]:
    """What a debate of this cost is compared with."""
    found: list[Baseline] = []
    for name, drawn in plan.pools.items():
        if plan.most_drawn(drawn):
            equal = equal_cost(plan, read, name, cost, unit)
            rows = [_drawn(each, equal.samples) for each in read.pools[name]]
            found.append(Baseline(name=drawn, rows=rows, samples=equal.samples, short=equal.short))
    found.append(Baseline(name=SINGLE, rows=[_single(each) for each in _of_one(plan, read)], samples=1))
    return found + [Baseline(name=each.name, rows=read.rows[each.name]) for each in plan.beside_pools if each.baseline]


def equal_cost(plan: EvaluationPlan, read: Arms, pool: str, cost: float, unit: str) -> Equal:
    """As many samples of a pool as cost what a debate costs."""
    costs = [each.row.cost(unit) / each.pool.size for each in read.pools[pool] if each.pool.size]
    sample = fmean(costs) if costs else 0.0
    k = _in_turns(plan, plan.pools[pool], samples_for(cost, sample, plan.pool))
    return Equal(samples=k, short=k * sample < cost * 0.999)


def curve(plan: EvaluationPlan, read: Arms, unit: str, matched: Iterable[int]) -> list[Json]:
    """Accuracy over cost of more and more samples. `matched`: numbers of samples that cost what an arm costs."""
    drawn, pool = plan.pools[POOL], read.pools[POOL]
    sizes = {plan.most_drawn(drawn), *matched, *(_in_turns(plan, drawn, n) for n in SHOWN if n < plan.pool)} - {0, 1}
    found = [_point([_single(each) for each in pool], 1, unit)]
    found += [_point([_drawn(each, k) for each in pool], k, unit) for k in sorted(sizes)]
    return [each for each in found if each is not None]


def _point(rows: Sequence[Row], k: int, unit: str) -> Json | None:
    known = [row for row in rows if not row.lost]
    if not known:
        return None
    return {
        "samples": k,
        "cost": fmean(row.cost(unit) for row in known),
        "accuracy": fmean(row.score for row in known),
        "left_out": len(rows) - len(known),
    }


def _in_turns(plan: EvaluationPlan, drawn: str, k: int) -> int:
    """So many samples, rounded up to as many of each model where several vote."""
    models = plan.voters(drawn)
    return max(1, min(plan.most_drawn(drawn), ceil(k / models) * models))


def _of_one(plan: EvaluationPlan, read: Arms) -> list[Drawing]:
    """The samples of one model, where there are any of one alone; else of all that take turns."""
    return read.pools[[*plan.pools][-1]]


def _single(drawing: Drawing) -> Row:
    """One sample, of whichever model."""
    return _drawn(Drawing(row=drawing.row, pool=drawing.pool.mixed), 1)


def _drawn(drawing: Drawing, k: int) -> Row:
    """The most frequent of k samples, as a row: how likely it is right, and what k samples cost on average."""
    row, pool = drawing.row, drawing.pool
    drawn = pool.drawn(k)
    share = drawn / max(1, pool.size)
    lost: Lost = "samples" if drawn < k and pool.missed > 0 else ""
    return Row(
        item=row.item,
        epoch=row.epoch,
        cluster=row.cluster,
        score=pool.score(k),
        usd=None if row.usd is None else row.usd * share,
        tokens_in=row.tokens_in * share,
        tokens_out=row.tokens_out * share,
        debate=row.debate,
        models=row.models,
        drawn=True,
        no_answer=pool.no_answer(k),
        samples=pool.size,
        silent=pool.silent,
        missed=pool.missed,
        lost=row.lost or lost,
        unfinished=row.unfinished,
    )
