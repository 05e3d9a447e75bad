"""Plans of evaluations, and grades of answers, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

from moot.store import CellCounts, Grade, StoredEvaluation, Viewer
from moot.store.rows import counts_of, evaluation_of, grade_of, grade_values, viewer_values
from moot.store.sqlite.connection import sql
from moot.store.sqlite.database import Database


class SqliteEvaluations(Database):
    async def add_evaluation(self, evaluation: StoredEvaluation) -> None:
        values = {"id": evaluation.id, "name": evaluation.name, "plan": evaluation.plan, "now": self._now()}
        await self._change("add_evaluation", values)

    async def evaluations(self, prefix: str = "", limit: int = 20) -> Sequence[StoredEvaluation]:
        return await self._rows("evaluations", evaluation_of, prefix=prefix, limit=limit)

    async def cell_counts(self, evaluation_id: str, viewer: Viewer | None = None) -> CellCounts:
        (found,) = await self._rows("cell_counts", counts_of, id=evaluation_id, **viewer_values(viewer))
        return found

    async def stop_evaluation(self, evaluation_id: str, *, stopped: bool = True) -> None:
        await self._change("stop_evaluation", {"id": evaluation_id, "at": self._now() if stopped else None})

    async def add_grades(self, evaluation_id: str, grades: Sequence[Grade]) -> None:
        rows = [{"evaluation": evaluation_id, **grade_values(each)} for each in grades]
        if rows:
            await self._writer.do(lambda connection: connection.executemany(sql("add_grade"), rows))

    async def grades(self, evaluation_id: str) -> Sequence[Grade]:
        return await self._rows("grades", grade_of, evaluation=evaluation_id)
