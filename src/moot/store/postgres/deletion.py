"""Deleting debates in PostgreSQL. The space that they took is reused after the server's own vacuum."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from moot.core.types import Debate, Status
from moot.store import Tombstone
from moot.store.postgres.connections import Connection, sql
from moot.store.postgres.database import Database
from moot.store.postgres.memories import lock_words
from moot.store.rows import listed, seen_values, the_tombstone, tombstone_of


class PostgresDeletion(Database):
    async def delete(
        self, debate_id: str, *, by: str, expect: Collection[Status] | None = None, seen: Debate | None = None
    ) -> Tombstone | None:
        values = {"id": debate_id, "by": by, "expect": None if expect is None else list(expect), **seen_values(seen)}

        async def work(connection: Connection, retried: bool) -> Tombstone | None:
            async with connection.transaction():
                await lock_words(connection)
                if not await sql("to_delete").on(connection, values):
                    arrived = await sql("tombstone").on(connection, {"prefix": debate_id}) if retried else ()
                    return the_tombstone([tombstone_of(row) for row in arrived if row["deleted_by"] == by], debate_id)
                await sql("forget_words").on(connection, values)
                await sql("delete").on(connection, values)
                (queue,) = await sql("queue_exists").on(connection, {})
                if queue["exists"]:
                    await sql("delete_jobs").on(connection, values)
                (buried,) = await sql("bury").on(connection, {**values, "now": self.now()})
                return tombstone_of(buried)

        return await self.with_connection(work)

    async def tombstone(self, prefix: str) -> Tombstone | None:
        return the_tombstone([tombstone_of(row) for row in await self._rows("tombstone", prefix=prefix)], prefix)

    async def tombstones(self, ids: Collection[str]) -> Sequence[Tombstone]:
        return [tombstone_of(row) for row in await self._rows("tombstones", ids=list(ids))]

    async def untouched(self, before: float, statuses: Collection[Status], limit: int) -> Sequence[Debate]:
        rows = await self._rows("untouched", before=before, statuses=list(statuses), limit=limit)
        return [listed(row) for row in rows]

    async def scrub(self) -> None:
        """Does nothing: freed space is the server's, and its vacuum sees to it."""
