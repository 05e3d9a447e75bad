"""The report of an evaluation: a pure fold over its plan and its stored debates. The same debates give the same bytes.

Durations are the only figures that differ between two runs of one plan; they stand apart, under `timing`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean

from moot.core.types import Debate, Json, Usage
from moot.core.values import sha256_of
from moot.evaluate.against import against
from moot.evaluate.baselines import curve, equal_cost, from_pools
from moot.evaluate.costs import standing
from moot.evaluate.model_grading import grading_id
from moot.evaluate.plans import POOL, Block, Cell, EvaluationPlan, Worst, blocks, fits, worst_of_deleted
from moot.evaluate.power import power
from moot.evaluate.rows import Arms, Grades, Row, dollars, has_failed, is_complete, rows_of
from moot.evaluate.summaries import summary, timing
from moot.reasoning.model_family import family_of

VERSION = 2


def fold(
    plan: EvaluationPlan,
    cells: Mapping[str, Debate],
    grades: Grades,
    *,
    stopped: bool = False,
    deleted: Collection[str] = (),
) -> Json:
    """The report, as JSON. Blocks with an incomplete cell are left out, and counted. `stopped`: no new one is begun.
    `deleted`: ids of debates that were."""
    planned = list(blocks(plan))
    complete = [block for block in planned if is_complete(plan, block, cells, grades)]
    read = rows_of(plan, complete, cells, grades)
    begun = _begun(planned, cells, deleted)
    whole = _as_dear(rows_of(plan, begun, cells, grades, deleted), deleted) if len(begun) > len(complete) else read
    unit = _unit(plan, read)
    left_out = _left_out(plan, planned, complete, cells, deleted, stopped=stopped)
    failed = Counter(str(each["arm"]) for each in left_out["failed"])
    summaries = {arm.name: summary(read.rows[arm.name], failed[arm.name]) for arm in plan.beside_pools}
    own = {cell.id for block in planned for cell in block.cells}
    models = sorted({seat.model for id, each in cells.items() if id in own for seat in each.cast})
    spent = [cells[each].usage for each in cells]
    usd = [dollars(each) for each in spent]
    known = [each for each in usd if each is not None]
    costs = _costs(plan, read, unit)
    equal = {name: equal_cost(plan, read, POOL, each, unit) for name, each in costs.items()}
    points = curve(plan, read, unit, [each.samples for each in equal.values()]) if complete else []
    several = {drawn: plan.most_drawn(drawn) for drawn in plan.pools.values()}
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
        **power(plan, (block.item for block in complete)),
        "spent": {
            "usd": fsum(known) if len(known) == len(usd) else None,  # in any order: cells are stored as they begin
            "tokens_in": sum(each.tokens_in for each in spent),
            "tokens_out": sum(each.tokens_out for each in spent),
        },
        "pool": plan.pool,
        "arms": summaries,
        "baselines": {name: summary(rows) for name, rows in from_pools(plan, read, several).items() if rows},
        "curve": points,
        "comparisons": against(plan, read, whole, unit),
        "standing": standing(plan.pools[POOL], summaries, costs, points, equal, {arm.name for arm in plan.compared}),
        "cells": [_cell(plan, row, arm) for arm, rows in read.rows.items() for row in rows],
        "timing": {name: timing(rows) for name, rows in read.rows.items()},
    }
    return report


def rows_by_arm(
    plan: EvaluationPlan,
    cells: Mapping[str, Debate],
    grades: Grades,
    samples: Mapping[str, int],
    deleted: Collection[str] = (),
) -> dict[str, list[Row]]:
    """What each arm and baseline made of the blocks that were begun; a debate that failed, was deleted or has not ended
    is a lost row. `samples`: how many are drawn from a pool, by what several of them are; a baseline without any is
    left out."""
    read = rows_of(plan, _begun(blocks(plan), cells, deleted), cells, grades, deleted)
    return from_pools(plan, read, samples) | {arm.name: read.rows[arm.name] for arm in plan.beside_pools}


def as_bytes(report: Json, *, timing: bool = True) -> bytes:
    """The report as a file. Without `timing`, a report of the same plan has the same bytes wherever it was run."""
    shown = report if timing else {name: value for name, value in report.items() if name != "timing"}
    return (json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _left_out(
    plan: EvaluationPlan,
    planned: Sequence[Block],
    complete: Sequence[Block],
    cells: Mapping[str, Debate],
    deleted: Collection[str],
    *,
    stopped: bool,
) -> Json:
    """Why blocks are missing: never begun, for want of budget or because it was stopped; begun and failed; not
    graded."""
    done = {block.item.id for block in complete}
    begun = [block for block in _begun(planned, cells, deleted) if block.item.id not in done]
    limited = plan.max_cost_usd is not None or plan.max_output_tokens is not None
    not_begun = len(planned) - len(complete) - len(begun)
    spent = Usage()
    for each in cells.values():
        spent += each.usage
    failed = [
        _failure(cell, cells.get(cell.id))
        for block in begun
        for cell in block.cells
        if has_failed(cell, cells, deleted)
    ]
    lost = worst_of_deleted(plan, deleted)
    return {
        "unfinished": len(begun),
        "ungraded": sum(all(_ran(cells.get(cell.id)) for cell in block.cells) for block in begun),
        "failed": failed,
        "deleted": len(deleted),
        "not_begun": not_begun,
        "cut_by": _cut_by(plan, spent, lost, stopped=stopped) if not_begun else None,
        "budget": None
        if not limited
        else {
            "max_cost_usd": plan.max_cost_usd,
            "max_output_tokens": plan.max_output_tokens,
            "worst_item_usd": plan.worst_block.usd,
            "worst_item_output_tokens": plan.worst_block.tokens,
            "worst_deleted_usd": lost.usd,
            "worst_deleted_output_tokens": lost.tokens,
        },
    }


def _cut_by(plan: EvaluationPlan, spent: Usage, lost: Worst, *, stopped: bool) -> str | None:
    """Why no other block is begun; None: nothing hinders it. `lost`: what deleted debates can have used."""
    if not fits(plan, spent, lost + plan.worst_block):
        return "budget"
    return "stop" if stopped else None


def _begun(planned: Iterable[Block], cells: Mapping[str, Debate], deleted: Collection[str]) -> list[Block]:
    """The blocks of which there is or was a debate."""
    return [block for block in planned if any(cell.id in cells or cell.id in deleted for cell in block.cells)]


def _as_dear(whole: Arms, deleted: Collection[str]) -> Arms:
    """With what a debate cost that was deleted, or has not ended: as much as the dearest of its arm."""

    def estimated(rows: Sequence[Row]) -> list[Row]:
        known = [row for row in rows if not row.lost]
        if not known:
            return list(rows)
        usd = [row.usd for row in known if row.usd is not None]
        dearest = {
            "usd": max(usd) if len(usd) == len(known) else None,
            "tokens_in": max(row.tokens_in for row in known),
            "tokens_out": max(row.tokens_out for row in known),
        }
        return [
            replace(row, **dearest) if row.lost and (row.unfinished or row.debate in deleted) else row for row in rows
        ]

    return Arms(rows={name: estimated(rows) for name, rows in whole.rows.items()}, pools=whole.pools)


def _failure(cell: Cell, debate: Debate | None) -> Json:
    """`debate`: None if it was deleted."""
    cause = "it was deleted"
    if debate is not None:
        cause = f"it is {debate.status}" if debate.error is None else debate.error.message
    return {
        "arm": cell.arm.name,
        "item": cell.item.id,
        "epoch": cell.epoch,
        "debate": cell.id,
        "cause": cause,
        "deleted": debate is None,
    }


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
    return {name: fmean(row.cost(unit) for row in rows) for name, rows in known.items() if rows}
