"""Evaluations as they are stored: found by id, folded, replayed, compared."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from pydantic import ValidationError

from moot.client.client import Client
from moot.core.errors import InputError, MootError, UnknownName
from moot.core.types import Json
from moot.evaluate.comparing import compared
from moot.evaluate.folding import NO_FINDING, fold
from moot.evaluate.grading import stored_grades
from moot.evaluate.inspect_report import inspect_logs
from moot.evaluate.intervals import paired
from moot.evaluate.plans import EvaluationPlan
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
    try:
        return EvaluationPlan.model_validate_json(found[0].plan), found[0]
    except ValidationError:
        raise InputError(f"The plan of evaluation {found[0].id[:8]} can't be read: another moot has made it.") from None


async def report(client: Client, plan: EvaluationPlan) -> Json:
    return fold(plan, await stored_debates(client, plan), await stored_grades(client, plan.id))


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


def side_by_side(one: Json, two: Json) -> list[Json]:
    """The arms that two evaluations of the same task have in common, compared item by item: the second less the
    first. Raises InputError if the task is not the same."""
    if one["task_sha256"] != two["task_sha256"]:
        raise InputError("The two evaluations have different tasks, so their answers can't be paired.")
    made: list[Json] = []
    for arm in one["arms"]:
        if arm not in two["arms"]:
            continue
        first, second = (
            {(cell["item"], cell["epoch"]): bool(cell["right"]) for cell in each["cells"] if cell["arm"] == arm}
            for each in (one, two)
        )
        both = [key for key in first if key in second]
        if not both:
            continue
        result = compared(paired([second[key] for key in both], [first[key] for key in both]))
        made.append(
            {
                "arm": arm,
                "n": len(both),
                "first": sum(first[key] for key in both) / len(both),
                "second": sum(second[key] for key in both) / len(both),
                "difference": result.pairs.difference,
                "interval": [result.interval.low, result.interval.high],
                "p": result.p,
                "finding": result.finding if not one["graded_by"] else NO_FINDING,
                "needed": result.needed if not one["graded_by"] else None,
            }
        )
    return made
