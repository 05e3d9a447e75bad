"""What an operator wants to know of a PostgreSQL database, and where workers say that they are there."""

from __future__ import annotations

from moot.store.overview import (
    MOST_FAILURES,
    QUIET_SECONDS,
    SILENT_SECONDS,
    Driver,
    LimitNow,
    Overview,
    Presence,
    troubles_of,
)
from moot.store.postgres.link import Link, sql
from moot.store.queue import Depth, Stuck

HEARTBEAT_SECONDS = 24.0  # of a job: whoever took it is thought gone after that


async def overview(link: Link, now: float, seconds: float) -> Overview:
    (found,) = await sql("overview").on(link, {"now": now})
    failed = await sql("failures").on(link, {"since": now - seconds, "most": MOST_FAILURES})
    workers = [
        Presence(
            name=row["name"],
            version=row["version"],
            started_at=row["started_at"],
            debates=row["debates"],
            room=row["room"],
            draining=row["draining"],
            seen_at=row["seen_at"],
        )
        for row in await sql("workers").on(link, {})
    ]
    return Overview(
        now=now,
        debates={row["status"]: row["count"] for row in await sql("counts").on(link, {})},
        drivers=[
            Driver(name=row["owner"], debates=row["debates"], lease_until=row["lease_until"])
            for row in await sql("drivers").on(link, {"now": now})
        ],
        leases_expired=found["leases_expired"],
        gates_open=found["gates_open"],
        gates_overdue=found["gates_overdue"],
        failed=len(failed),
        troubles=troubles_of(failed),
        queue=await depth(link) if found["queued"] else None,
        stranded=await _stranded(link, now) if found["queued"] else (),
        workers=[each for each in workers if each.seen_at > now - SILENT_SECONDS],
        silent=[each for each in workers if each.seen_at <= now - SILENT_SECONDS],
        limits=[
            LimitNow(name=row["name"], paused_seconds=row["paused_seconds"], line_seconds=row["line_seconds"])
            for row in await sql("limits_now").on(link, {"now": now})
        ],
    )


async def depth(link: Link) -> Depth:
    (row,) = await sql("depth").on(link, {})
    return Depth(
        waiting=row["waiting"], taken=row["taken"], later=row["later"], oldest_seconds=float(row["oldest_seconds"])
    )


async def _stranded(link: Link, now: float) -> list[Stuck]:
    rows = await sql("stuck").on(link, {"now": now, "seconds": QUIET_SECONDS, "beat": HEARTBEAT_SECONDS})
    return [Stuck(debate_id=row["id"], status=row["status"], since=row["since"], why=row["why"]) for row in rows]
