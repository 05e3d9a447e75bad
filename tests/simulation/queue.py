"""A queue between processes, on the same database: it says "go on with debate X", late, twice or never. Like the real
one it has no fencing: ending a job deletes it, even when it has been given to another worker meanwhile."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from moot.core.errors import MootError
from moot.core.types import Debate, Status
from moot.store.columns import dumps
from moot.store.queue import Advance, Depth, Stuck, Swept
from moot.store.rows import debate_of, seen_values

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

HEARTBEAT_SECONDS = 12.0
POLL_SECONDS = 2.0
BATCH = 10  # jobs taken at a time

TABLE = """create table simulated_jobs (
  key text primary key, debate_id text not null, priority integer not null, due real not null, taken_by text, beat real
)"""

_QUEUE_UP = """update debate_sessions set
  status = 'running', updated_at = :now, owner = null, lease_until = null, error = null,
  crashes = case when status in ('running', 'stopping') then crashes else 0 end
where id = :id and status in (select value from json_each(:expect)) and (owner is null or lease_until <= :now)
  and (:seen_epoch is null
    or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning *"""
_ANSWERED = """update debate_sessions as s set
  status = 'running', updated_at = :now, owner = null, lease_until = null, crashes = 0
where s.status = 'waiting' and (:id is null or s.id = :id) and exists (
  select 1 from debate_gates g where g.session_id = s.id and g.status = 'decided'
  and g.key in (select value from json_each(s.open_keys))
) returning id, epoch, last_seq, crashes"""
_ORPHANS = """select id, epoch, last_seq, crashes + (owner is not null) as crashes from debate_sessions
where status = 'running' and (
    (owner is null or lease_until <= :now) and updated_at <= :now - :quiet
    or owner in (select value from json_each(:dead))
  ) and id not in (
    select debate_id from simulated_jobs where key not like 'expire/%'
      and (taken_by is null or owner is null or owner not in (select value from json_each(:dead)))
  )"""
_FREE = """update simulated_jobs set taken_by = null, due = :now, priority = coalesce((
  select crashes + (owner is not null) from debate_sessions
  where id = debate_id and status = 'running' and key not like 'expire/%'
), 0)
where taken_by in (select value from json_each(:dead))"""
_STRANDED = """update debate_sessions set
  status = 'stopped', updated_at = :now, last_seq = last_seq + 1, owner = null, lease_until = null
where status = 'stopping' and (owner is null or lease_until <= :now) returning id, last_seq"""
_STOPPED = """insert into debate_events (session_id, seq, type, key, data, created_at)
values (?, ?, 'status', '', '{"status":"stopped","by":"recovery"}', ?)"""
_INSERT = "insert or ignore into simulated_jobs (key, debate_id, priority, due) values (?, ?, ?, ?)"
_FINISH = "delete from simulated_jobs where key = ?"
_REFUSE = "update simulated_jobs set taken_by = null, due = ? where key = ?"
_ANY = """select 1 from simulated_jobs
where due <= :now and (taken_by is null or beat <= :now - :patience) limit 1"""
_DUE = """update simulated_jobs set taken_by = :owner, beat = :now
where key in (
  select key from simulated_jobs
  where due <= :now and (taken_by is null or beat <= :now - :patience)
  order by priority desc, rowid limit :batch
) returning key, debate_id, priority, rowid as place"""

_DEPTH = """select
  count(*) filter (where taken_by is null and key not like 'expire/%') as waiting,
  count(*) filter (where taken_by is not null and key not like 'expire/%') as taken,
  count(*) filter (where taken_by is null and due > :now) as later,
  coalesce(:now - min(due) filter (where taken_by is null and key not like 'expire/%' and due <= :now), 0)
    as oldest_seconds
from simulated_jobs"""
_DRIVERS = """select owner, count(*) as debates from debate_sessions
where status in ('running', 'stopping') and owner is not null and lease_until > :now group by owner order by owner"""


class SimulatedQueue:
    def __init__(self, world: World, process: Process) -> None:
        self._world, self._process = world, process
        self._beaten = 0.0

    async def open(self) -> None:
        pass

    async def put(self, debate_id: str, *, expect: Collection[Status], seen: Debate | None = None) -> Debate | None:
        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            values = {"id": debate_id, "expect": dumps(list(expect)), "now": self._now(), **seen_values(seen)}
            row = connection.execute(_QUEUE_UP, values).fetchone()
            if row is not None:
                self._enqueue(connection, row)
            return row

        row = await self._write("queue", debate_id, work)
        return None if row is None else debate_of(row)

    async def put_later(self, debate_id: str, seconds: float) -> None:
        due = self._now() + seconds
        values = [f"expire/{debate_id}/{due:.0f}", debate_id, 0, due]
        await self._write("queue later", debate_id, lambda connection: connection.execute(_INSERT, values).rowcount)

    async def answered(self, debate_id: str) -> None:
        await self._queue_all("queue", _ANSWERED, id=debate_id)

    async def sweep(self, quiet_seconds: float, dead: Collection[str] = ()) -> Swept:
        if dead:
            free = {"dead": dumps(list(dead)), "now": self._now()}
            await self._write("sweep", None, lambda connection: connection.execute(_FREE, free).rowcount)
        orphans = await self._queue_all("sweep", _ORPHANS, quiet=quiet_seconds, dead=dumps(list(dead)))
        answered = await self._queue_all("sweep", _ANSWERED, id=None)

        def work(connection: sqlite3.Connection) -> list[Any]:
            rows = connection.execute(_STRANDED, {"now": self._now()}).fetchall()
            for row in rows:
                connection.execute(_STOPPED, [row["id"], row["last_seq"], self._now()])
            return rows

        return Swept(orphans=orphans, answered=answered, stopped=len(await self._write("sweep", None, work)))

    async def stuck(self, seconds: float) -> Sequence[Stuck]:
        return ()  # the audit sees for itself

    async def run(
        self,
        advance: Advance,
        expire: Callable[[], Awaitable[None]],
        *,
        at_once: int,
        stop: asyncio.Event,
        owner: str = "",
    ) -> None:
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            while not stop.is_set():
                taken = await self._take(list(tasks), owner or self._process.owner)
                for key, debate_id in taken:
                    job: Awaitable[float | None] = expire() if key.startswith("expire/") else advance(debate_id)
                    tasks[key] = asyncio.create_task(self._work(key, job, stop))
                if len(taken) < BATCH:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL_SECONDS * self._world.rng.uniform(0.2, 1)):
                            await stop.wait()
                tasks = {key: task for key, task in tasks.items() if not task.done()}
            await asyncio.gather(*tasks.values())
        finally:
            for task in tasks.values():
                task.cancel()

    async def depth(self) -> Depth:
        (row,) = await self._process.store.look(_DEPTH, {"now": self._now()})
        return Depth(
            waiting=row["waiting"], taken=row["taken"], later=row["later"], oldest_seconds=row["oldest_seconds"]
        )

    async def workers(self) -> Mapping[str, int]:
        rows = await self._process.store.look(_DRIVERS, {"now": self._now()})
        return {row["owner"]: row["debates"] for row in rows}

    async def _take(self, running: list[str], owner: str) -> list[tuple[str, str]]:
        any_due = await self._process.store.look(_ANY, {"now": self._now(), "patience": HEARTBEAT_SECONDS})
        beats = running and self._now() - self._beaten >= HEARTBEAT_SECONDS / 3
        if not any_due and not beats:
            return []
        self._beaten = self._now()
        lost, doubled = self._world.trouble.of_delivery()

        def work(connection: sqlite3.Connection) -> list[tuple[str, str]]:
            values = {
                "owner": owner,
                "now": self._now(),
                "patience": HEARTBEAT_SECONDS,
                "batch": BATCH,
            }
            for key in running:
                connection.execute("update simulated_jobs set beat = ? where key = ?", [values["now"], key])
            due = sorted(connection.execute(_DUE, values), key=lambda row: (-row["priority"], row["place"]))
            found = [(row["key"], row["debate_id"]) for row in due]
            if lost:
                connection.executemany(_FINISH, [(key,) for key, _ in found])
                return []
            if doubled:
                connection.executemany(
                    "update simulated_jobs set taken_by = null where key = ?", [(k,) for k, _ in found]
                )
            return [each for each in found if each[0] not in running]

        return await self._write("take", None, work)

    async def _work(self, key: str, job: Awaitable[float | None], stop: asyncio.Event) -> None:
        """A job that fails is over, too; one that was not taken is given to another. One that nobody waits for any
        more, because the connection was lost, is delivered again when its heartbeat has ended."""
        again = None
        with suppress(MootError):
            again = await job
        if again is not None:
            due = self._now() + (0.0 if stop.is_set() else again)
            await self._write("refuse", None, lambda connection: connection.execute(_REFUSE, [due, key]).rowcount)
        else:
            await self._write("finish", None, lambda connection: connection.execute(_FINISH, [key]).rowcount)

    async def _queue_all(self, verb: str, statement: str, **values: Any) -> int:
        def work(connection: sqlite3.Connection) -> int:
            rows = connection.execute(statement, {**values, "now": self._now()}).fetchall()
            for row in rows:
                self._enqueue(connection, row)
            return len(rows)

        return await self._write(verb, values.get("id"), work)

    def _enqueue(self, connection: sqlite3.Connection, row: Mapping[str, Any]) -> None:
        key = f"{row['id']}/{row['epoch']}/{row['last_seq']}"
        connection.execute(_INSERT, [key, row["id"], row["crashes"], self._now()])

    def _now(self) -> float:
        return self._process.now()

    async def _write(self, verb: str, debate_id: str | None, work: Callable[[sqlite3.Connection], Any]) -> Any:
        return await self._process.store.change(verb, debate_id, work)
