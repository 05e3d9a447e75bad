"""An evaluation as logs that Inspect opens: one for each arm, a sample for each cell of complete items. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from moot.core.types import Debate
from moot.evaluate.inspect_log import InspectRow, inspect_log
from moot.evaluate.plans import EvaluationPlan, blocks, called
from moot.evaluate.rows import Grades, is_complete, rows_of

_UNFIT = re.compile(r"[^A-Za-z0-9.-]+")


def inspect_logs(plan: EvaluationPlan, cells: Mapping[str, Debate], grades: Grades) -> dict[str, bytes]:
    """The logs, by their file names. None where no item is complete."""
    complete = [block for block in blocks(plan) if is_complete(plan, block, cells, grades)]
    if not complete:
        return {}
    items = {block.item.id: block.item for block in complete}
    created = min(cells[cell.id].created_at for block in complete for cell in block.cells)
    made: dict[str, bytes] = {}
    for arm, rows in rows_of(plan, complete, cells, grades).rows.items():
        name = called(arm).replace(" ", "-")
        model = f"moot/{name}"
        samples: list[InspectRow] = []
        for row in rows:
            item, debate = items[row.item], cells[row.debate]
            samples.append(
                InspectRow(
                    id=item.id,
                    epoch=row.epoch,
                    question=item.topic,
                    answer=row.value or "",
                    options=item.options,
                    target=item.target,
                    score=row.score,
                    model=model,
                    debate=debate.id,
                    usage=debate.usage,
                    started_at=debate.started_at,
                    completed_at=debate.completed_at,
                )
            )
        file = _UNFIT.sub("-", f"{plan.task.name}_{name}_{plan.id[:8]}".replace("_", "-"))
        made[f"{file}.eval"] = inspect_log(samples, task=plan.task.name, model=model, created=created)
    return made
