"""The database behind an app, SQLite or PostgreSQL, with the pace, queue and clock that belong to it."""

from __future__ import annotations

import time
from pathlib import Path

from moot.core.errors import InputError
from moot.core.pace import InProcessPace
from moot.core.settings import DATABASE_WAIT_SECONDS
from moot.store import DatabaseStatus, Store, postgres, sqlite
from moot.store.postgres import PostgresStore
from moot.store.postgres.address import Address, is_address, read_address
from moot.store.postgres.pace import SharedPace
from moot.store.postgres.queue import PgQueue
from moot.store.sqlite import SqliteStore


def open_backend(url: str, *, wait_seconds: float = DATABASE_WAIT_SECONDS) -> Backend:
    """Return the database at `url`: a path, `sqlite:///PATH`, or the address of a PostgreSQL database.

    `wait_seconds`: how long to wait for a server that is gone. Raises InputError for another scheme.
    """
    if is_address(url):
        return PostgresBackend(read_address(url), wait_seconds=wait_seconds)
    if "://" in url and not url.startswith("sqlite:///"):
        raise InputError(
            f"{url.partition('://')[0]}:// databases can't be used; give a file, --db moot.db, or the address of a "
            "PostgreSQL database, --db postgresql://HOST/NAME."
        )
    return SqliteBackend(Path(url.removeprefix("sqlite:///")).expanduser())


class SqliteBackend:
    """One file, on one machine."""

    queue = workers = None  # the process that starts a debate drives it
    now = staticmethod(time.time)  # leases are measured by it
    retries = 0

    def __init__(self, path: Path) -> None:
        self.location = path
        self.pace = InProcessPace(time.monotonic)
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = SqliteStore(self.location)  # creates the file
        return self._store

    async def status(self) -> DatabaseStatus:
        return sqlite.database_status(self.location)


class PostgresBackend:
    """A server that any number of processes share."""

    def __init__(self, address: Address, *, wait_seconds: float) -> None:
        self.location = address
        self.store = self.workers = store = PostgresStore(address.url, retry_seconds=wait_seconds)
        self.pace, self.queue, self.now = SharedPace(store), PgQueue(store), store.now

    @property
    def retries(self) -> int:
        return self.store.retries

    async def status(self) -> DatabaseStatus:
        return await postgres.database_status(self.location.url)


# A file is opened, or a server connected to, when `store` is first used. `location` is safe to print: an address shows
# no password.
Backend = SqliteBackend | PostgresBackend
