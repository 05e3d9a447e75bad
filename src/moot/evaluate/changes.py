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
    """Raises InputError if the task file of a stored evaluation has other items now, or the files of its items are not
    the same. One that is gone is not missed: the plan has the items."""
    if not plan.file or not Path(plan.file).exists():
        return
    given = bool(plan.task.files_sha256)
    name, items = (plan.task.name, plan.file) if given else (plan.file, None)
    try:
        now: Task | None = load_task(name, seed=plan.seed, limit=plan.limit, items=items)
    except InputError:
        now = None
    if now is None or _content(now) != _content(plan.task):
        raise InputError(
            f"{_changed(plan)} since evaluation {plan.id[:8]} was begun. To go on with the items as they were: moot "
            f"eval resume {plan.id[:8]} --old-items. To ask the new ones: moot eval run --new."
        )


async def check_new(client: Client, plan: EvaluationPlan) -> None:
    """Raises InputError if an unfinished evaluation asks the same of the same task file, with other items."""
    if not plan.file or not client.app.has_database:
        return
    for each in await client.store.evaluations(limit=NEWEST):
        if each.id == plan.id or each.name != plan.task.name:
            continue
        other = plan_of(each)
        if other is None or _asked(other) != _asked(plan) or _content(other.task) == _content(plan.task):
            continue
        done = await client.store.cell_counts(each.id, client.viewer)
        if done.completed < other.cells:
            raise InputError(
                f"{_changed(other)} since evaluation {each.id[:8]}, which is not finished: {done.completed} of "
                f"{other.cells} debates are done. To go on with the items as they were: moot eval resume {each.id[:8]} "
                "--old-items. To begin again with the new ones: the same command with --new."
            )


def _content(task: Task) -> tuple[str, str]:
    return task.sha256, task.files_sha256


def _changed(plan: EvaluationPlan) -> str:
    if not plan.task.files_sha256:
        return f"The task file {plan.file} has changed"
    return f"The items of {plan.file} have changed (sha256 was {plan.task.files_sha256[:12]}…)"


def _asked(plan: EvaluationPlan) -> list[Any]:
    """What a plan asks for, whatever its items are: worst cases and the size of the pool depend on them."""
    arms = [(arm.name, arm.format, arm.settings) for arm in plan.beside_pools]
    model = plan.arms[0].settings.get("model_debater")
    return [plan.file, plan.limit, arms, model, plan.models, [*plan.pools], plan.epochs, plan.seed, plan.match]
