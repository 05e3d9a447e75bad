"""Task files that change under an evaluation: noticed before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moot.client.client import Client
from moot.core.errors import InputError
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.stored import plan_of
from moot.evaluate.tasks import Task, load_task

NEWEST = 50  # evaluations that are looked at


def check_resumed(plan: EvaluationPlan) -> None:
    """Raises InputError if the task file of a stored evaluation has other items now. One that is gone is not missed:
    the plan has the items."""
    if not plan.file or not Path(plan.file).exists():
        return
    try:
        now: Task | None = load_task(plan.file, seed=plan.seed, limit=plan.limit)
    except InputError:
        now = None
    if now is None or now.sha256 != plan.task.sha256:
        raise InputError(
            f"The task file {plan.file} has changed since evaluation {plan.id[:8]} was begun. To go on with the items "
            f"as they were: moot eval resume {plan.id[:8]} --old-items. To ask the new ones: moot eval run --new."
        )


async def check_new(client: Client, plan: EvaluationPlan) -> None:
    """Raises InputError if an unfinished evaluation asks the same of the same task file, with other items."""
    if not plan.file or not client.app.has_database:
        return
    for each in await client.store.evaluations(limit=NEWEST):
        if each.id == plan.id or each.name != plan.task.name:
            continue
        other = plan_of(each)
        if other is None or _asked(other) != _asked(plan) or other.task.sha256 == plan.task.sha256:
            continue
        done = await client.store.cell_counts(each.id, client.viewer)
        if done.completed < other.cells:
            raise InputError(
                f"The task file {plan.file} has changed since evaluation {each.id[:8]}, which is not finished: "
                f"{done.completed} of {other.cells} debates are done. To go on with the items as they were: moot eval "
                f"resume {each.id[:8]} --old-items. To begin again with the new ones: the same command with --new."
            )


def _asked(plan: EvaluationPlan) -> list[Any]:
    """What a plan asks for, whatever its items are: worst cases and the size of the pool depend on them."""
    arms = [(arm.name, arm.format, arm.settings) for arm in plan.beside_pools]
    model = plan.arms[0].settings.get("model_debater")
    return [plan.file, plan.limit, arms, model, plan.models, [*plan.pools], plan.epochs, plan.seed, plan.match]
