"""One file with a writer thread and a reader thread: what every part of the SQLite store builds on."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from moot.core.errors import NoSuchDebate, NotWritable
from moot.folders import touch_private
from moot.store.rows import missing, the_tombstone, tombstone_of
from moot.store.sqlite.connection import connect, sql
from moot.store.sqlite.file import OpenFile
from moot.store.sqlite.schema import check_file, migrate
from moot.store.sqlite.writer import Writer, readable

T = TypeVar("T")


class Database:
    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        """Open the file and bring its schema up to date. Raises NotWritable or WrongSchema."""
        self.path, self._now = path, clock
        try:
            touch_private(path)  # SQLite gives the files beside it the same permissions
            check_file(path)
            with closing(connect(path)) as connection:
                migrate(connection)
            self._file, writing = OpenFile(path), connect(path)
            self._file.check(all_there=False)  # as it is now that it is open
        except (OSError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error):
                raise readable(error) from error
            raise NotWritable(
                f"The database {path} can't be opened ({error.strerror}). Choose another.", remedy="database"
            ) from error
        self._writer = Writer(writing, self._file)
        self._readers = ThreadPoolExecutor(1, "moot-reader")
        self._reader: sqlite3.Connection | None = None
        self._closed = False

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True

        def shut() -> None:
            if self._reader is not None:
                self._reader.close()

        await asyncio.get_running_loop().run_in_executor(self._readers, shut)
        self._readers.shutdown()
        await asyncio.to_thread(self._writer.close)
        self._file.close()

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run `query` on the reader thread."""

        def work() -> T:
            if self._reader is None:
                self._reader = connect(self.path)
            return query(self._reader)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, work)
        except sqlite3.Error as error:
            raise readable(error) from error

    async def _missing(self, debate_id: str) -> NoSuchDebate:
        """The error for a debate that is not there: it may have been deleted."""
        found = await self._rows("tombstone", tombstone_of, prefix=debate_id)
        return missing(debate_id, the_tombstone(found, debate_id))

    async def _rows(self, name: str, make: Callable[[sqlite3.Row], T], /, **values: Any) -> list[T]:
        """Run a named query and make a record of each row, both on the reader thread."""
        values["now"] = self._now()
        return await self._read(lambda connection: [make(row) for row in connection.execute(sql(name), values)])

    async def _change(self, name: str, values: dict[str, Any]) -> sqlite3.Row | None:
        """Run a named statement on the writer thread; return the first row that it gives."""
        return await self._writer.do(lambda connection: connection.execute(sql(name), values).fetchone())
