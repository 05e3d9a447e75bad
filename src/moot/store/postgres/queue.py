"""The queue on PgQueuer. It delivers; what is delivered is decided by the sessions and their turns."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from moot.errors import InputError
from moot.store.postgres import PostgresStore
from moot.store.postgres.faults import readable
from moot.store.postgres.link import Link, connect, sql
from moot.store.postgres.overview import depth
from moot.store.queue import Advance, Depth, Stuck, Swept
from moot.store.rows import Row, debate_of, seen_values
from moot.types import Debate, Status

if TYPE_CHECKING:
    from pgqueuer.models import Job
    from pgqueuer.queries import Queries

T = TypeVar("T")

ADVANCE, EXPIRE = "advance", "expire"
HEARTBEAT_SECONDS = 12.0  # a worker silent for so long has its jobs given to others
POLL_SECONDS = 2.0  # how long a notification that was missed can delay a job
BATCH = 10  # taken at a time: more, and who comes first leaves the others nothing
TIDY_SECONDS = 3600.0  # how often old notes on jobs are removed

logging.getLogger("pgqueuer").setLevel(logging.CRITICAL)  # what it would say of lost connections, we say


class PgQueue:
    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._installed = False
        self._tidied: float | None = None

    async def put(self, debate_id: str, *, expect: Collection[Status], seen: Debate | None = None) -> Debate | None:
        tried: set[float] = set()

        async def work(link: Link, again: bool) -> Debate | None:
            async with link.transaction():
                statuses = {*expect, "running"} if again else expect  # it may be queued already, or driven
                now = self._store.now()
                values = {"id": debate_id, "expect": list(statuses), "now": now, **seen_values(seen)}
                rows = await sql("queue_up").on(link, values)
                if not rows:
                    if not again:
                        return None
                    found = [debate_of(row) for row in await sql("get_session").on(link, values)]
                    arrived = [one for one in found if one.status not in expect or one.updated_at in tried]
                    return arrived[0] if arrived else None
                tried.add(now)
                await self._enqueue(link, rows)
                return debate_of(rows[0])

        return await self._linked(work)

    async def put_later(self, debate_id: str, seconds: float) -> None:
        async def work(link: Link, _: bool) -> None:
            await self._queries(link).enqueue(
                EXPIRE,
                debate_id.encode(),
                execute_after=timedelta(seconds=seconds),
                dedupe_key=f"{EXPIRE}/{debate_id}/{self._store.now() + seconds:.0f}",  # it may ask again, and again
                on_conflict="skip",
            )

        await self._linked(work)

    async def answered(self, debate_id: str) -> None:
        await self._queue_all("answered", id=debate_id)

    async def sweep(self, quiet_seconds: float) -> Swept:
        orphans = await self._queue_all("orphans", quiet=quiet_seconds)
        answered = await self._queue_all("answered", id=None)
        stopped = await self._linked(lambda link, _: sql("stranded").on(link, {"now": self._store.now()}))
        await self._tidy()
        return Swept(orphans=orphans, answered=answered, stopped=len(stopped))

    async def stuck(self, seconds: float) -> Sequence[Stuck]:
        values = {"seconds": seconds, "beat": 2 * HEARTBEAT_SECONDS}
        rows = await self._linked(lambda link, _: sql("stuck").on(link, {**values, "now": self._store.now()}))
        return [Stuck(debate_id=row["id"], status=row["status"], since=row["since"], why=row["why"]) for row in rows]

    async def run(
        self, advance: Advance, expire: Callable[[], Awaitable[None]], *, at_once: int, stop: asyncio.Event
    ) -> None:
        from pgqueuer.errors import RetryRequested
        from pgqueuer.qm import QueueManager
        from pgqueuer.types import Channel

        await self.open()
        gone = asyncio.Event()  # the connection: whoever waits for a debate here need not, it is driven on anyway
        link: Link | None = None
        watching: asyncio.Task[None] | None = None
        try:
            link = await connect(self._store.address)
            link.add_termination_listener(lambda _: gone.set())
            manager = QueueManager(
                self._queries_on(_frail(link, gone)),
                channel=Channel(self._names.channel),
            )

            @manager.entrypoint(ADVANCE, accepts_context=False)
            async def _(job: Job) -> None:
                taken = await _until_either(advance((job.payload or b"").decode()), gone)
                if taken is False:
                    raise RetryRequested(timedelta(seconds=0 if stop.is_set() else POLL_SECONDS))

            @manager.entrypoint(EXPIRE, accepts_context=False)
            async def _(job: Job) -> None:
                await expire()

            watching = asyncio.create_task(_when_either(stop, gone, manager.shutdown))
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
                link.terminate()  # else it would wait for all that it has delivered
                await asyncio.gather(delivering, return_exceptions=True)
                raise
        except Exception as error:
            raise readable(error, self._store.address) from error
        finally:
            if watching is not None:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
            if link is not None:
                link.terminate()

    async def depth(self) -> Depth:
        return await self._linked(lambda link, _: depth(link))

    async def workers(self) -> Mapping[str, int]:
        rows = await self._linked(lambda link, _: sql("drivers").on(link, {"now": self._store.now()}))
        return {row["owner"]: row["debates"] for row in rows}

    async def _queue_all(self, name: str, **values: Any) -> int:
        async def work(link: Link, _: bool) -> int:
            async with link.transaction():
                rows = await sql(name).on(link, {**values, "now": self._store.now()})
                if rows:
                    await self._enqueue(link, rows)
                return len(rows)

        return await self._linked(work)

    async def _tidy(self) -> None:
        """PgQueuer notes each job for ever; nobody here reads it."""
        now = time.monotonic()
        if self._tidied is None or now - self._tidied > TIDY_SECONDS:
            self._tidied = now
            for name in ("tidy_log", "tidy_statistics"):
                await self._linked(lambda link, _, name=name: sql(name).on(link, {}))

    async def _enqueue(self, link: Link, rows: Sequence[Row]) -> None:
        """The key has the epoch and the number of events, so that a resume is not taken for the job that just ends."""
        await self._queries(link).enqueue(
            [ADVANCE] * len(rows),
            [str(row["id"]).encode() for row in rows],
            [0] * len(rows),
            dedupe_key=[f"{row['id']}/{row['epoch']}/{row['last_seq']}" for row in rows],
            on_conflict="skip",
        )

    async def _linked(self, work: Callable[[Link, bool], Awaitable[Any]]) -> Any:
        await self.open()
        return await self._store.linked(work)

    async def open(self) -> None:
        """Bring PgQueuer's tables up to date; several processes may do it at once."""
        if self._installed:
            return

        async def work(link: Link, _: bool) -> None:
            queries = self._queries(link)
            async with queries.schema_lock():
                if not await queries.schema_is_installed():
                    await queries.install()
                    return
                plan = await queries.plan_upgrade()
                for statement in plan.statements:
                    await link.execute(statement)

        await self._store.linked(work)
        self._installed = True

    def _queries(self, link: Link) -> Queries:
        from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver

        return self._queries_on(AsyncpgDriver(cast(Any, link)))

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
        """All of them given: PgQueuer would read them from variables as common as CHANNEL."""
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


def _frail(link: Link, broken: asyncio.Event) -> Any:
    """PgQueuer's way to a connection. After any error it waits for all that it has delivered before it says so: then
    nothing would be taken for as long as the longest debate lasts, so the first error is told at once."""
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver

    class Frail(AsyncpgDriver):
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

    return Frail(cast(Any, link))


async def _until_either(work: Awaitable[T], gone: asyncio.Event) -> T | None:
    """What the work gives, unless the connection is gone first."""
    task, other = asyncio.ensure_future(work), asyncio.create_task(gone.wait())
    try:
        await asyncio.wait((task, other), return_when=asyncio.FIRST_COMPLETED)
    finally:
        other.cancel()
        if not task.done():
            task.cancel()
    return task.result() if task.done() and not task.cancelled() else None


async def _when_either(one: asyncio.Event, two: asyncio.Event, then: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in (one, two)]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        then.set()
    finally:
        for task in waiting:
            task.cancel()
