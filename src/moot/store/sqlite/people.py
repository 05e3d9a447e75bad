"""Gates, guidance, ratings, labels and how decisions turned out, in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from moot.core.types import Debate, Gate, Json, TurnedOut
from moot.store import Labels
from moot.store.columns import DEBATE_TEXTS, dumps
from moot.store.rows import debate_of, gate_of, label_values, new_id, seen_values
from moot.store.sqlite.connection import sql
from moot.store.sqlite.database import Database


class SqlitePeople(Database):
    async def gates(self, debate_id: str | None = None, *, expired: bool = False) -> Sequence[Gate]:
        name = "gates" if debate_id is not None else "expired_gates" if expired else "open_gates"
        return await self._rows(name, gate_of, id=debate_id)

    async def decide(
        self, debate_id: str, key: str, decision: Json, *, by: str, seen: Debate | None = None
    ) -> Gate | None:
        values = {"id": debate_id, "key": key, "decision": dumps(decision), "by": by, **seen_values(seen)}

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            now = self._now()
            if not connection.execute(sql("touch_asking"), {**values, "now": now}).rowcount:
                return None
            return connection.execute(sql("decide_gate"), {**values, "now": now}).fetchone()

        row = await self._writer.do(work)
        return None if row is None else gate_of(row)

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate | None:
        row = await self._change("rate", {"id": debate_id, "rating": rating, "now": self._now(), **seen_values(seen)})
        return None if row is None else debate_of(row)

    async def label(self, debate_id: str, labels: Labels, *, seen: Debate | None = None) -> Debate | None:
        values = {"id": debate_id, **label_values(labels), "now": self._now(), **seen_values(seen)}
        row = await self._change("label", values)
        return None if row is None else debate_of(row)

    async def turned_out(
        self, debate_id: str, turned_out: TurnedOut | None, *, seen: Debate | None = None
    ) -> Debate | None:
        values = {"id": debate_id, "turned_out": DEBATE_TEXTS["turned_out"].stored(turned_out), "now": self._now()}
        row = await self._change("turned_out", {**values, **seen_values(seen)})
        return None if row is None else debate_of(row)

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate | None:
        now = self._now()
        values = {"id": debate_id, "gate_id": new_id(now), "decision": dumps({"text": text}), "by": by, "now": now}
        values |= seen_values(seen)

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            count = connection.execute(sql("count_guidance"), values).fetchone()
            if count is None:
                return None
            key = f"guidance/{count['guided']}"
            return connection.execute(sql("insert_guidance"), {**values, "key": key}).fetchone()

        row = await self._writer.do(work)
        return None if row is None else gate_of(row)
