"""What was spent, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping

from moot.core.ceilings import Reserved, Spending, Today, day_of
from moot.core.errors import OverBudget, Superseded
from moot.core.settings import Ceilings
from moot.core.types import Usage
from moot.store.postgres.connections import Connection, sql
from moot.store.postgres.database import Database
from moot.store.spending import NOTHING, booking_values, driver_values, spending_of, today_of

_LOCK = 0x6D6F6F75  # reservations of all processes, one after another: two could each find room for one


class PostgresBudgets(Database):
    async def reserve(
        self, debate_id: str, token_id: str, epoch: int, reserved: Reserved, ceilings: Ceilings
    ) -> OverBudget | None:
        driver = driver_values(debate_id, token_id, epoch)

        async def work(connection: Connection, _: bool) -> OverBudget | bool:
            async with connection.transaction():
                await connection.execute(f"select pg_advisory_xact_lock({_LOCK})")
                now = self.now()
                values = {**driver, **booking_values(0.0, 0, reserved, now)}
                today = today_of((await sql("spending_today").on(connection, values))[0], now)
                refused = today.refusal(ceilings, reserved)
                return refused or bool(await sql("book_spending").on(connection, values))

        done = await self.with_connection(work)
        if done is False:
            raise Superseded(f"Debate {debate_id[:8]} is driven by another process.")
        return None if done is True else done

    async def book(self, debate_id: str, token_id: str, epoch: int, usage: Usage) -> None:
        booking = booking_values(usage.cost_usd or 0.0, usage.tokens_out, NOTHING, self.now())
        await self._rows("book_spending", **driver_values(debate_id, token_id, epoch), **booking)

    async def today(self, token_id: str) -> Today:
        now = self.now()
        rows = await self._rows("spending_today", **driver_values("", token_id, 0), day=day_of(now))
        return today_of(rows[0], now)

    async def spenders(self) -> Mapping[str, Spending]:
        rows = await self._rows("spenders_today", day=day_of(self.now()))
        return {row["token_id"]: spending_of(row) for row in rows}
