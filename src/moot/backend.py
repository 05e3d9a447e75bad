"""The database behind an app, SQLite or PostgreSQL, with the store, queue, pace and clock that belong to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from moot.core.errors import InputError
from moot.core.pace import InProcessPace, Pace
from moot.store import DatabaseStatus, Store, postgres, sqlite
from moot.store.postgres import PostgresStore
from moot.store.postgres.address import Address, is_address, read_address
from moot.store.postgres.pace import SharedPace
from moot.store.postgres.queue import PgQueue
from moot.store.queue import Queue
from moot.store.sqlite import SqliteStore


def read_location(url: str) -> Path | Address:
    """Where a database is. Neither kind shows a password when printed. Raises InputError for another scheme."""
    if is_address(url):
        return read_address(url)
    if "://" in url and not url.startswith("sqlite:///"):
        raise InputError(
            f"{url.partition('://')[0]}:// databases can't be used; give a file, --db moot.db, or the address of a "
            "PostgreSQL database, --db postgresql://HOST/NAME."
        )
    return Path(url.removeprefix("sqlite:///")).expanduser()


class Backend:
    """The parts that depend on the kind of database. Nothing is opened before `store` is used."""

    def __init__(self, location: Path | Address, *, wait_seconds: float) -> None:
        """`wait_seconds`: how long to wait for a server that is gone."""
        self.location, self._wait_seconds = location, wait_seconds

    @cached_property
    def store(self) -> Store:
        if isinstance(self.location, Address):
            return PostgresStore(self.location.url, retry_seconds=self._wait_seconds)
        return SqliteStore(self.location)

    @property
    def shared_store(self) -> PostgresStore | None:
        """The store, if workers share it."""
        store = self.store if isinstance(self.location, Address) else None  # an SQLite store would create its file
        return store if isinstance(store, PostgresStore) else None

    @cached_property
    def queue(self) -> Queue | None:
        """How debates are handed to workers; None on SQLite, where the process that starts a debate drives it."""
        return None if self.shared_store is None else PgQueue(self.shared_store)

    @property
    def now(self) -> Callable[[], float]:
        """The clock that leases are measured by."""
        return time.time if self.shared_store is None else self.shared_store.now

    def pace(self) -> Pace:
        """Rate limits: shared by all workers of a database, or of this process alone."""
        return InProcessPace(time.monotonic) if self.shared_store is None else SharedPace(self.shared_store)

    @property
    def retries(self) -> int:
        """How often the store has tried to reach the database again."""
        return 0 if self.shared_store is None else self.shared_store.retries

    async def status(self) -> DatabaseStatus:
        """Schema and size of the database, which is neither created nor changed."""
        if isinstance(self.location, Address):
            return await postgres.database_status(self.location.url)
        return sqlite.database_status(self.location)
