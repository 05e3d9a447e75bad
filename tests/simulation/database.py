"""The real store and its SQL on one database in memory, shared by all processes. Threads are replaced by timers: what
is asked for takes time to get there, time to be done and time to come back, and may go wrong on each way."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.core.errors import StoreError
from moot.core.types import Debate, Gate, Json, Shown, Status, Turn
from moot.store import Commit, Committed, HeartbeatReply, Notice, Resync, Tombstone
from moot.store.sqlite import SqliteStore, migrate
from moot.store.sqlite.writer import Writer, readable
from tests.simulation.queue import TABLE

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

# The epoch with which each debate was claimed here: whatever the claim leads to inherits it.
CLAIMED: ContextVar[Mapping[str, int] | None] = ContextVar("CLAIMED", default=None)


@cache
def _empty() -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    connection.execute(TABLE)
    image = connection.serialize()
    connection.close()
    return image


def open_database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(_empty())
    connection.row_factory = sqlite3.Row
    connection.execute("pragma foreign_keys = on")
    return connection


@dataclass(kw_only=True, slots=True)
class Job:
    """One write: what it is, the fault that awaits it, and what was found when it was done."""

    number: int
    verb: str
    debate_id: str | None
    given: Any
    work: Callable[[sqlite3.Connection], Any]
    future: asyncio.Future[Any]
    fault: str | None = None
    before: Mapping[str, Any] | None = None  # the debate's row, in the same transaction
    gate_before: str | None = None
    result: Any = None

    @property
    def refused(self) -> bool:
        return self.result is None and self.verb in ("claim", "commit", "move", "decide", "delete")

    @property
    def new_status(self) -> Status | None:
        """What the debate becomes by it, if it lands."""
        match self.verb:
            case "claim" | "queue":
                return "running"
            case "move":
                return self.given
            case "commit":
                return self.given.status
            case _:
                return None

    @property
    def details(self) -> str:
        match self.verb:
            case "commit":
                what = [f"epoch {self.given.epoch}", *(turn.key for turn in self.given.turns), self.given.status]
                return " ".join(each for each in what if each)
            case "move" | "decide":
                return str(self.given)
            case _:
                return ""


@dataclass(slots=True)
class _Asked:
    verb: str = "?"
    debate_id: str | None = None
    given: Any = field(default=None)


class InMemory:
    """Stands for the database's file, which can't go away here."""

    def check(self, **_: bool) -> None:
        pass

    def close(self) -> None:
        pass


class SimulatedWriter(Writer):
    """The real one's transactions; its thread and its queue are the loop's timers."""

    def __init__(self, store: SimulatedStore) -> None:
        self._store, self._world, self._process = store, store.world, store.process
        self._trouble = store.world.trouble
        self._file: Any = InMemory()
        self._waiting: list[Job] = []
        self._busy = False

    async def do(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        world, asked = self._world, self._store.take_asked()
        world.only_living(self._process)
        loop = asyncio.get_running_loop()
        job = Job(
            number=world.next_write(),
            verb=asked.verb,
            debate_id=asked.debate_id,
            given=asked.given,
            work=work,
            future=loop.create_future(),
        )
        job.fault = self._trouble.of_write(self._process, job)
        loop.call_later(self._trouble.store_delay(self._process), self._arrive, job)
        self._trouble.moment(self._process)
        with world.under_way():
            return await job.future

    def close(self) -> None:
        pass

    def _arrive(self, job: Job) -> None:
        if "pool" in self._world.plan.ways:
            self._apply([job])
            return
        self._waiting.append(job)
        if not self._busy:
            self._busy = True
            asyncio.get_running_loop().call_later(self._trouble.store_delay(self._process), self._flush)

    def _flush(self) -> None:
        group, self._waiting = self._waiting, []
        self._apply(group)
        self._busy = bool(self._waiting)
        if self._busy:
            asyncio.get_running_loop().call_later(self._trouble.store_delay(self._process), self._flush)

    def _apply(self, group: list[Job]) -> None:
        world, process = self._world, self._process
        loop = asyncio.get_running_loop()
        if not process.alive:
            group = [job for job in group if self._trouble.lands_after_death()]
        for job in group:
            if job.fault == "crash before":
                self._trouble.crash(process, f"before write {job.number}")
                return
            if job.fault == "pause":
                job.fault = None
                self._trouble.pause(process)
                loop.call_soon(self._apply, group)  # when it goes on
                return
        if not group:
            return
        results = self._commit(world.database, [self._noted(job) for job in group])
        for job, (result, _) in zip(group, results, strict=True):
            job.result = result
        world.wrote(process, group, [error for _, error in results])
        for job, (result, error) in zip(group, results, strict=True):
            if job.fault == "crash after":
                self._trouble.crash(process, f"after write {job.number}")
                return
            if job.fault == "lost reply":
                error = StoreError("The connection broke. Nobody knows whether the write is stored.")
            loop.call_later(self._trouble.store_delay(process), _settle, job.future, result, error)

    def _noted(self, job: Job) -> Callable[[sqlite3.Connection], Any]:
        def work(connection: sqlite3.Connection) -> Any:
            if job.fault == "fail":
                raise sqlite3.OperationalError("database or disk is full")
            if job.debate_id is not None:
                row = connection.execute(
                    "select epoch, owner, status, lease_until from debate_sessions where id = ?", [job.debate_id]
                ).fetchone()
                job.before = None if row is None else dict(row)
                if job.verb == "decide":
                    values = [job.debate_id, job.given]
                    found = connection.execute(
                        "select status from debate_gates where session_id = ? and key = ?", values
                    ).fetchone()
                    job.gate_before = None if found is None else found["status"]
            result = job.work(connection)
            if job.fault == "fail late":
                raise sqlite3.OperationalError("database or disk is full")
            return result

        return work


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


class SimulatedStore(SqliteStore):
    """One process's store. What is asked is noted for the audit; the rest is the real store's."""

    def __init__(self, world: World, process: Process) -> None:
        self.world, self.process = world, process
        self.path, self._now = Path(":memory:"), process.now
        self._asked = _Asked()
        self._writer = SimulatedWriter(self)
        self._closed = False
        self._notices: asyncio.Queue[Notice] = asyncio.Queue()

    def take_asked(self) -> _Asked:
        asked, self._asked = self._asked, _Asked()
        return asked

    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate:
        self._asked = _Asked("create", debate.id, debate)
        return await super().create(debate, turns, events)

    async def claim(
        self, debate_id: str, owner: str, seconds: float, *, expect: Collection[Status], **more: Any
    ) -> Debate | None:
        self._asked = _Asked("claim", debate_id, more.get("dead"))
        claimed = await super().claim(debate_id, owner, seconds, expect=expect, **more)
        if claimed is not None:
            CLAIMED.set({**(CLAIMED.get() or {}), debate_id: claimed.epoch})
        return claimed

    async def accompany(self, debate_id: str, epoch: int) -> None:
        self._asked = _Asked("accompany", debate_id)
        await super().accompany(debate_id, epoch)

    async def commit(self, commit: Commit) -> Committed | None:
        self._asked = _Asked("commit", commit.debate_id, commit)
        committed = await super().commit(commit)
        if committed is None:
            self.world.audit.told_lost(commit.debate_id, commit.epoch)
        return committed

    async def move(self, debate_id: str, to: Status, *, expect: Collection[Status], **more: Any) -> Debate | None:
        self._asked = _Asked("move", debate_id, to)
        return await super().move(debate_id, to, expect=expect, **more)

    async def heartbeat(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> HeartbeatReply:
        self._asked = _Asked("renew") if seconds is not None else _Asked()
        beat = await super().heartbeat(owner, epochs, seconds)
        for debate_id in beat.lost:
            self.world.audit.told_lost(debate_id, epochs[debate_id])
        return beat

    async def decide(self, debate_id: str, key: str, decision: Json, **more: Any) -> Gate | None:
        self._asked = _Asked("decide", debate_id, key)
        return await super().decide(debate_id, key, decision, **more)

    async def guide(self, debate_id: str, text: str, **more: Any) -> Gate | None:
        self._asked = _Asked("guide", debate_id)
        return await super().guide(debate_id, text, **more)

    async def delete(self, debate_id: str, **more: Any) -> Tombstone | None:
        self._asked = _Asked("delete", debate_id)
        return await super().delete(debate_id, **more)

    async def scrub(self) -> None:
        """There is no file."""

    async def change(self, verb: str, debate_id: str | None, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """A write of something that is no part of the store."""
        self._asked = _Asked(verb, debate_id)
        return await self._writer.do(work)

    async def look(self, statement: str, values: Mapping[str, Any]) -> Sequence[Any]:
        return await self._read(lambda connection: connection.execute(statement, values).fetchall())

    def hear(self, notice: Notice) -> None:
        self._notices.put_nowait(notice)

    async def notices(self) -> AsyncGenerator[Notice, None]:
        if "told" in self.world.plan.ways:
            yield Resync()
            while True:
                yield await self._notices.get()

    async def close(self) -> None:
        self._closed = True

    async def _read(self, query: Callable[[sqlite3.Connection], Any]) -> Any:
        world, process, trouble = self.world, self.process, self.world.trouble
        world.only_living(process)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        fails = trouble.may("fail read", process)

        def apply() -> None:
            if not process.alive:
                return
            result = error = None
            try:
                if fails:
                    raise sqlite3.OperationalError("disk I/O error")
                result = query(world.database)
            except sqlite3.Error as raised:
                error = readable(raised)
            loop.call_later(trouble.store_delay(process), _settle, future, result, error)

        loop.call_later(trouble.store_delay(process), apply)
        trouble.moment(process)
        with world.under_way():
            return await future
