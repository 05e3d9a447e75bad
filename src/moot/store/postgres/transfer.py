"""Copies of debates, out of a PostgreSQL database and into it."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.artifacts import ARTIFACTS, ArtifactKind
from moot.store import DebateCopy
from moot.store.columns import Row
from moot.store.copies import copy_of, session_row
from moot.store.postgres.connections import Connection, sql
from moot.store.postgres.database import Database
from moot.store.postgres.faults import DELETED, sqlstate
from moot.store.postgres.writer import json_rows
from moot.store.rows import new_id


class PostgresTransfer(Database):
    async def copy(self, debate_id: str) -> DebateCopy:
        async def work(connection: Connection, _: bool) -> DebateCopy | None:
            # All is read as of one moment.
            async with connection.transaction(isolation="repeatable_read"):
                values = {"id": debate_id, "after": 0}
                found = await sql("get_session").on(connection, values)
                if not found:
                    return None
                turns, events, gates = [
                    await sql(name).on(connection, values) for name in ("turns", "all_events", "gates")
                ]
                artifacts: dict[ArtifactKind, Sequence[Row]] = {
                    kind: await sql(f"{kind}s").on(connection, values) for kind in ARTIFACTS
                }
                return copy_of(found[0], turns, events, gates, artifacts)

        found = await self.with_connection(work)
        if found is None:
            raise await self._missing(debate_id)
        return found

    async def adopt(self, copy: DebateCopy) -> bool:
        debate_id, now = copy.session["id"], self.now()
        values = {
            "session": json_rows([session_row(copy)]),
            "turns": json_rows([{**row, "session_id": debate_id} for row in copy.turns]),
            "events": json_rows([{**row, "session_id": debate_id} for row in copy.events]),
            "gates": json_rows([{**row, "session_id": debate_id, "id": new_id(now)} for row in copy.gates]),
            **{
                f"{kind}s": json_rows([{**row, "session_id": debate_id} for row in copy.artifacts.get(kind, ())])
                for kind in ARTIFACTS
            },
        }

        async def work(connection: Connection, retried: bool) -> bool | None:
            try:
                made = await sql("adopt").on(connection, values)
            except Exception as error:
                if sqlstate(error) != DELETED:
                    raise
                return None
            return bool(made) or retried  # a try that lost its connection may have stored it

        adopted = await self.with_connection(work)
        if adopted is None:
            raise await self._missing(debate_id)
        return adopted
