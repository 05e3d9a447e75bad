"""Connections. The only module that knows the driver, asyncpg: measured here against psycopg 3, it takes a third of the
time in this process for each commit, which is what there is least of."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, cast

from moot.errors import InputError
from moot.store.postgres.address import Address
from moot.store.rows import Row

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 60  # one that takes longer has lost its server
_NAME = re.compile(r"(?<!:):([a-z_]+)")


class Link(Protocol):
    """The part of a connection that is used here."""

    async def fetch(self, query: str, *args: Any) -> Sequence[Row]: ...

    async def execute(self, query: str) -> str: ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    async def remove_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    def add_termination_listener(self, callback: Callable[[Any], None]) -> None: ...

    def get_server_pid(self) -> int: ...

    def is_closed(self) -> bool: ...

    def terminate(self) -> None: ...

    async def close(self, *, timeout: float | None = None) -> None: ...


async def connect(address: Address) -> Link:
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
        server_settings={"application_name": "moot"},  # no more: a pooler in between knows few
    )
    link = cast(Link, made)
    try:
        # Plans that are made while there are few debates are kept when there are many, none is worth compiling, and
        # values would not change one: without the last, each of the first five uses of a statement is planned anew.
        await link.execute("set enable_seqscan = off; set jit = off; set plan_cache_mode = force_generic_plan")
    except BaseException:
        link.terminate()
        raise
    return link


class Links:
    """A few connections that are opened when they are needed, for whoever comes first."""

    def __init__(self, address: Address, most: int) -> None:
        self._address, self._room = address, asyncio.Semaphore(most)
        self._idle: list[Link] = []
        self._open: set[Link] = set()

    @property
    def pids(self) -> set[int]:
        """Of the server's processes that work for us."""
        return {link.get_server_pid() for link in self._open if not link.is_closed()}

    async def new(self) -> Link:
        """One for the caller alone, beyond the few; to be given to `drop`."""
        link = await connect(self._address)
        self._open.add(link)
        return link

    def drop(self, link: Link) -> None:
        self._open.discard(link)
        link.terminate()

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[Link]:
        async with self._room:
            while self._idle:
                link = self._idle.pop()
                if not link.is_closed():
                    break
                self._open.discard(link)
            else:
                link = await self.new()
            try:
                yield link
            except BaseException as error:
                if getattr(error, "sqlstate", None) is None or link.is_closed():
                    self.drop(link)  # nobody knows what it is in the middle of
                else:
                    self._idle.append(link)
                raise
            self._idle.append(link)

    async def close(self) -> None:
        for link in list(self._open):
            self._open.discard(link)
            try:
                await link.close(timeout=2)
            except Exception:
                link.terminate()
        self._idle.clear()


class Statement:
    """SQL with named values."""

    def __init__(self, text: str) -> None:
        self.names = list(dict.fromkeys(_NAME.findall(text)))
        places = {name: f"${number}" for number, name in enumerate(self.names, 1)}
        self.text = _NAME.sub(lambda found: places[found[1]], text)

    async def on(self, link: Link, values: Mapping[str, Any]) -> Sequence[Row]:
        return await link.fetch(self.text, *[_text(values[name]) for name in self.names])


def _text(value: Any) -> Any:
    """PostgreSQL's text has no NUL, and no halves of characters."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


@cache
def sql(name: str) -> Statement:
    return Statement(raw_sql(name))


@cache
def raw_sql(name: str) -> str:
    lines = (files("moot.store.postgres") / "sql" / f"{name}.sql").read_text().splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("--"))
