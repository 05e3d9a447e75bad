"""The embedded store: one file, WAL, a writer thread with grouped commits, a reader thread beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Mapping
from contextlib import closing
from typing import Any, ClassVar

from moot.store import Notice
from moot.store.overview import Overview
from moot.store.sqlite.access import SqliteAccess
from moot.store.sqlite.artifacts import SqliteArtifacts
from moot.store.sqlite.budgets import SqliteBudgets
from moot.store.sqlite.connection import connect, load_statements, sql
from moot.store.sqlite.debates import SqliteDebates
from moot.store.sqlite.deletion import SqliteDeletion
from moot.store.sqlite.evaluations import SqliteEvaluations
from moot.store.sqlite.memories import SqliteMemories
from moot.store.sqlite.overview import overview
from moot.store.sqlite.people import SqlitePeople
from moot.store.sqlite.schema import database_status, migrate
from moot.store.sqlite.transfer import SqliteTransfer

__all__ = ["SqliteStore", "database_status", "migrate", "sql"]


class SqliteStore(
    SqliteDebates,
    SqlitePeople,
    SqliteDeletion,
    SqliteArtifacts,
    SqliteTransfer,
    SqliteMemories,
    SqliteEvaluations,
    SqliteAccess,
    SqliteBudgets,
):
    shared: ClassVar[bool] = False

    async def open(self) -> None:
        """Read the statements; the constructor opens the file."""
        load_statements()

    async def writable(self) -> None:
        def work(connection: sqlite3.Connection) -> None:
            self._file.check_space()
            version: int = connection.execute("pragma user_version").fetchone()[0]
            connection.execute(
                f"pragma user_version = {version}"
            )  # writes a page, unlike an update that changes nothing

        await self._writer.do(work)

        def read_anew() -> None:
            # What an open connection remembers does not show that the file has become unreadable.
            with closing(connect(self.path)) as fresh:
                fresh.execute("select count(*) from sqlite_master").fetchone()

        await self._read(lambda _: read_anew())

    async def overview(self, seconds: float) -> Overview:
        return await self._read(lambda connection: overview(connection, self._now(), seconds))

    async def notices(self) -> AsyncGenerator[Notice]:
        """Yields nothing: SQLite has no notifications, so processes poll."""
        return
        yield  # makes it a generator

    def follow(self, debate_id: str) -> None:
        pass

    def unfollow(self, debate_id: str) -> None:
        pass

    def publish_text(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        pass
