"""Evaluations as they are stored: found by id, folded, replayed, compared."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing

from pydantic import ValidationError

from moot.client.client import Client
from moot.core.errors import InputError, MootError, UnknownName
from moot.core.types import Debate, Json, record
from moot.evaluate.between import differences, shared_items, shared_samples, side_by_side, without_samples
from moot.evaluate.cells import stored_debates, whole_cells
from moot.evaluate.deleted import deleted_of
from moot.evaluate.folding import fold, rows_by_arm
from moot.evaluate.grading import stored_grades
from moot.evaluate.inspect_report import inspect_logs
from moot.evaluate.model_grading import gradings_of
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.rows import Grades, Row
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


@record
class Stored:
    """An evaluation with all that its report is made of."""

    plan: EvaluationPlan
    cells: Mapping[str, Debate]  # slim, with the debates in which a judge graded
    grades: Grades
    stopped: bool
    deleted: Collection[str]  # ids of debates

    def report(self) -> Json:
        return fold(self.plan, self.cells, self.grades, stopped=self.stopped, deleted=self.deleted)

    def inspect_logs(self) -> dict[str, bytes]:
        """Logs for Inspect, by their file names."""
        return inspect_logs(self.plan, self.cells, self.grades)


async def read(client: Client, plan: EvaluationPlan) -> Stored:
    found = await client.store.evaluations(plan.id, 1)
    cells, grades = await stored_debates(client, plan), await stored_grades(client, plan.id)
    return Stored(
        plan=plan,
        cells=cells,
        grades=grades,
        stopped=bool(found) and found[0].stopped_at is not None,
        deleted=await deleted_of(client, plan, cells, grades),
    )


async def report(client: Client, plan: EvaluationPlan) -> Json:
    return (await read(client, plan)).report()


async def replayed(client: Client, plan: EvaluationPlan) -> AsyncGenerator[tuple[str, str]]:
    """Run the rules of every complete cell over its turns again; yield each id, and what differs (empty: nothing)."""
    for evaluation in (plan.id, gradings_of(plan.id)):
        async with aclosing(whole_cells(client, evaluation)) as debates:
            async for debate in debates:
                if debate.status == "completed":
                    yield debate.id, await _difference(client, debate)


async def _difference(client: Client, debate: Debate) -> str:
    try:
        proof = await client.replay(debate)
    except MootError as error:
        return str(error)
    return "" if proof.same else "Its turns lead to another transcript or outcome."


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


async def _rows(client: Client, plan: EvaluationPlan, samples: Mapping[str, int]) -> dict[str, list[Row]]:
    found = await read(client, plan)
    return rows_by_arm(plan, found.cells, found.grades, samples, found.deleted)
