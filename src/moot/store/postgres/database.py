"""Connections, migrations and retries: what every part of the PostgreSQL store builds on.

A server that restarts is waited for. When a connection is lost during a write, the write may or may not have been made,
so every write is idempotent: it leaves a mark by which the next try finds it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from moot.core.errors import NoSuchDebate
from moot.core.settings import DATABASE_WAIT_SECONDS
from moot.store.columns import Row
from moot.store.postgres.address import read_address
from moot.store.postgres.clock import ServerClock
from moot.store.postgres.connections import Connection, Pool, load_statements, sql
from moot.store.postgres.faults import CLASHED, NOT_YET, UNIQUE, is_lost, readable, sqlstate
from moot.store.postgres.notifications import Listener, TextPublisher
from moot.store.postgres.schema import check_server, migrate
from moot.store.postgres.writer import FIRST_WAIT, LONGEST_WAIT, Writer
from moot.store.rows import missing, the_tombstone, tombstone_of

T = TypeVar("T")

POOL_SIZE = 4  # besides one connection for commits and one that listens


class Database:
    def __init__(
        self, url: str, *, clock: Callable[[], float] | None = None, retry_seconds: float = DATABASE_WAIT_SECONDS
    ) -> None:
        """Connects on first use. `retry_seconds`: how long to retry, while the server is gone, before raising.
        `clock`: one that all processes share, instead of the server's."""
        self.address = read_address(url)
        self.now, self._retry_seconds = ServerClock(clock), retry_seconds
        self._retries = 0
        self._opened, self._opening = False, asyncio.Lock()
        self._pool = Pool(self.address, POOL_SIZE)
        self._listener, self._publisher = Listener(self._pool), TextPublisher(self._pool)
        self._writer = Writer(self._pool, retry_seconds=retry_seconds, is_followed=self._listener.is_followed)

    @property
    def retries(self) -> int:
        """How many tries have been repeated because the server was gone."""
        return self._retries + self._writer.retries

    async def open(self, *, retry_seconds: float = 0.0) -> None:
        """`retry_seconds`: how long to wait for a server that does not answer; one that is starting is waited for
        anyway. Raises NotWritable, WrongSchema or another StoreError."""
        if self._opened:
            return
        async with self._opening:
            wait, begun = FIRST_WAIT, time.monotonic()
            load_statements()
            while not self._opened:
                try:
                    async with self._pool.connection() as connection:
                        await check_server(connection)
                        await migrate(connection, self.address)
                        await self.now.sync(connection)
                    self._opened = True
                except Exception as error:
                    seconds = max(retry_seconds, self._retry_seconds if sqlstate(error) in NOT_YET else 0.0)
                    if not is_lost(error) or time.monotonic() - begun >= seconds:
                        raise readable(error, self.address, opening=True) from error
                    await asyncio.sleep(wait)
                    wait = min(2 * wait, LONGEST_WAIT)

    async def close(self) -> None:
        await self._listener.close()
        await self._publisher.close()
        await self._writer.close()
        await self._pool.close()

    async def with_connection(self, work: Callable[[Connection, bool], Awaitable[T]]) -> T:
        """Run `work` on a connection, with retries while the server is gone. Its second argument is True when an
        earlier try lost its connection, and may have been done."""

        async def attempt(retried: bool) -> T:
            async with self._pool.connection() as connection:
                await self.now.sync(connection)
                return await work(connection, retried)

        return await self._with_retries(attempt)

    async def _missing(self, debate_id: str) -> NoSuchDebate:
        """The error for a debate that is not there: it may have been deleted."""
        found = [tombstone_of(row) for row in await self._rows("tombstone", prefix=debate_id)]
        return missing(debate_id, the_tombstone(found, debate_id))

    async def _rows(self, name: str, /, **values: Any) -> Sequence[Row]:
        return await self.with_connection(lambda c, _: sql(name).on(c, {"now": self.now(), **values}))

    async def _change(self, name: str, values: Mapping[str, Any], *, arrived: str | None = None) -> Row | None:
        """Run a named statement; return the first row that it gives. `arrived` names the query that finds what an
        earlier try has written, if it lost its connection before the answer."""
        await self.open()
        values = {**values, "now": self.now()}

        async def work(connection: Connection, retried: bool) -> Row | None:
            rows: Sequence[Row] = ()
            try:
                rows = await sql(name).on(connection, values)
            except Exception as error:
                if not retried or sqlstate(error) != UNIQUE:
                    raise
            if not rows and retried and arrived:
                rows = await sql(arrived).on(connection, values)
            return rows[0] if rows else None

        return await self.with_connection(work)

    async def _with_retries(self, work: Callable[[bool], Awaitable[T]]) -> T:
        await self.open()
        wait, begun, retried = FIRST_WAIT, time.monotonic(), False
        while True:
            try:
                return await work(retried)
            except Exception as error:
                over = time.monotonic() - begun >= self._retry_seconds
                if over or not (is_lost(error) or sqlstate(error) in CLASHED):
                    raise readable(error, self.address) from error
                retried = retried or is_lost(error)
                self._retries += 1
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
