"""Operational figures of a PostgreSQL database."""

from __future__ import annotations

from moot.store.columns import fields_without, picked
from moot.store.overview import (
    MOST_FAILURES,
    QUIET_SECONDS,
    SILENT_SECONDS,
    Driver,
    Overview,
    Presence,
    RateLimitStatus,
    group_failures,
    set_aside_of,
)
from moot.store.postgres.connections import Connection, sql
from moot.store.queue import Depth, Stuck

HEARTBEAT_SECONDS = 12.0  # a job whose worker has sent no heartbeat for so long is delivered again
_PRESENCE, _LIMIT = fields_without(Presence), fields_without(RateLimitStatus)


async def overview(connection: Connection, now: float, seconds: float) -> Overview:
    (found,) = await sql("overview").on(connection, {"now": now})
    failed = await sql("failures").on(connection, {"since": now - seconds, "most": MOST_FAILURES})
    workers = [Presence(**picked(row, _PRESENCE)) for row in await sql("workers").on(connection, {})]
    return Overview(
        now=now,
        debates={row["status"]: row["count"] for row in await sql("counts").on(connection, {})},
        drivers=[
            Driver(name=row["owner"], debates=row["debates"], lease_until=row["lease_until"])
            for row in await sql("drivers").on(connection, {"now": now})
        ],
        leases_expired=found["leases_expired"],
        gates_open=found["gates_open"],
        gates_overdue=found["gates_overdue"],
        failed=len(failed),
        troubles=group_failures(failed),
        set_aside=set_aside_of(await sql("set_aside").on(connection, {"most": MOST_FAILURES})),
        queue=await depth(connection) if found["queued"] else None,
        stranded=await stuck(connection, now, QUIET_SECONDS) if found["queued"] else (),
        workers=[each for each in workers if each.seen_at > now - SILENT_SECONDS],
        silent=[each for each in workers if each.seen_at <= now - SILENT_SECONDS],
        limits=[RateLimitStatus(**picked(row, _LIMIT)) for row in await sql("limits_now").on(connection, {"now": now})],
    )


async def depth(connection: Connection) -> Depth:
    (row,) = await sql("depth").on(connection, {})
    return Depth(**picked(row, fields_without(Depth, "oldest_seconds")), oldest_seconds=float(row["oldest_seconds"]))


async def stuck(connection: Connection, now: float, seconds: float) -> list[Stuck]:
    rows = await sql("stuck").on(connection, {"now": now, "seconds": seconds, "beat": 2 * HEARTBEAT_SECONDS})
    return [Stuck(debate_id=row["id"], status=row["status"], since=row["since"], why=row["why"]) for row in rows]
