"""The report of an evaluation: a pure fold over its plan and its stored debates. The same debates give the same bytes.

Durations are the only figures that differ between two runs of one plan; they stand apart, under `timing`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, fsum
from statistics import fmean

from moot.core.types import Debate, Json, Usage, record
from moot.core.values import sha256_of
from moot.evaluate.comparing import among, compared, holm, items_needed
from moot.evaluate.costs import standing
from moot.evaluate.intervals import Pairs
from moot.evaluate.model_grading import grading_id
from moot.evaluate.plans import (
    MAJORITY,
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
from moot.evaluate.rows import Arms, Drawing, Grades, Row, dollars, is_complete, pairs_of, rows_of
from moot.evaluate.sentences import sentence, sentence_without_finding
from moot.evaluate.summaries import ends, summary, timing
from moot.reasoning.model_family import family_of

VERSION = 1
NO_FINDING = "can't tell"


def fold(plan: EvaluationPlan, cells: Mapping[str, Debate], grades: Grades, *, stopped: bool = False) -> Json:
    """The report, as JSON. Blocks with an incomplete cell are left out, and counted. `stopped`: no new one is begun."""
    planned = list(blocks(plan))
    complete = [block for block in planned if is_complete(plan, block, cells, grades)]
    read = rows_of(plan, complete, cells, grades)
    done = {block.item.id for block in complete}
    ended = [each for each in planned if each.item.id in done or _any_failed(each, cells)]
    whole = rows_of(plan, ended, cells, grades) if len(ended) > len(complete) else read
    unit = _unit(plan, read)
    left_out = _left_out(plan, planned, complete, cells, stopped=stopped)
    failed = Counter(str(each["arm"]) for each in left_out["failed"])
    summaries = {arm.name: summary(read.rows[arm.name], failed[arm.name]) for arm in plan.beside_pools}
    own = {cell.id for block in planned for cell in block.cells}
    models = sorted({seat.model for id, each in cells.items() if id in own for seat in each.cast})
    spent = [cells[each].usage for each in cells]
    usd = [dollars(each) for each in spent]
    known = [each for each in usd if each is not None]
    comparisons, curve = _against(plan, read, whole, unit)
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
        **left_out,
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
        "baselines": {name: summary(rows) for name, rows in _baselines(plan, read, plan.pool).items()}
        if complete
        else {},
        "curve": curve,
        "comparisons": comparisons,
        "standing": standing(plan.pools[POOL], plan.pool, summaries, _costs(plan, read, unit), curve, comparisons),
        "cells": [_cell(plan, row, arm) for arm, rows in read.rows.items() for row in rows],
        "timing": {name: timing(rows) for name, rows in read.rows.items()},
    }
    return report


def rows_by_arm(
    plan: EvaluationPlan, cells: Mapping[str, Debate], grades: Grades, samples: int
) -> dict[str, list[Row]]:
    """What each arm and baseline made of the blocks that are complete. `samples`: how many are drawn from a pool."""
    complete = [block for block in blocks(plan) if is_complete(plan, block, cells, grades)]
    read = rows_of(plan, complete, cells, grades)
    return _baselines(plan, read, samples) | {arm.name: read.rows[arm.name] for arm in plan.beside_pools}


def as_bytes(report: Json, *, timing: bool = True) -> bytes:
    """The report as a file. Without `timing`, a report of the same plan has the same bytes wherever it was run."""
    shown = report if timing else {name: value for name, value in report.items() if name != "timing"}
    return (json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _left_out(
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
        else {
            "max_cost_usd": plan.max_cost_usd,
            "max_output_tokens": plan.max_output_tokens,
            "worst_item_usd": plan.worst_block.usd,
            "worst_item_output_tokens": plan.worst_block.tokens,
        },
    }


def _cut_by(plan: EvaluationPlan, spent: Usage, *, stopped: bool) -> str | None:
    """Why no other block is begun; None: nothing hinders it."""
    if not fits(plan, spent, plan.worst_block):
        return "budget"
    return "stop" if stopped else None


def _failed(debate: Debate | None) -> bool:
    return debate is not None and debate.status in ("failed", "canceled", "stopped")


def _any_failed(block: Block, cells: Mapping[str, Debate]) -> bool:
    return any(_failed(cells.get(cell.id)) for cell in block.cells)


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


def _drawn(drawing: Drawing, k: int) -> Row:
    """The most frequent of k samples, as a row: how likely it is right, and what k samples cost on average."""
    row, pool = drawing.row, drawing.pool
    drawn = pool.drawn(k)
    share = drawn / max(1, pool.size)
    return Row(
        item=row.item,
        epoch=row.epoch,
        cluster=row.cluster,
        score=pool.score(k),
        usd=None if row.usd is None else row.usd * share,
        tokens_in=row.tokens_in * share,
        tokens_out=row.tokens_out * share,
        debate=row.debate,
        drawn=True,
        no_answer=pool.no_answer(k),
        samples=pool.size,
        silent=pool.silent,
        missed=pool.missed,
        lost=row.lost or (drawn < k and pool.missed > 0),
    )


def _single(drawing: Drawing) -> Row:
    """One sample, of whichever model."""
    return _drawn(Drawing(row=drawing.row, pool=drawing.pool.mixed), 1)


def _baselines(plan: EvaluationPlan, read: Arms, samples: int) -> dict[str, list[Row]]:
    return {
        SINGLE: [_single(each) for each in _of_one(plan, read)],
        **{
            f"{drawn.removesuffix('-of')} of {samples}": [_drawn(each, samples) for each in read.pools[name]]
            for name, drawn in plan.pools.items()
        },
    }


def _of_one(plan: EvaluationPlan, read: Arms) -> list[Drawing]:
    """The samples of one model, where there are any of one alone; else of all that take turns."""
    return read.pools[[*plan.pools][-1]]


@record
class _Baseline:
    name: str
    rows: Sequence[Row]
    samples: int | None = None  # of a pool
    short: bool = False  # all samples of the pool cost less than the debate


def _against(plan: EvaluationPlan, read: Arms, whole: Arms, unit: str) -> tuple[list[Json], list[Json]]:
    """Each arm that debates against each baseline, at equal cost where the baseline comes from a pool. `whole`: also
    the blocks in which a debate failed."""
    if not read.pools[POOL]:
        return [], []
    sizes = {plan.pool, *(_in_turns(plan, POOL, n) for n in (2, 3, 5, 8, 13, 21) if n < plan.pool)} - {1}
    made: list[Json] = []
    for arm in plan.compared:
        rows, ended = read.rows[arm.name], whole.rows[arm.name]
        cost = fmean(_cost(row, unit) for row in rows)
        # A failed debate may have cost more than the others before it failed: that is counted in the pool's favour.
        dearer = max(cost, fmean(_cost(row, unit) for row in ended))
        left_out = {row.item for row in ended} - {row.item for row in rows}
        baselines = _bases(plan, read, cost, unit)
        sizes |= {baselines[0].samples or 1} - {1}
        lowest, highest = _bases(plan, whole, dearer, unit), _bases(plan, whole, cost, unit)
        for base, low, high in zip(baselines, lowest, highest, strict=True):
            failed = left_out | {row.item for row in low.rows if row.lost}
            made.append(_comparison(arm.name, rows, base, unit, cost))
            made[-1] |= {
                "failed_items": len(failed),
                "counted_against": _bound(ended, low, 0.0) if failed else None,
                "counted_for": _bound(ended, high, 1.0) if failed else None,
            }
    for name in dict.fromkeys(str(each["baseline"]) for each in made):
        same = [each for each in made if each["baseline"] == name]
        for bound in ("counted_against", "counted_for"):
            _correct_bounds(same, bound)
        for each, corrected in zip(same, holm([float(each["p"]) for each in same]), strict=True):
            correct(each, corrected, len(same))
            _settle(each)
            each["sentence"] = sentence(each, unit)
            if plan.judge is not None:
                _doubt(each, unit)
    pools = read.pools[POOL]
    for arm in plan.beside_pools:  # what costs as much is on the curve, too
        if rows := read.rows[arm.name]:
            matched = _matched(plan, POOL, plan.pools[POOL], pools, fmean(_cost(row, unit) for row in rows), unit)
            sizes |= {matched.samples or 1} - {1}
    curve = [_point([_single(each) for each in pools], 1, unit)]
    curve += [_point([_drawn(each, k) for each in pools], k, unit) for k in sorted(sizes)]
    return made, curve


def _bases(plan: EvaluationPlan, read: Arms, cost: float, unit: str) -> list[_Baseline]:
    """What a debate of this cost is compared with."""
    baselines = [_matched(plan, name, drawn, read.pools[name], cost, unit) for name, drawn in plan.pools.items()]
    baselines.append(_Baseline(name=SINGLE, rows=[_single(each) for each in _of_one(plan, read)], samples=1))
    return baselines + [
        _Baseline(name=each.name, rows=read.rows[each.name]) for each in plan.beside_pools if each.baseline
    ]


def _in_turns(plan: EvaluationPlan, pool: str, k: int) -> int:
    """So many samples, rounded up to as many of each model where several vote."""
    models = len(dict.fromkeys(plan.models)) if plan.pools[pool] == MAJORITY else 1
    return min(plan.pool, ceil(k / max(1, models)) * max(1, models))


def _matched(
    plan: EvaluationPlan, pool: str, drawn: str, found: Sequence[Drawing], cost: float, unit: str
) -> _Baseline:
    """As many samples of a pool as cost what a debate costs."""
    costs = [_cost(each.row, unit) / each.pool.size for each in found if each.pool.size]
    sample = fmean(costs) if costs else 0.0
    k = _in_turns(plan, pool, samples_for(cost, sample, plan.pool))
    return _Baseline(name=drawn, rows=[_drawn(each, k) for each in found], samples=k, short=k * sample < cost * 0.999)


def _point(rows: Sequence[Row], k: int, unit: str) -> Json:
    return {"samples": k, "cost": fmean(_cost(row, unit) for row in rows), "accuracy": fmean(row.score for row in rows)}


def _comparison(arm: str, rows: Sequence[Row], base: _Baseline, unit: str, cost: float) -> Json:
    known = [(row, other) for row, other in zip(rows, base.rows, strict=True) if not other.lost]
    items = len({row.item for row, _ in known})
    result = compared(pairs_of(known), items)
    other = fmean(_cost(row, unit) for row in base.rows)
    return {
        "arm": arm,
        "baseline": base.name,
        "samples": base.samples,
        "cost": cost,
        "baseline_cost": other,
        "pool_too_small": base.short,
        "n": result.pairs.n,
        "answers": len(known),
        "items": items,
        "gained": result.pairs.gained,
        "lost": result.pairs.lost,
        "difference": result.pairs.difference,
        "interval": ends(result.interval),
        "p": result.p,
        "finding": result.finding,
        "needed": result.needed,
        "no_answer": _silence(rows),
        "baseline_no_answer": _silence(base.rows),
    }


def _silence(rows: Sequence[Row]) -> float:
    """The share of answers that are none; of a baseline from the pool, of its samples."""
    samples = sum(row.samples for row in rows)
    return sum(row.silent for row in rows) / samples if samples else fmean(row.no_answer for row in rows)


def _bound(rows: Sequence[Row], base: _Baseline, score: float) -> Json:
    """The comparison over all items: what failed has this score in the arm, and the opposite in the baseline."""
    arm = [replace(row, score=score) if row.lost else row for row in rows]
    other = [replace(row, score=1 - score) if row.lost else row for row in base.rows]
    result = compared(pairs_of(zip(arm, other, strict=True)))
    return {
        "samples": base.samples,
        "pool_too_small": base.short,
        "difference": result.pairs.difference,
        "interval": ends(result.interval),
        "p": result.p,
        "finding": result.finding,
    }


def _correct_bounds(comparisons: Sequence[Json], bound: str) -> None:
    """Correct what bounds find for being several, as their comparisons are. Where nothing failed, there is none: the
    comparison itself stands for it."""
    for each, p_holm in zip(
        comparisons, holm([float((each[bound] or each)["p"]) for each in comparisons]), strict=True
    ):
        if each[bound]:
            each[bound]["finding"] = among(each[bound]["finding"], p_holm)


def _settle(comparison: Json) -> None:
    """Take back what a comparison finds where it need not hold: failed debates, counted against it, could undo it, or
    a debate that did better has also cost more than all samples."""
    found = comparison["finding"]
    if comparison["failed_items"]:
        low, high = comparison["counted_against"], comparison["counted_for"]
        held = {
            "helped": low["finding"] == "helped" and (not low["pool_too_small"] or comparison["pool_too_small"]),
            "hurt": high["finding"] == "hurt",
            "did not help": high["finding"] in ("did not help", "hurt"),
            NO_FINDING: True,
        }
        if not held[found]:
            comparison |= {"finding": NO_FINDING, "doubt": "failed", "needed": None}
            return
    if found == "helped" and comparison["pool_too_small"]:
        comparison |= {"finding": NO_FINDING, "doubt": "cost", "needed": None}


def correct(comparison: Json, p_holm: float, arms: int) -> None:
    """Complete a comparison that is one of several with the same baseline: what it finds must hold among them all."""
    pairs = Pairs(n=comparison["n"], gained=comparison["gained"], lost=comparison["lost"])
    alone = comparison["finding"]
    found = among(alone, p_holm)
    comparison["doubt"] = None
    if found != alone:
        needed = items_needed(pairs, comparison["items"], arms)
        comparison |= {"finding": found, "needed": needed, "doubt": "arms"}
    comparison |= {"p_holm": p_holm, "arms_compared": arms, "finding_alone": alone}


def _doubt(comparison: Json, unit: str) -> None:
    """Take back what a comparison finds, because a model graded the answers."""
    comparison |= {"finding": NO_FINDING, "doubt": "graded", "needed": None}
    comparison["sentence"] = sentence_without_finding(comparison, unit)


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
