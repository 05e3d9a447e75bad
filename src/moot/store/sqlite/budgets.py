"""What was spent, in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from moot.core.ceilings import Reserved, Spending, Today, day_of
from moot.core.errors import OverBudget, Superseded
from moot.core.settings import Ceilings
from moot.core.types import Usage
from moot.store.spending import NOTHING, booking_values, driver_values, spending_of, today_of
from moot.store.sqlite.connection import sql
from moot.store.sqlite.database import Database


class SqliteBudgets(Database):
    async def reserve(
        self, debate_id: str, token_id: str, epoch: int, reserved: Reserved, ceilings: Ceilings
    ) -> OverBudget | None:
        driver = driver_values(debate_id, token_id, epoch)

        def work(connection: sqlite3.Connection) -> OverBudget | None:
            now = self._now()
            values = {**driver, **booking_values(0.0, 0, reserved, now)}
            today = today_of(connection.execute(sql("spending_today"), values).fetchone(), now)
            refused = today.refusal(ceilings, reserved)
            if refused is None and connection.execute(sql("book_spending"), values).fetchone() is None:
                raise Superseded(f"Debate {debate_id[:8]} is driven by another process.")
            return refused

        return await self._writer.do(work)

    async def book(self, debate_id: str, token_id: str, epoch: int, usage: Usage) -> None:
        booking = booking_values(usage.cost_usd or 0.0, usage.tokens_out, NOTHING, self._now())
        await self._change("book_spending", {**driver_values(debate_id, token_id, epoch), **booking})

    async def today(self, token_id: str) -> Today:
        now = self._now()
        values = {**driver_values("", token_id, 0), "day": day_of(now)}
        (found,) = await self._rows("spending_today", lambda row: today_of(row, now), **values)
        return found

    async def spenders(self) -> Mapping[str, Spending]:
        rows = await self._rows(
            "spenders_today", lambda row: (row["token_id"], spending_of(row)), day=day_of(self._now())
        )
        return dict(rows)
