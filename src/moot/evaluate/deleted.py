"""Which debates of an evaluation were deleted. What they found is lost, so their items count as failed; what they cost
is not known any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from moot.client.client import Client
from moot.core.types import Debate
from moot.evaluate.model_grading import grading_id
from moot.evaluate.plans import EvaluationPlan, blocks
from moot.evaluate.rows import Grades, to_grade

AT_ONCE = 5000  # ids that are looked up at once


async def deleted_of(
    client: Client, plan: EvaluationPlan, cells: Mapping[str, Debate], grades: Grades
) -> frozenset[str]:
    """The ids of debates of a plan that were deleted: cells, and those in which a judge graded an answer. `cells`: the
    debates that are there."""
    if not client.app.has_database:
        return frozenset()
    found = set[str]()
    gone = _gone(plan, cells, grades)
    while ids := list(islice(gone, AT_ONCE)):
        found |= {each.id for each in await client.store.tombstones(ids)}
    return frozenset(found)


def _gone(plan: EvaluationPlan, cells: Mapping[str, Debate], grades: Grades) -> Iterator[str]:
    """The ids of debates that are not there, whether they were never begun or deleted."""
    answers = set(grades)
    for block in blocks(plan):
        yield from (cell.id for cell in block.cells if cell.id not in cells)
        if plan.judge is not None:
            answers |= {(block.item.id, name) for name in to_grade(plan, block, cells)}
    if plan.judge is not None:
        ids = (grading_id(plan, item, answer) for item, answer in sorted(answers))
        yield from (id for id in ids if id not in cells)
