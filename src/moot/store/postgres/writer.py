"""Grouped commits: those that wait at the same time share one statement, one round trip and one fsync."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from moot.core.artifacts import Artifact
from moot.store.artifacts import by_kind
from moot.store.columns import Row, dumps
from moot.store.postgres.connections import Connection, Pool, Statement, raw_sql, sql
from moot.store.postgres.faults import is_lost

MAX_GROUP = 256
FIRST_WAIT, LONGEST_WAIT = 0.05, 2.0  # back-off between tries to reach a server that is gone, in seconds


class Job:
    """A commit that waits to be written."""

    __slots__ = ("artifacts", "done", "events", "gates", "retried", "session", "turns")

    def __init__(
        self,
        session: dict[str, Any],
        turns: Sequence[Mapping[str, Any]],
        events: Sequence[Mapping[str, Any]],
        gates: Sequence[Mapping[str, Any]],
        artifacts: Sequence[Artifact] = (),
    ) -> None:
        self.session, self.turns, self.events, self.gates = session, turns, events, gates
        self.artifacts = artifacts
        self.retried = False  # an earlier try lost its connection, and may have been written
        self.done: asyncio.Future[Row | None] = asyncio.get_running_loop().create_future()


class Writer:
    def __init__(self, pool: Pool, *, retry_seconds: float, is_followed: Callable[[str], bool]) -> None:
        """`retry_seconds`: how long to retry when the server is gone before commits fail."""
        self._pool, self._retry_seconds, self._is_followed = pool, retry_seconds, is_followed
        self._jobs: list[Job] = []
        self._task: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._writing = asyncio.Lock()
        self._gone_since: float | None = None
        self.retries = 0  # tries repeated because the server was gone

    async def commit(self, job: Job) -> Row | None:
        """Return the session's new `last_seq` and `status`; None when the job's epoch no longer holds the debate."""
        self._jobs.append(job)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="moot-writer")
        return await job.done

    async def alone(self, name: str, values: Mapping[str, Any]) -> None:
        """Run a statement that changes many debates while no commit is written: concurrently, they could deadlock."""
        async with self._writing:
            try:
                await sql(name).on(await self._connected(), values)
            except BaseException as error:
                self._disconnect(error)
                raise

    async def close(self) -> None:
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        try:
            while self._jobs:
                await self._settle(self._next_group())
        finally:
            self._task = None

    def _next_group(self) -> list[Job]:
        """Take at most one job of each debate: a statement can change a row only once."""
        group: dict[str, Job] = {}
        later: list[Job] = []
        for job in self._jobs:
            debate_id = job.session["id"]
            if debate_id in group or len(group) >= MAX_GROUP:
                later.append(job)
            else:
                group[debate_id] = job
        self._jobs = later
        return list(group.values())

    async def _settle(self, group: list[Job]) -> None:
        wait = FIRST_WAIT
        while True:
            try:
                rows = await self._write(group)
                self._gone_since = None
                break
            except Exception as error:
                if not is_lost(error):
                    await self._one_by_one(group, error)
                    return
                now = time.monotonic()
                self._gone_since = self._gone_since or now
                if now - self._gone_since > self._retry_seconds:
                    _fail(group, error)
                    return
                self.retries += 1
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
        for job in group:
            if not job.done.done():
                job.done.set_result(rows.get(job.session["id"]))

    async def _one_by_one(self, group: list[Job], error: Exception) -> None:
        """Write each alone, so that only the one at fault fails."""
        if len(group) == 1:
            _fail(group, error)
            return
        for job in group:
            await self._settle([job])

    async def _write(self, group: list[Job]) -> dict[str, Row]:
        for job in group:
            job.session["followed"] = self._is_followed(job.session["id"])
        values = {
            "commits": json_rows([job.session for job in group]),
            "turns": json_rows([turn for job in group for turn in job.turns]),
            "events": json_rows([event for job in group for event in job.events]),
            "gates": json_rows([gate for job in group for gate in job.gates]),
        }
        artifacts = [each for job in group for each in job.artifacts]
        statement = _with_artifacts() if artifacts else sql("commit")
        if artifacts:
            values |= {f"{kind}s": json_rows(rows) for kind, rows in by_kind(artifacts).items()}
        async with self._writing:
            try:
                connection = await self._connected()
                found = {row["id"]: row for row in await statement.on(connection, values)}
                unsure = [job for job in group if job.retried and job.session["id"] not in found]
                if unsure:
                    ids = [job.session["id"] for job in unsure]
                    writes = [job.session["write_id"] for job in unsure]
                    arrived = await sql("arrived").on(connection, {"ids": ids, "writes": writes})
                    found |= {row["id"]: row for row in arrived}
                return found
            except BaseException as error:
                if is_lost(error):
                    for job in group:
                        job.retried = True
                self._disconnect(error)
                raise

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._disconnect(None)
            self._connection = await self._pool.dedicated()
        return self._connection

    def _disconnect(self, error: BaseException | None) -> None:
        """Drop the connection, unless the server answered with an error and it is still usable."""
        if self._connection is not None and (getattr(error, "sqlstate", None) is None or self._connection.is_closed()):
            self._pool.discard(self._connection)
            self._connection = None


@cache
def _with_artifacts() -> Statement:
    return Statement(raw_sql("commit").replace("/* artifacts */", raw_sql("commit_artifacts")))


def json_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "[]"
    text = dumps(rows)
    # PostgreSQL's text can't hold NUL. Inside JSON columns it is escaped twice, and is kept.
    return text if "\\u0000" not in text else dumps([_without_nul(row) for row in rows])


def _without_nul(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in row.items()}


def _fail(group: list[Job], error: Exception) -> None:
    for job in group:
        if not job.done.done():
            job.done.set_exception(error)
