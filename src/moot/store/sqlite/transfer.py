"""Copies of debates, out of an SQLite file and into it."""

from __future__ import annotations

import sqlite3

from moot.core.artifacts import ARTIFACTS, ArtifactKind
from moot.store import DebateCopy
from moot.store.artifacts import columns_of
from moot.store.columns import EVENT_COLUMNS, TURN_COLUMNS, Row
from moot.store.copies import copy_of, session_row
from moot.store.rows import new_id
from moot.store.sqlite.connection import sql
from moot.store.sqlite.database import Database
from moot.store.sqlite.debates import INSERT, INSERT_EVENT, INSERT_TURN, refuse_deleted


class SqliteTransfer(Database):
    async def copy(self, debate_id: str) -> DebateCopy:
        def query(connection: sqlite3.Connection) -> DebateCopy | None:
            connection.execute("begin")  # all that follows is read as of one moment
            try:
                values = {"id": debate_id, "after": 0}
                found = connection.execute(sql("get_session"), values).fetchone()
                if found is None:
                    return None
                turns, events, gates = (
                    connection.execute(sql(name), values).fetchall() for name in ("turns", "all_events", "gates")
                )
                artifacts: dict[ArtifactKind, list[Row]] = {
                    kind: connection.execute(sql(f"{kind}s"), values).fetchall() for kind in ARTIFACTS
                }
                return copy_of(found, turns, events, gates, artifacts)
            finally:
                connection.execute("commit")

        found = await self._read(query)
        if found is None:
            raise await self._missing(debate_id)
        return found

    async def adopt(self, copy: DebateCopy) -> bool:
        debate_id, now = copy.session["id"], self._now()

        def work(connection: sqlite3.Connection) -> bool:
            refuse_deleted(connection, debate_id)
            if not connection.execute(sql("adopt_session"), session_row(copy)).rowcount:
                return False
            turns = [(debate_id, *(row[name] for name in TURN_COLUMNS)) for row in copy.turns]
            events = [(debate_id, *(row[name] for name in EVENT_COLUMNS)) for row in copy.events]
            gates = [{**row, "id": new_id(now), "session_id": debate_id} for row in copy.gates]
            connection.executemany(INSERT_TURN, turns)
            connection.executemany(INSERT_EVENT, events)
            connection.executemany(sql("adopt_gate"), gates)
            for kind, rows in copy.artifacts.items():
                whole = [{**row, "session_id": debate_id} for row in rows]
                connection.executemany(INSERT[kind], [[row[name] for name in columns_of(kind)] for row in whole])
            return True

        return await self._writer.do(work)
