"""Plans of evaluations in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from moot.store import StoredEvaluation
from moot.store.postgres.database import Database
from moot.store.rows import evaluation_of


class PostgresEvaluations(Database):
    async def add_evaluation(self, evaluation: StoredEvaluation) -> None:
        await self._rows("add_evaluation", id=evaluation.id, name=evaluation.name, plan=evaluation.plan, now=self.now())

    async def evaluations(self, prefix: str = "", limit: int = 20) -> Sequence[StoredEvaluation]:
        return [evaluation_of(row) for row in await self._rows("evaluations", prefix=prefix, limit=limit)]

    async def stop_evaluation(self, evaluation_id: str, *, stopped: bool = True) -> None:
        await self._rows("stop_evaluation", id=evaluation_id, at=self.now() if stopped else None)
