"""The report of an evaluation: a pure fold over its plan and its stored debates. The same debates give the same bytes.

Durations are the only figures that differ between two runs of one plan; they stand apart, under `timing`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean

from moot.core.types import Debate, Json, Usage, record
from moot.core.values import sha256_of
from moot.evaluate.comparing import among, compared, holm, items_needed
from moot.evaluate.costs import standing
from moot.evaluate.intervals import Interval, Pairs, clustered_wilson, effective_n, expected_pairs, wilson
from moot.evaluate.model_grading import grading_id
from moot.evaluate.plans import (
    POOL,
    SINGLE,
    Block,
    Cell,
    EvaluationPlan,
    blocks,
    detectable,
    fits,
)
from moot.evaluate.pool import samples_for
from moot.evaluate.reliability import reliability
from moot.evaluate.rows import Arms, Grades, Pool, Row, dollars, is_complete, rows_of
from moot.evaluate.sentences import sentence, sentence_without_finding
from moot.evaluate.voters import effective_voters, error_correlation, majority_theory
from moot.reasoning.model_family import family_of

VERSION = 1
NO_FINDING = "can't tell"


def fold(plan: EvaluationPlan, cells: Mapping[str, Debate], grades: Grades, *, stopped: bool = False) -> Json:
    """The report, as JSON. Blocks with an incomplete cell are left out, and counted. `stopped`: no new one is begun."""
    planned = list(blocks(plan))
    complete = [block for block in planned if is_complete(plan, block, cells, grades)]
    read = rows_of(plan, complete, cells, grades)
    unit = _unit(plan, read)
    summaries = {arm.name: _summary(read.rows[arm.name]) for arm in plan.beside_pools}
    own = {cell.id for block in planned for cell in block.cells}
    models = sorted({seat.model for id, each in cells.items() if id in own for seat in each.cast})
    spent = [cells[each].usage for each in cells]
    usd = [dollars(each) for each in spent]
    known = [each for each in usd if each is not None]
    ended = _ended(plan, planned, complete, cells, stopped=stopped)
    comparisons, curve = _against(plan, read, unit)
    report: Json = {
        "type": "moot.eval.report",
        "version": VERSION,
        "evaluation": plan.id,
        "task": plan.task.name,
        "task_sha256": plan.task.sha256,
        "files_sha256": plan.task.files_sha256 or None,
        "kind": plan.task.kind,
        "seed": plan.seed,
        "epochs": plan.epochs,
        "items": len(planned),
        "complete": len(complete),
        **ended,
        "models": models,
        "graded_by": _graded_by(plan, models),
        "unit": unit,
        "smallest_difference": detectable(len(complete)),
        "spent": {
            "usd": fsum(known) if len(known) == len(usd) else None,  # in any order: cells are stored as they begin
            "tokens_in": sum(each.tokens_in for each in spent),
            "tokens_out": sum(each.tokens_out for each in spent),
        },
        "pool": plan.pool,
        "arms": summaries,
        "baselines": {name: _summary(rows) for name, rows in _baselines(plan, read).items()} if complete else {},
        "curve": curve,
        "comparisons": comparisons,
        "standing": standing(plan.pools[POOL], plan.pool, summaries, _costs(plan, read, unit), curve, comparisons),
        "cells": [_cell(plan, row, arm) for arm, rows in read.rows.items() for row in rows],
        "timing": {name: _timing(rows) for name, rows in read.rows.items()},
    }
    return report


def as_bytes(report: Json, *, timing: bool = True) -> bytes:
    """The report as a file. Without `timing`, a report of the same plan has the same bytes wherever it was run."""
    shown = report if timing else {name: value for name, value in report.items() if name != "timing"}
    return (json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _ended(
    plan: EvaluationPlan,
    planned: Sequence[Block],
    complete: Sequence[Block],
    cells: Mapping[str, Debate],
    *,
    stopped: bool,
) -> Json:
    """Why blocks are missing: never begun, for want of budget or because it was stopped; begun and failed; not
    graded."""
    done = {block.item.id for block in complete}
    begun = [block for block in planned if block.item.id not in done and any(cell.id in cells for cell in block.cells)]
    limited = plan.max_cost_usd is not None or plan.max_output_tokens is not None
    not_begun = len(planned) - len(complete) - len(begun)
    spent = Usage()
    for each in cells.values():
        spent += each.usage
    failed = [_failure(cell, cells[cell.id]) for block in begun for cell in block.cells if _failed(cells.get(cell.id))]
    return {
        "unfinished": len(begun),
        "ungraded": sum(all(_ran(cells.get(cell.id)) for cell in block.cells) for block in begun),
        "failed": failed,
        "not_begun": not_begun,
        "cut_by": _cut_by(plan, spent, stopped=stopped) if not_begun else None,
        "budget": None
        if not limited
        else {"max_cost_usd": plan.max_cost_usd, "max_output_tokens": plan.max_output_tokens},
    }


def _cut_by(plan: EvaluationPlan, spent: Usage, *, stopped: bool) -> str | None:
    """Why no other block is begun; None: nothing hinders it."""
    if not fits(plan, spent, plan.worst_block):
        return "budget"
    return "stop" if stopped else None


def _failed(debate: Debate | None) -> bool:
    return debate is not None and debate.status in ("failed", "canceled", "stopped")


def _failure(cell: Cell, debate: Debate) -> Json:
    cause = f"it is {debate.status}" if debate.error is None else debate.error.message
    return {"arm": cell.arm.name, "item": cell.item.id, "epoch": cell.epoch, "debate": debate.id, "cause": cause}


def _graded_by(plan: EvaluationPlan, models: Sequence[str]) -> Json | None:
    if plan.judge is None:
        return None
    judge = str(plan.judge.settings["model_debater"])
    families = {family_of(model) for model in models}
    return {"model": judge, "rubric": plan.task.rubric, "same_family": family_of(judge) in families}


def _ran(debate: Debate | None) -> bool:
    return debate is not None and debate.status == "completed"


def _unit(plan: EvaluationPlan, read: Arms) -> str:
    costs = [row.usd for rows in read.rows.values() for row in rows]
    priced = bool(costs) and all(each is not None for each in costs) and any(costs)
    return "usd" if plan.match == "usd" and priced else "tokens"


def _cost(row: Row, unit: str) -> float:
    return (row.usd or 0.0) if unit == "usd" else row.weighed


def _drawn(pool: Pool, k: int) -> Row:
    """The most frequent of k samples, as a row: how likely it is right, and what k samples cost on average."""
    share = k / max(1, pool.size)
    return Row(
        item=pool.row.item,
        epoch=pool.row.epoch,
        cluster=pool.row.cluster,
        score=pool.score(min(k, pool.size)),
        usd=None if pool.row.usd is None else pool.row.usd * share,
        tokens_in=pool.row.tokens_in * share,
        tokens_out=pool.row.tokens_out * share,
        debate=pool.row.debate,
        drawn=True,
    )


def _baselines(plan: EvaluationPlan, read: Arms) -> dict[str, list[Row]]:
    return {
        SINGLE: [_drawn(pool, 1) for pool in _of_one(plan, read)],
        **{
            f"{drawn.removesuffix('-of')} of {plan.pool}": [_drawn(pool, plan.pool) for pool in read.pools[name]]
            for name, drawn in plan.pools.items()
        },
    }


def _of_one(plan: EvaluationPlan, read: Arms) -> list[Pool]:
    """The samples of one model, where there are any of one alone; else of all that take turns."""
    return read.pools[[*plan.pools][-1]]


@record
class _Baseline:
    name: str
    rows: Sequence[Row]
    samples: int | None = None  # of a pool
    short: bool = False  # all samples of the pool cost less than the debate


def _against(plan: EvaluationPlan, read: Arms, unit: str) -> tuple[list[Json], list[Json]]:
    """Each arm that debates against each baseline, at equal cost where the baseline comes from a pool."""
    if not read.pools[POOL]:
        return [], []
    sizes = {1, plan.pool, *(n for n in (2, 3, 5, 8, 13, 21) if n < plan.pool)}
    made: list[Json] = []
    for arm in plan.compared:
        rows = read.rows[arm.name]
        cost = fmean(_cost(row, unit) for row in rows)
        baselines = [_matched(drawn, read.pools[name], cost, unit, plan.pool) for name, drawn in plan.pools.items()]
        sizes.add(baselines[0].samples or 1)
        baselines.append(_Baseline(name=SINGLE, rows=[_drawn(pool, 1) for pool in _of_one(plan, read)], samples=1))
        baselines += [
            _Baseline(name=each.name, rows=read.rows[each.name]) for each in plan.beside_pools if each.baseline
        ]
        made += [_comparison(arm.name, rows, each, unit, cost) for each in baselines]
    for name in dict.fromkeys(str(each["baseline"]) for each in made):
        same = [each for each in made if each["baseline"] == name]
        for each, corrected in zip(same, holm([float(each["p"]) for each in same]), strict=True):
            correct(each, corrected, len(same))
            each["sentence"] = sentence(each, unit)
            if plan.judge is not None:
                _doubt(each, unit)
    curve: list[Json] = [_point(read.pools[POOL], k, unit) for k in sorted(sizes)]
    return made, curve


def _matched(drawn: str, pools: Sequence[Pool], cost: float, unit: str, most: int) -> _Baseline:
    """As many samples of a pool as cost what a debate costs."""
    sample = fmean(_cost(pool.row, unit) / max(1, pool.size) for pool in pools)
    k = samples_for(cost, sample, most)
    return _Baseline(name=drawn, rows=[_drawn(pool, k) for pool in pools], samples=k, short=k * sample < cost * 0.999)


def _point(pools: Sequence[Pool], k: int, unit: str) -> Json:
    rows = [_drawn(pool, k) for pool in pools]
    return {"samples": k, "cost": fmean(_cost(row, unit) for row in rows), "accuracy": fmean(row.score for row in rows)}


def _comparison(arm: str, rows: Sequence[Row], base: _Baseline, unit: str, cost: float) -> Json:
    items = len({row.item for row in rows})
    result = compared(_pairs(rows, base.rows), items)
    other = fmean(_cost(row, unit) for row in base.rows)
    return {
        "arm": arm,
        "baseline": base.name,
        "samples": base.samples,
        "cost": cost,
        "baseline_cost": other,
        "pool_too_small": base.short,
        "n": result.pairs.n,
        "answers": len(rows),
        "items": items,
        "gained": result.pairs.gained,
        "lost": result.pairs.lost,
        "difference": result.pairs.difference,
        "interval": _ends(result.interval),
        "p": result.p,
        "finding": result.finding,
        "needed": result.needed,
    }


def correct(comparison: Json, p_holm: float, arms: int) -> None:
    """Complete a comparison that is one of several with the same baseline: what it finds must hold among them all."""
    pairs = Pairs(n=comparison["n"], gained=comparison["gained"], lost=comparison["lost"])
    alone = comparison["finding"]
    found = among(alone, p_holm)
    if found != alone:
        comparison |= {"finding": found, "needed": items_needed(pairs, comparison["items"], arms)}
    comparison |= {"p_holm": p_holm, "arms_compared": arms, "finding_alone": alone}


def _doubt(comparison: Json, unit: str) -> None:
    """Take back what a comparison finds, because a model graded the answers."""
    comparison |= {"finding": NO_FINDING, "needed": None}
    comparison["sentence"] = sentence_without_finding(comparison, unit)


def _pairs(rows: Sequence[Row], base: Sequence[Row]) -> Pairs:
    """Pairs of the same items, in clusters where items are related or asked several times."""
    clusters: dict[str, list[tuple[float, float]]] = {}
    for row, other in zip(rows, base, strict=True):
        assert (row.item, row.epoch) == (other.item, other.epoch)
        clusters.setdefault(row.cluster, []).append((row.score, other.score))
    return expected_pairs(list(clusters.values()))


def _summary(rows: Sequence[Row]) -> Json:
    """What is printed for each arm."""
    if not rows:
        return {"n": 0}
    clusters: dict[str, list[float]] = {}
    for row in rows:
        clusters.setdefault(row.cluster, []).append(row.score)
    scores, n, right = list(clusters.values()), len(rows), sum(row.score for row in rows)
    simple = len(scores) == n
    interval = wilson(right, n) if simple else clustered_wilson(scores)
    known = [row.usd for row in rows if row.usd is not None]
    usd = sum(known) if len(known) == n else None
    tokens = sum(row.tokens_in + row.tokens_out for row in rows)
    flips = [row.flip_rate for row in rows if row.flip_rate is not None]
    return {
        "n": n,
        "right": right,
        "accuracy": right / n,
        "interval": _ends(interval),
        "effective_n": float(n) if simple else effective_n(scores),
        "no_answer": None if rows[0].drawn else sum(row.value is None for row in rows),
        "undecided": sum(row.undecided for row in rows),
        "ties": sum(row.tie for row in rows),
        "flips": None
        if not flips
        else {"rate": fmean(flips), "of": len(flips), "interval": _ends(wilson(sum(flips), len(flips)))},
        "usd_per_item": None if usd is None else usd / n,
        "tokens_per_item": tokens / n,
        "usd_per_right": None if usd is None or not right else usd / right,
        "tokens_per_right": None if not right else tokens / right,
        **_before(rows),
        "voters": _voters(rows),
        "calibration": {
            "stated": reliability([(row.stated, bool(row.score)) for row in rows if row.stated is not None]),
            "agreement": reliability([(row.agreement, bool(row.score)) for row in rows if row.agreement is not None]),
        },
    }


def _before(rows: Sequence[Row]) -> Json:
    """What the debate itself added: the vote of the first answers, and what became of it."""
    voted = [row for row in rows if row.first_vote]
    if not voted:
        return {"first_vote": None}
    moved = Counter(f"{row.first_vote} to {_ending(row)}" for row in voted)
    return {
        "first_vote": {
            "accuracy": sum(row.first_vote == "right" for row in voted) / len(voted),
            "ties": sum(row.first_vote == "tie" for row in voted),
            "repaired": moved["wrong to right"],
            "broken": moved["right to wrong"] + moved["right to none"],
            "transitions": dict(sorted(moved.items())),
        }
    }


def _ending(row: Row) -> str:
    return "none" if row.value is None else "right" if row.score else "wrong"


def _voters(rows: Sequence[Row]) -> Json | None:
    """How far the errors of those who answered first go together, and what a majority of them would be worth."""
    votes = [list(row.first) for row in rows if len(row.first) > 1]
    if not votes:
        return None
    k = min(map(len, votes))
    flat = [vote for each in votes for vote in each]
    skill, rho = sum(flat) / len(flat), error_correlation(votes)
    odd = k if k % 2 else k - 1
    return {
        "voters": k,
        "accuracy": skill,
        "correlation": rho,
        "effective": None if rho is None else effective_voters(k, rho),
        "majority_predicted": None if rho is None or not 0 < skill < 1 else majority_theory(skill, max(0.0, rho), odd),
        "majority_observed": fmean(2 * sum(each) > len(each) for each in votes),
    }


def _timing(rows: Sequence[Row]) -> Json:
    times = sorted(row.seconds for row in rows)
    if not times:
        return {"p50": None, "p95": None}

    def at(share: float) -> float:
        return times[min(len(times) - 1, int(share * len(times)))]

    return {"p50": round(at(0.5), 3), "p95": round(at(0.95), 3)}


def _cell(plan: EvaluationPlan, row: Row, arm: str) -> Json:
    graded = plan.judge is not None and row.value is not None
    return {
        "arm": arm,
        "item": row.item,
        "epoch": row.epoch,
        "debate": row.debate,
        "answer": row.value,
        "right": bool(row.score),
        "first_vote": row.first_vote,
        "graded_in": grading_id(plan, row.item, sha256_of(row.value or "")) if graded else None,
    }


def _costs(plan: EvaluationPlan, read: Arms, unit: str) -> dict[str, float]:
    """What an item costs on average, by arm."""
    known = {arm.name: read.rows[arm.name] for arm in plan.beside_pools}
    return {name: fmean(_cost(row, unit) for row in rows) for name, rows in known.items() if rows}


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]
