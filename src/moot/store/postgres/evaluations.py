"""Plans of evaluations, and grades of answers, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from moot.store import CellCounts, Grade, StoredEvaluation, Viewer
from moot.store.postgres.database import Database
from moot.store.rows import counts_of, evaluation_of, grade_of, viewer_values


class PostgresEvaluations(Database):
    async def add_evaluation(self, evaluation: StoredEvaluation) -> None:
        await self._rows("add_evaluation", id=evaluation.id, name=evaluation.name, plan=evaluation.plan, now=self.now())

    async def evaluations(self, prefix: str = "", limit: int = 20) -> Sequence[StoredEvaluation]:
        return [evaluation_of(row) for row in await self._rows("evaluations", prefix=prefix, limit=limit)]

    async def cell_counts(self, evaluation_id: str, viewer: Viewer | None = None) -> CellCounts:
        (found,) = await self._rows("cell_counts", id=evaluation_id, **viewer_values(viewer))
        return counts_of(found)

    async def stop_evaluation(self, evaluation_id: str, *, stopped: bool = True) -> None:
        await self._rows("stop_evaluation", id=evaluation_id, at=self.now() if stopped else None)

    async def add_grades(self, evaluation_id: str, grades: Sequence[Grade]) -> None:
        if grades:
            await self._rows(
                "add_grades",
                evaluation=evaluation_id,
                items=[each.item for each in grades],
                answers=[each.answer for each in grades],
                passed=[each.passed for each in grades],
                examples=[each.examples for each in grades],
            )

    async def grades(self, evaluation_id: str) -> Sequence[Grade]:
        return [grade_of(row) for row in await self._rows("grades", evaluation=evaluation_id)]
