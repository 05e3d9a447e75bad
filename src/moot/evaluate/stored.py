"""Evaluations as they are stored: found by id, folded, replayed, compared."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

from pydantic import ValidationError

from moot.client.client import Client
from moot.core.errors import InputError, MootError, UnknownName
from moot.core.types import Json
from moot.evaluate.comparing import compared, holm
from moot.evaluate.folding import NO_FINDING, correct, fold
from moot.evaluate.grading import stored_grades
from moot.evaluate.inspect_report import inspect_logs
from moot.evaluate.intervals import expected_pairs
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.running import stored_cells, stored_debates
from moot.evaluate.sentences import sentence_between
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
    return fold(plan, await stored_debates(client, plan), await stored_grades(client, plan.id), stopped=stopped)


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


def side_by_side(plan: EvaluationPlan, one: Json, two: Json) -> list[Json]:
    """The arms that two evaluations of the same task have in common, compared item by item: the second less the
    first. `plan`: that of either. Raises InputError if the task is not the same."""
    if one["task_sha256"] != two["task_sha256"]:
        raise InputError("The two evaluations have different tasks, so their answers can't be paired.")
    clusters = {item.id: item.cluster or item.id for item in plan.task.items}
    made = [
        found for arm in one["arms"] if arm in two["arms"] if (found := _one_arm(clusters, arm, one, two)) is not None
    ]
    for each, p_holm in zip(made, holm([float(each["p"]) for each in made]), strict=True):
        correct(each, p_holm, len(made))
        if each["graded"]:
            each |= {"finding": NO_FINDING, "needed": None}
        each["sentence"] = sentence_between(each)
    return made


def _one_arm(clusters: Mapping[str, str], arm: str, one: Json, two: Json) -> Json | None:
    first, second = (
        {(cell["item"], cell["epoch"]): float(cell["right"]) for cell in each["cells"] if cell["arm"] == arm}
        for each in (one, two)
    )
    both = [key for key in first if key in second]
    if not both:
        return None
    pairs: dict[str, list[tuple[float, float]]] = {}
    for item, epoch in both:
        pairs.setdefault(clusters[item], []).append((second[item, epoch], first[item, epoch]))
    items = len({item for item, _ in both})
    result = compared(expected_pairs(list(pairs.values())), items)
    return {
        "arm": arm,
        "n": result.pairs.n,
        "answers": len(both),
        "items": items,
        "gained": result.pairs.gained,
        "lost": result.pairs.lost,
        "first": sum(first[key] for key in both) / len(both),
        "second": sum(second[key] for key in both) / len(both),
        "difference": result.pairs.difference,
        "interval": [result.interval.low, result.interval.high],
        "p": result.p,
        "finding": result.finding,
        "needed": result.needed,
        "graded": bool(one["graded_by"] or two["graded_by"]),
    }
