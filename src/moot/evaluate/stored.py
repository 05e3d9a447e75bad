"""Evaluations as they are stored: found by id, folded, replayed, compared."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

from pydantic import ValidationError

from moot.client.client import Client
from moot.core.errors import InputError, MootError, UnknownName
from moot.core.types import Json
from moot.evaluate.between import differences, shared_items, shared_samples, side_by_side, without_samples
from moot.evaluate.deleted import deleted_of
from moot.evaluate.folding import fold, rows_by_arm
from moot.evaluate.grading import stored_grades
from moot.evaluate.inspect_report import inspect_logs
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.rows import Row
from moot.evaluate.running import stored_cells, stored_debates
from moot.store import StoredEvaluation


async def find(client: Client, given: str) -> tuple[EvaluationPlan, StoredEvaluation]:
    """The evaluation with this id, or the only one whose id begins so. Raises UnknownName or InputError."""
    client.caller.need("read")
    found: Sequence[StoredEvaluation] = ()
    if client.app.has_database and given.strip():
        found = await client.store.evaluations(given.strip().lower(), 2)
    if not found:
        raise UnknownName("evaluation", given[:36], (), hint="List them with: moot eval show.")
    if len(found) > 1:
        raise InputError(f"Several evaluations have an id that begins with {given!r}. Give more of it.")
    plan = plan_of(found[0])
    if plan is None:
        raise InputError(
            f"The plan of evaluation {found[0].id[:8]} can't be read: another version of moot has made it. Read it "
            "with that version, or run it again."
        )
    return plan, found[0]


def plan_of(stored: StoredEvaluation) -> EvaluationPlan | None:
    """The plan of a stored evaluation; None if another version of moot made it, and it can't be read."""
    try:
        plan = EvaluationPlan.model_validate_json(stored.plan)
    except ValidationError:
        return None
    return plan if plan.id == stored.id else None


async def report(client: Client, plan: EvaluationPlan) -> Json:
    found = await client.store.evaluations(plan.id, 1)
    stopped = bool(found) and found[0].stopped_at is not None
    cells, grades = await stored_debates(client, plan), await stored_grades(client, plan.id)
    return fold(plan, cells, grades, stopped=stopped, deleted=await deleted_of(client, plan, cells, grades))


async def inspect(client: Client, plan: EvaluationPlan) -> dict[str, bytes]:
    """Logs for Inspect, by their file names."""
    return inspect_logs(plan, await stored_cells(client, plan.id), await stored_grades(client, plan.id))


async def replayed(client: Client, plan: EvaluationPlan) -> AsyncGenerator[tuple[str, str]]:
    """Run the rules of every complete cell over its turns again; yield each id, and what differs (empty: nothing)."""
    for debate in (await stored_debates(client, plan)).values():
        if debate.status != "completed":
            continue
        try:
            proof = await client.replay(debate)
            yield debate.id, "" if proof.same else "Its turns lead to another transcript or outcome."
        except MootError as error:
            yield debate.id, str(error)


async def compared(client: Client, one: EvaluationPlan, two: EvaluationPlan) -> Json:
    """Two evaluations side by side, by the items that both ask; of their pools, as many samples as both have. Raises
    InputError if there are no such items."""
    items, samples = shared_items(one, two), shared_samples(one, two)
    first, second = [await _rows(client, plan, samples) for plan in (one, two)]
    return {
        "type": "moot.eval.compare",
        "items": len(items),
        "only_first": len(one.task.items) - len(items),
        "only_second": len(two.task.items) - len(items),
        "differ": differences(one, two),
        "left_out": without_samples(samples),
        "arms": side_by_side(one, items, first, second),
    }


async def deleted(client: Client, plan: EvaluationPlan) -> list[str]:
    """The ids of debates of an evaluation that were deleted: they can't be replayed."""
    return sorted(
        await deleted_of(client, plan, await stored_debates(client, plan), await stored_grades(client, plan.id))
    )


async def _rows(client: Client, plan: EvaluationPlan, samples: Mapping[str, int]) -> dict[str, list[Row]]:
    cells, grades = await stored_debates(client, plan), await stored_grades(client, plan.id)
    return rows_by_arm(plan, cells, grades, samples, await deleted_of(client, plan, cells, grades))
