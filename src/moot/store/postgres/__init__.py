"""The store for many processes: PostgreSQL, one statement for each change, notices through LISTEN and NOTIFY."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from moot.store import Notice
from moot.store.overview import Overview, Presence, Unserved
from moot.store.postgres.access import PostgresAccess
from moot.store.postgres.artifacts import PostgresArtifacts
from moot.store.postgres.budgets import PostgresBudgets
from moot.store.postgres.debates import PostgresDebates
from moot.store.postgres.deletion import PostgresDeletion
from moot.store.postgres.evaluations import PostgresEvaluations
from moot.store.postgres.memories import PostgresMemories
from moot.store.postgres.overview import overview
from moot.store.postgres.people import PostgresPeople
from moot.store.postgres.schema import database_status
from moot.store.postgres.transfer import PostgresTransfer

__all__ = ["PostgresStore", "database_status"]


class PostgresStore(
    PostgresDebates,
    PostgresPeople,
    PostgresDeletion,
    PostgresArtifacts,
    PostgresTransfer,
    PostgresMemories,
    PostgresEvaluations,
    PostgresAccess,
    PostgresBudgets,
):
    shared: ClassVar[bool] = True

    async def writable(self) -> None:
        await self._rows("change_nothing")
        await self._rows("write_nothing")

    async def overview(self, seconds: float) -> Overview:
        return await self.with_connection(lambda connection, _: overview(connection, self.now(), seconds))

    async def check_in(self, worker: Presence) -> None:
        """Insert or refresh a worker's presence row."""
        await self._rows("check_in", **{**asdict(worker), "abilities": list(worker.abilities), "now": self.now()})

    async def waiting(self, formats: Sequence[str]) -> list[Unserved]:
        """Debates of these formats that should run and that no process drives, the longest first."""
        rows = await self._rows("unserved", formats=list(formats), now=self.now())
        return [Unserved(debate_id=row["id"], format=row["format"], since=row["since"]) for row in rows]

    async def check_out(self, name: str) -> None:
        """Delete a worker's presence row."""
        await self._rows("check_out", name=name)

    def notices(self) -> AsyncGenerator[Notice]:
        return self._listener.notices()

    def follow(self, debate_id: str) -> None:
        self._listener.follow(debate_id)

    def unfollow(self, debate_id: str) -> None:
        self._listener.unfollow(debate_id)

    def publish_text(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        if self._listener.is_followed(debate_id):
            self._publisher.publish(debate_id, key, offset, text, about)
