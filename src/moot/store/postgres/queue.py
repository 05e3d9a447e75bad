"""The queue on PgQueuer. It only delivers ids: what is done with a debate is decided by its row and its turns."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from moot.core.errors import InputError
from moot.core.types import Debate, Status
from moot.store.columns import Row
from moot.store.postgres import PostgresStore
from moot.store.postgres.connections import Connection, connect, sql
from moot.store.postgres.faults import readable
from moot.store.postgres.overview import HEARTBEAT_SECONDS, depth, stuck
from moot.store.queue import Advance, Depth, Stuck, Swept
from moot.store.rows import debate_of, seen_values

if TYPE_CHECKING:
    from pgqueuer.models import Job
    from pgqueuer.queries import Queries

T = TypeVar("T")

ADVANCE, EXPIRE = "advance", "expire"
POLL_SECONDS = 2.0  # by which a lost notification delays a job at most
BATCH = 10  # jobs taken at a time: with more, the first worker leaves the others nothing
_OF_OWNER = 18  # characters of a manager's id that are the owner's
TIDY_SECONDS = 3600.0  # between two deletions of PgQueuer's old log rows

logging.getLogger("pgqueuer").setLevel(logging.CRITICAL)  # lost connections are reported by us


class PgQueue:
    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._installed, self._installing = False, asyncio.Lock()
        self._tidied: float | None = None

    async def put(self, debate_id: str, *, expect: Collection[Status], seen: Debate | None = None) -> Debate | None:
        tried: set[float] = set()

        async def work(connection: Connection, retried: bool) -> Debate | None:
            async with connection.transaction():
                statuses = {*expect, "running"} if retried else expect  # the first try may have arrived
                now = self._store.now()
                values = {"id": debate_id, "expect": list(statuses), "now": now, **seen_values(seen)}
                rows = await sql("queue_up").on(connection, values)
                if not rows:
                    if not retried:
                        return None
                    found = [debate_of(row) for row in await sql("get_session").on(connection, values)]
                    arrived = [one for one in found if one.status not in expect or one.updated_at in tried]
                    return arrived[0] if arrived else None
                tried.add(now)
                await self._enqueue(connection, rows)
                return debate_of(rows[0])

        return await self._with_connection(work)

    async def put_later(self, debate_id: str, seconds: float) -> None:
        async def work(connection: Connection, _: bool) -> None:
            await self._queries(connection).enqueue(
                EXPIRE,
                debate_id.encode(),
                execute_after=timedelta(seconds=seconds),
                dedupe_key=f"{EXPIRE}/{debate_id}/{self._store.now() + seconds:.0f}",  # a debate may wait several times
                on_conflict="skip",
            )

        await self._with_connection(work)

    async def answered(self, debate_id: str) -> None:
        await self._queue_all("answered", id=debate_id)

    async def sweep(self, quiet_seconds: float, dead: Collection[str] = ()) -> Swept:
        if dead:
            prefixes = [str(_manager_id(each))[:_OF_OWNER] for each in dead]
            await self._with_connection(lambda connection, _: sql("free_jobs").on(connection, {"dead": prefixes}))
        orphans = await self._queue_all("orphans", quiet=quiet_seconds, dead=list(dead))
        answered = await self._queue_all("answered", id=None)
        stopped = await self._rows("stranded")
        await self._tidy()
        return Swept(orphans=orphans, answered=answered, stopped=len(stopped))

    async def stuck(self, seconds: float) -> Sequence[Stuck]:
        return await self._with_connection(lambda connection, _: stuck(connection, self._store.now(), seconds))

    async def run(
        self,
        advance: Advance,
        expire: Callable[[], Awaitable[None]],
        *,
        at_once: int,
        stop: asyncio.Event,
        owner: str = "",
    ) -> None:
        await self.open()

        from pgqueuer.errors import RetryRequested
        from pgqueuer.qm import QueueManager
        from pgqueuer.types import Channel

        gone = asyncio.Event()  # the connection is lost: jobs need not be waited for, their debates are driven anyway
        connection: Connection | None = None
        watching: asyncio.Task[None] | None = None
        try:
            connection = await connect(self._store.address)
            connection.add_termination_listener(lambda _: gone.set())
            manager = QueueManager(
                self._queries_on(_failing_fast(connection, gone)),
                channel=Channel(self._names.channel),
            )
            manager.queue_manager_id = cast(Any, _manager_id(owner))

            @manager.entrypoint(ADVANCE, accepts_context=False)
            async def _(job: Job) -> None:
                again = await _unless(gone, advance((job.payload or b"").decode()))
                if again is not None:
                    raise RetryRequested(timedelta(seconds=0 if stop.is_set() else again))

            @manager.entrypoint(EXPIRE, accepts_context=False)
            async def _(job: Job) -> None:
                await expire()

            watching = asyncio.create_task(_set_on_either(stop, gone, manager.shutdown))
            delivering = asyncio.create_task(
                manager.run(
                    dequeue_timeout=timedelta(seconds=POLL_SECONDS),
                    batch_size=max(1, min(BATCH, at_once // 2)),
                    max_concurrent_tasks=max(2, at_once),
                    heartbeat_timeout=timedelta(seconds=HEARTBEAT_SECONDS),
                )
            )
            try:
                await asyncio.shield(delivering)
            except asyncio.CancelledError:
                connection.terminate()  # otherwise PgQueuer waits for all jobs it has delivered
                await asyncio.gather(delivering, return_exceptions=True)
                raise
        except Exception as error:
            raise readable(error, self._store.address) from error
        finally:
            if watching is not None:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
            if connection is not None:
                connection.terminate()

    async def depth(self) -> Depth:
        return await self._with_connection(lambda connection, _: depth(connection))

    async def workers(self) -> Mapping[str, int]:
        return {row["owner"]: row["debates"] for row in await self._rows("drivers")}

    async def _queue_all(self, name: str, **values: Any) -> int:
        async def work(connection: Connection, _: bool) -> int:
            async with connection.transaction():
                rows = await sql(name).on(connection, {**values, "now": self._store.now()})
                if rows:
                    await self._enqueue(connection, rows)
                return len(rows)

        return await self._with_connection(work)

    async def _tidy(self) -> None:
        """Delete PgQueuer's log and statistics, which it keeps for ever and nothing reads."""
        now = time.monotonic()
        if self._tidied is None or now - self._tidied > TIDY_SECONDS:
            self._tidied = now
            for name in ("tidy_log", "tidy_statistics"):
                await self._rows(name)

    async def _enqueue(self, connection: Connection, rows: Sequence[Row]) -> None:
        """The dedupe key has epoch and last event, so that a resume is not mistaken for the job that is just ending."""
        await self._queries(connection).enqueue(
            [ADVANCE] * len(rows),
            [str(row["id"]).encode() for row in rows],
            [row["crashes"] for row in rows],
            dedupe_key=[f"{row['id']}/{row['epoch']}/{row['last_seq']}" for row in rows],
            on_conflict="skip",
        )

    async def _rows(self, name: str) -> Sequence[Row]:
        return await self._with_connection(lambda c, _: sql(name).on(c, {"now": self._store.now()}))

    async def _with_connection(self, work: Callable[[Connection, bool], Awaitable[Any]]) -> Any:
        await self.open()
        return await self._store.with_connection(work)

    async def open(self) -> None:
        """Create or upgrade PgQueuer's tables. Safe when several processes do it at once. Raises InputError if PgQueuer
        is not installed."""
        _ = self._names
        async with self._installing:  # a worker sweeps and takes at once
            if not self._installed:
                await self._store.with_connection(self._install)
                self._installed = True

    async def _install(self, connection: Connection, _: bool) -> None:
        queries = self._queries(connection)
        async with queries.schema_lock():
            if not await queries.schema_is_installed():
                await queries.install()
                return
            plan = await queries.plan_upgrade()
            for statement in plan.statements:
                await connection.execute(statement)

    def _queries(self, connection: Connection) -> Queries:
        from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver

        return self._queries_on(AsyncpgDriver(cast(Any, connection)))

    def _queries_on(self, driver: Any) -> Queries:
        from pgqueuer.queries import Queries

        builders = self._builders
        return Queries(driver, qbe=builders[0], qbq=builders[1], qbs=builders[2])

    @cached_property
    def _builders(self) -> tuple[Any, Any, Any]:
        from pgqueuer.adapters.persistence import qb

        return (
            qb.QueryBuilderEnvironment(self._names),
            qb.QueryQueueBuilder(self._names),
            qb.QuerySchedulerBuilder(self._names),
        )

    @cached_property
    def _names(self) -> Any:
        """All names are given: PgQueuer reads missing ones from environment variables as common as CHANNEL."""
        try:
            from pgqueuer.domain.settings import DBSettings, Durability
        except ImportError:
            raise InputError('Workers need a queue that is not installed: pip install "moot[postgres]".') from None
        return DBSettings(
            prefix="moot_",
            db_schema=None,
            channel=cast(Any, "moot_jobs"),
            function="moot_fn_jobs_changed",
            statistics_table="moot_job_statistics",
            queue_status_type="moot_job_status",
            queue_table="moot_jobs",
            queue_table_log="moot_job_log",
            trigger="moot_tg_jobs_changed",
            schedules_table="moot_job_schedules",
            durability=Durability.durable,
            widen_id=True,
        )


def _failing_fast(connection: Connection, broken: asyncio.Event) -> Any:
    """A driver for PgQueuer that sets `broken` on the first error. PgQueuer itself first waits for all jobs it has
    delivered: until the longest debate ends, no job would be taken."""
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver

    class FailFastDriver(AsyncpgDriver):
        async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
            try:
                return await super().fetch(query, *args)
            except Exception:
                broken.set()
                raise

        async def execute(self, query: str, *args: object) -> str:
            try:
                return await super().execute(query, *args)
            except Exception:
                broken.set()
                raise

    return FailFastDriver(cast(Any, connection))


def _manager_id(owner: str) -> uuid.UUID:
    """The name under which PgQueuer knows who has taken a job: the owner's in its first half, the rest random, as a
    worker that lost its connection begins anew."""
    return uuid.UUID(bytes=hashlib.sha256(owner.encode()).digest()[:8] + uuid.uuid4().bytes[:8])


async def _unless(gone: asyncio.Event, work: Awaitable[T]) -> T | None:
    """Return the result of `work`, or None when `gone` is set first."""
    task, other = asyncio.ensure_future(work), asyncio.create_task(gone.wait())
    try:
        await asyncio.wait((task, other), return_when=asyncio.FIRST_COMPLETED)
    finally:
        other.cancel()
        if not task.done():
            task.cancel()
    return task.result() if task.done() and not task.cancelled() else None


async def _set_on_either(one: asyncio.Event, two: asyncio.Event, then: asyncio.Event) -> None:
    """Set `then` as soon as one of two events is set."""
    waiting = [asyncio.create_task(event.wait()) for event in (one, two)]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        then.set()
    finally:
        for task in waiting:
            task.cancel()
