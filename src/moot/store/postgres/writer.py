"""Commits. Those that wait at the same time share one statement, one round trip and one fsync."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from moot.store.postgres.faults import is_lost
from moot.store.postgres.link import Link, Links, sql
from moot.store.rows import Row, dumps

MAX_GROUP = 256
FIRST_WAIT, LONGEST_WAIT = 0.05, 2.0  # seconds before the next try to reach a server that is gone


class Job:
    """One commit on its way."""

    __slots__ = ("again", "done", "events", "gates", "session", "turns")

    def __init__(
        self,
        session: dict[str, Any],
        turns: Sequence[Mapping[str, Any]],
        events: Sequence[Mapping[str, Any]],
        gates: Sequence[Mapping[str, Any]],
    ) -> None:
        self.session, self.turns, self.events, self.gates = session, turns, events, gates
        self.again = False  # an earlier try lost its connection: it may have arrived
        self.done: asyncio.Future[Row | None] = asyncio.get_running_loop().create_future()


class Writer:
    def __init__(self, links: Links, *, patience: float, wanted: Callable[[str], bool]) -> None:
        """`patience`: seconds that a server may be gone before commits fail."""
        self._links, self._patience, self._wanted = links, patience, wanted
        self._jobs: list[Job] = []
        self._task: asyncio.Task[None] | None = None
        self._link: Link | None = None
        self._turn = asyncio.Lock()
        self._gone_since: float | None = None
        self.retries = 0  # after the server was gone

    async def commit(self, job: Job) -> Row | None:
        """What became of the debate's session; None when it is no longer this epoch's to change."""
        self._jobs.append(job)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="moot-writer")
        return await job.done

    async def alone(self, name: str, values: Mapping[str, Any]) -> None:
        """A statement that changes many debates: beside commits it could deadlock."""
        async with self._turn:
            try:
                await sql(name).on(await self._linked(), values)
            except BaseException as error:
                self._unlink(error)
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
        """Of one debate only one: a statement changes a row once."""
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
                if now - self._gone_since > self._patience:
                    _fail(group, error)
                    return
                self.retries += 1
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
        for job in group:
            if not job.done.done():
                job.done.set_result(rows.get(job.session["id"]))

    async def _one_by_one(self, group: list[Job], error: Exception) -> None:
        """One bad commit must not take the others down with it."""
        if len(group) == 1:
            _fail(group, error)
            return
        for job in group:
            await self._settle([job])

    async def _write(self, group: list[Job]) -> dict[str, Row]:
        for job in group:
            job.session["wanted"] = self._wanted(job.session["id"])
        values = {
            "commits": json_rows([job.session for job in group]),
            "turns": json_rows([turn for job in group for turn in job.turns]),
            "events": json_rows([event for job in group for event in job.events]),
            "gates": json_rows([gate for job in group for gate in job.gates]),
        }
        async with self._turn:
            try:
                link = await self._linked()
                found = {row["id"]: row for row in await sql("commit").on(link, values)}
                unsure = [job for job in group if job.again and job.session["id"] not in found]
                if unsure:
                    ids = [job.session["id"] for job in unsure]
                    writes = [job.session["write_id"] for job in unsure]
                    arrived = await sql("arrived").on(link, {"ids": ids, "writes": writes})
                    found |= {row["id"]: row for row in arrived}
                return found
            except BaseException as error:
                if is_lost(error):
                    for job in group:
                        job.again = True
                self._unlink(error)
                raise

    async def _linked(self) -> Link:
        if self._link is None or self._link.is_closed():
            self._unlink(None)
            self._link = await self._links.new()
        return self._link

    def _unlink(self, error: BaseException | None) -> None:
        if self._link is not None and (getattr(error, "sqlstate", None) is None or self._link.is_closed()):
            self._links.drop(self._link)
            self._link = None


def json_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "[]"
    text = dumps(rows)
    # PostgreSQL's text has no NUL. Those in JSON columns are escaped once more, and stay.
    return text if "\\u0000" not in text else dumps([_without_nul(row) for row in rows])


def _without_nul(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in row.items()}


def _fail(group: list[Job], error: Exception) -> None:
    for job in group:
        if not job.done.done():
            job.done.set_exception(error)
