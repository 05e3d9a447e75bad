"""Grouped commits: one thread writes, and all work that is waiting shares one transaction and one fsync."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from moot.core.errors import NotWritable, StoreError
from moot.store.sqlite.file import OpenFile

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], Any]

MAX_GROUP = 512


class Writer:
    def __init__(self, connection: sqlite3.Connection, file: OpenFile) -> None:
        """The connection becomes the thread's own, which closes it."""
        self._jobs: queue.SimpleQueue[tuple[Work, asyncio.Future[Any], asyncio.AbstractEventLoop] | None] = (
            queue.SimpleQueue()
        )
        self._connection, self._file = connection, file
        self._thread = threading.Thread(target=self._run, name="moot-writer", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction; return when it is on disk. It may share the transaction with other work, and is
        run again when some of that fails."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put((work, future, loop))
        return await future

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        connection = self._connection
        try:
            while (group := self._next_group()) is not None:
                self._deliver(group, self._commit(connection, group))
        finally:
            connection.close()

    def _next_group(self) -> list[Any] | None:
        job = self._jobs.get()
        if job is None:
            return None
        group = [job]
        while len(group) < MAX_GROUP:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            group.append(job)
        return group

    def _commit(self, connection: sqlite3.Connection, group: list[Any]) -> list[tuple[Any, Exception | None]]:
        try:
            return self._in_one_transaction(connection, group)
        except Exception as error:
            if len(group) == 1:
                return [(None, readable(error))]
        # One failure rolled all of them back: each now gets a transaction of its own.
        results: list[tuple[Any, Exception | None]] = []
        for job in group:
            results += self._commit(connection, [job])
        return results

    def _in_one_transaction(
        self, connection: sqlite3.Connection, group: list[Any]
    ) -> list[tuple[Any, Exception | None]]:
        self._file.check(all_there=False)
        connection.execute("begin immediate")
        try:
            results: list[tuple[Any, Exception | None]] = [(work(connection), None) for work, _, _ in group]
            connection.execute("commit")
            self._file.check()  # what was written into a file that is gone is not stored
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return results

    def _deliver(self, group: list[Any], results: list[tuple[Any, Exception | None]]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any, Exception | None]]] = {}
        for (_, future, loop), (result, error) in zip(group, results, strict=True):
            by_loop.setdefault(loop, []).append((future, result, error))
        for loop, answers in by_loop.items():
            try:
                loop.call_soon_threadsafe(_settle, answers)
            except RuntimeError:
                pass  # the loop was closed; the commit stands


def _settle(answers: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    for future, result, error in answers:
        if future.done():
            continue
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)


def readable(error: Exception) -> Exception:
    """Translate SQLite's errors into errors that say what to do."""
    if not isinstance(error, sqlite3.Error):
        return error
    text = str(error)
    if "readonly" in text or "unable to open" in text or "permission" in text.lower():
        return NotWritable(
            f"The database can't be written ({text}). Check its permissions, or choose another.", remedy="database"
        )
    if "full" in text:
        full = f"The disk is full ({text}). What is stored is whole: free some space, then go on."
        return NotWritable(full, remedy="resume")
    if "locked" in text or "busy" in text:
        held = f"Another process holds the database ({text}). Wait for it, or choose another."
        return NotWritable(held, remedy="database")
    if "fts5" in text:
        return StoreError(f"SQLite lacks full-text search here ({text}). Use a Python whose sqlite3 has FTS5.")
    if "not a database" in text or "malformed" in text:
        foreign = f"This is not a moot database ({text}). Restore a backup, or choose another."
        return StoreError(foreign, remedy="database")
    return StoreError(f"SQLite: {text}")
