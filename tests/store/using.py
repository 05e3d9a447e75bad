"""Opens PostgreSQL stores for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from moot.store.postgres import PostgresStore


def using(url: str, check: Callable[[PostgresStore], Awaitable[Any]], **how: Any) -> Any:
    async def main() -> Any:
        store = PostgresStore(url, **how)
        try:
            return await check(store)
        finally:
            await store.close()

    return asyncio.run(main())


def opened(url: str) -> None:
    using(url, PostgresStore.open)


async def rows(store: Any, statement: str, *values: Any) -> list[Any]:
    """As an operator would, behind moot's back."""
    return await store.with_connection(lambda connection, _: connection.fetch(statement, *values))
