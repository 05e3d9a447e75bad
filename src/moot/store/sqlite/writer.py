"""Grouped commits: one thread writes, and all work that is waiting shares one transaction and one fsync."""

from __future__ import annotations

import asyncio
import math
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from moot.core.errors import DatabaseHeld, NotWritable, StoreError
from moot.store.patience import Patience, patience
from moot.store.sqlite.file import OpenFile

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], Any]

MAX_GROUP = 512
TRY_SECONDS = 0.25  # that one try to begin takes at most while another process holds the database
CLOSE_SECONDS = 5.0  # that work waits for such a process when the store is closed


class Job(NamedTuple):
    work: Work
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    patience: Patience
    asked: float  # on the monotonic clock


class Writer:
    def __init__(self, connection: sqlite3.Connection, file: OpenFile) -> None:
        """The connection becomes the thread's own, which closes it."""
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._connection, self._file = connection, file
        self._closes_at = math.inf  # then nothing waits any more for a process that holds the database
        connection.execute(f"pragma busy_timeout = {TRY_SECONDS * 1000:.0f}")
        self._thread = threading.Thread(target=self._run, name="moot-writer", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction; return when it is on disk. It may share the transaction with other work, and is
        run again when some of that fails. While another process holds the database it waits for as long as the caller's
        `patience` says; then DatabaseHeld is raised, and it was not run."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(Job(work, future, loop, patience.get(), time.monotonic()))
        return await future

    def close(self) -> None:
        self._closes_at = time.monotonic() + CLOSE_SECONDS
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        connection = self._connection
        waiting: list[Job] = []
        try:
            while (group := self._next_group(waiting)) is not None:
                done = list(zip(group, self._commit(connection, [job.work for job in group]), strict=True))
                now = time.monotonic()
                waiting = [job for job, (_, error) in done if isinstance(error, DatabaseHeld) and self._waits(job, now)]
                self._deliver([(job, result) for job, result in done if job not in waiting])
        finally:
            connection.close()

    def _waits(self, job: Job, now: float) -> bool:
        """Whether a job may wait on for a database that another process holds."""
        return now < min(job.asked + job.patience.seconds, self._closes_at)

    def _next_group(self, waiting: Sequence[Job]) -> list[Job] | None:
        """Those that are `waiting` and others that have come; None when there are none and the writer was closed."""
        group = list(waiting)
        while len(group) < MAX_GROUP + len(waiting):
            try:
                job = self._jobs.get() if not group else self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                if group:
                    self._jobs.put(None)
                break
            group.append(job)
        return group or None

    def _commit(self, connection: sqlite3.Connection, group: Sequence[Work]) -> list[tuple[Any, Exception | None]]:
        try:
            return self._in_one_transaction(connection, group)
        except DatabaseHeld as held:
            return [(None, held)] * len(group)
        except Exception as error:
            if len(group) == 1:
                return [(None, readable(error))]
        # One failure rolled all of them back: each now gets a transaction of its own.
        results: list[tuple[Any, Exception | None]] = []
        for work in group:
            results += self._commit(connection, [work])
        return results

    def _in_one_transaction(
        self, connection: sqlite3.Connection, group: Sequence[Work]
    ) -> list[tuple[Any, Exception | None]]:
        self._file.check(all_there=False)
        try:
            connection.execute("begin immediate")
        except sqlite3.Error as error:
            raise readable(error) from error
        try:
            results: list[tuple[Any, Exception | None]] = [(work(connection), None) for work in group]
            connection.execute("commit")
            self._file.check()  # what was written into a file that is gone is not stored
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return results

    def _deliver(self, done: Sequence[tuple[Job, tuple[Any, Exception | None]]]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any, Exception | None]]] = {}
        for job, (result, error) in done:
            by_loop.setdefault(job.loop, []).append((job.future, result, error))
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
        return DatabaseHeld(held, remedy="database")
    if "fts5" in text:
        return StoreError(f"SQLite lacks full-text search here ({text}). Use a Python whose sqlite3 has FTS5.")
    if "not a database" in text or "malformed" in text:
        foreign = f"This is not a moot database ({text}). Restore a backup, or choose another."
        return StoreError(foreign, remedy="database")
    return StoreError(f"SQLite: {text}")
