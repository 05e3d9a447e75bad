"""Deleting debates in SQLite, and overwriting what they leave in the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing

from moot.core.types import Debate, Status
from moot.store import Tombstone
from moot.store.columns import dumps
from moot.store.rows import listed, seen_values, the_tombstone, tombstone_of
from moot.store.sqlite.connection import connect, sql
from moot.store.sqlite.database import Database

CHECKPOINT_SECONDS = 5  # that emptying the write-ahead log waits for readers of other processes
# In this order: what refers to a row goes before it.
_EVERYTHING = (
    "forget_responses", "forget_words", "delete_memory", "delete_gates", "delete_events", "delete_versions",
    "delete_episodes", "delete_lessons", "delete_uses", "delete_turns", "delete_session",
)  # fmt: skip


class SqliteDeletion(Database):
    async def delete(
        self, debate_id: str, *, by: str, expect: Collection[Status] | None = None, seen: Debate | None = None
    ) -> Tombstone | None:
        values = {"id": debate_id, "by": by, "expect": None if expect is None else dumps(list(expect))}
        values |= seen_values(seen)

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            if connection.execute(sql("to_delete"), values).fetchone() is None:
                return None
            for name in _EVERYTHING:
                connection.execute(sql(name), values)
            return connection.execute(sql("bury"), {**values, "now": self._now()}).fetchone()

        row = await self._writer.do(work)
        return None if row is None else tombstone_of(row)

    async def tombstone(self, prefix: str) -> Tombstone | None:
        return the_tombstone(await self._rows("tombstone", tombstone_of, prefix=prefix), prefix)

    async def tombstones(self, ids: Collection[str]) -> Sequence[Tombstone]:
        return await self._rows("tombstones", tombstone_of, ids=dumps(list(ids)))

    async def untouched(self, before: float, statuses: Collection[Status], limit: int) -> Sequence[Debate]:
        return await self._rows("untouched", listed, before=before, statuses=dumps(list(statuses)), limit=limit)

    async def scrub(self) -> None:
        """Pages are overwritten when they are freed (`secure_delete`). Left are the terms in the index of memory, and
        the write-ahead log."""
        ids = await self._rows("to_scrub", lambda row: row["id"])
        if not ids:
            return
        await self._writer.do(lambda connection: connection.execute(sql("scrub_words")))
        if await asyncio.to_thread(self._empty_log):
            await self._change("scrubbed", {"ids": dumps(ids)})

    def _empty_log(self) -> bool:
        """Copy the write-ahead log into the file and truncate it. Returns False when another process reads from it."""
        with closing(connect(self.path)) as connection:
            connection.execute(f"pragma busy_timeout = {CHECKPOINT_SECONDS * 1000}")
            return connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0
