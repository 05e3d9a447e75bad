"""Gates, guidance, ratings, labels and how decisions turned out, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.types import Debate, Gate, Json, TurnedOut
from moot.store import Labels
from moot.store.columns import DEBATE_TEXTS, dumps
from moot.store.postgres.database import Database
from moot.store.rows import debate_of, gate_of, label_values, new_id, seen_values


class PostgresPeople(Database):
    async def gates(self, debate_id: str | None = None, *, expired: bool = False) -> Sequence[Gate]:
        name = "gates" if debate_id is not None else "expired_gates" if expired else "open_gates"
        return [gate_of(row) for row in await self._rows(name, id=debate_id)]

    async def decide(
        self, debate_id: str, key: str, decision: Json, *, by: str, seen: Debate | None = None
    ) -> Gate | None:
        values = {"id": debate_id, "key": key, "decision": dumps(decision), "by": by, **seen_values(seen)}
        row = await self._change("decide_gate", values, arrived="decided_gate")
        return None if row is None else gate_of(row)

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate | None:
        row = await self._change("rate", {"id": debate_id, "rating": rating, **seen_values(seen)}, arrived="rated")
        return None if row is None else debate_of(row)

    async def label(self, debate_id: str, labels: Labels, *, seen: Debate | None = None) -> Debate | None:
        values = {"id": debate_id, **label_values(labels), **seen_values(seen)}
        row = await self._change("label", values, arrived="label_arrived")
        return None if row is None else debate_of(row)

    async def turned_out(
        self, debate_id: str, turned_out: TurnedOut | None, *, seen: Debate | None = None
    ) -> Debate | None:
        values = {"id": debate_id, "turned_out": DEBATE_TEXTS["turned_out"].stored(turned_out), **seen_values(seen)}
        row = await self._change("turned_out", values, arrived="turned_out_arrived")
        return None if row is None else debate_of(row)

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate | None:
        values = {"id": debate_id, "gate_id": new_id(self.now()), "decision": dumps({"text": text}), "by": by}
        row = await self._change("guide", {**values, **seen_values(seen)}, arrived="guided_gate")
        return None if row is None else gate_of(row)
