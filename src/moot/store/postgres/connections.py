"""Connections and statements. The only module that imports the driver, asyncpg: it takes a third of the time that
psycopg 3 takes in this process for each commit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, cast

from moot.core.errors import InputError
from moot.store.columns import Row
from moot.store.copies import with_columns
from moot.store.postgres.address import Address

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 60  # time-out of a statement: past it, the connection counts as lost
_NAME = re.compile(r"(?<!:):([a-z_]+)")


class Connection(Protocol):
    """The part of asyncpg's connection that is used here."""

    async def fetch(self, query: str, *args: Any) -> Sequence[Row]: ...

    async def execute(self, query: str) -> str: ...

    def transaction(self, *, isolation: str | None = None) -> AbstractAsyncContextManager[None]: ...

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    async def remove_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    def add_termination_listener(self, callback: Callable[[Any], None]) -> None: ...

    def get_server_pid(self) -> int: ...

    def is_closed(self) -> bool: ...

    def terminate(self) -> None: ...

    async def close(self, *, timeout: float | None = None) -> None: ...


async def connect(address: Address) -> Connection:
    try:
        import asyncpg  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise InputError(
            'PostgreSQL needs a driver that is not installed: pip install "moot[postgres]". '
            "Or choose an SQLite file with --db."
        ) from None
    made: Any = await asyncpg.connect(  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        address.url,
        timeout=CONNECT_SECONDS,
        command_timeout=STATEMENT_SECONDS,
        server_settings={"application_name": "moot"},  # only this: poolers support few settings here
    )
    connection = cast(Connection, made)
    try:
        # A plan is cached, perhaps from when the tables were empty, so it must use indexes; none is worth compiling;
        # and no value would change one: without the last setting, a statement's first five uses are planned anew.
        await connection.execute("set enable_seqscan = off; set jit = off; set plan_cache_mode = force_generic_plan")
    except BaseException:
        connection.terminate()
        raise
    return connection


class Pool:
    """At most `size` shared connections, opened when they are needed, and dedicated ones beyond those."""

    def __init__(self, address: Address, size: int) -> None:
        self._address, self._free = address, asyncio.Semaphore(size)
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()

    @property
    def pids(self) -> set[int]:
        """Ids of the server processes behind the open connections: notifications from those are our own."""
        return {connection.get_server_pid() for connection in self._open if not connection.is_closed()}

    async def dedicated(self) -> Connection:
        """Open a connection for the caller alone, who must `discard` it."""
        connection = await connect(self._address)
        self._open.add(connection)
        return connection

    def discard(self, connection: Connection) -> None:
        self._open.discard(connection)
        connection.terminate()

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        async with self._free:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    break
                self._open.discard(connection)
            else:
                connection = await self.dedicated()
            try:
                yield connection
            except BaseException as error:
                if getattr(error, "sqlstate", None) is None or connection.is_closed():
                    self.discard(connection)  # its state is unknown
                else:
                    self._idle.append(connection)
                raise
            self._idle.append(connection)

    async def close(self) -> None:
        for connection in list(self._open):
            self._open.discard(connection)
            try:
                await connection.close(timeout=2)
            except Exception:
                connection.terminate()
        self._idle.clear()


class Statement:
    """SQL with named parameters, `:name`."""

    def __init__(self, text: str) -> None:
        self.names = list(dict.fromkeys(_NAME.findall(text)))
        places = {name: f"${number}" for number, name in enumerate(self.names, 1)}
        self.text = _NAME.sub(lambda found: places[found[1]], text)

    async def on(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Row]:
        return await connection.fetch(self.text, *[_storable(values[name]) for name in self.names])


def _storable(value: Any) -> Any:
    """Replace what PostgreSQL's text can't hold: NUL and lone surrogates."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def load_statements() -> None:
    """Read every statement, so that a debate under way needs no file."""
    for file in (files("moot.store.postgres") / "sql").iterdir():
        sql(file.name.removesuffix(".sql"))


@cache
def sql(name: str) -> Statement:
    return Statement(raw_sql(name))


@cache
def raw_sql(name: str) -> str:
    lines = (files("moot.store.postgres") / "sql" / f"{name}.sql").read_text().splitlines()
    return with_columns("\n".join(line for line in lines if not line.lstrip().startswith("--")))
