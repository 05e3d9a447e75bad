"""Operational figures of an SQLite file."""

from __future__ import annotations

import sqlite3

from moot.store.overview import MOST_FAILURES, Driver, Overview, group_failures, set_aside_of
from moot.store.sqlite.connection import sql


def overview(connection: sqlite3.Connection, now: float, seconds: float) -> Overview:
    values = {"now": now, "since": now - seconds, "most": MOST_FAILURES}
    gates = connection.execute(sql("gates_now"), values).fetchone()
    failed = connection.execute(sql("failures"), values).fetchall()
    counts = connection.execute(sql("counts"))
    return Overview(
        now=now,
        debates=dict(counts.fetchall()),
        drivers=[
            Driver(name=row["owner"], debates=row["debates"], lease_until=row["lease_until"])
            for row in connection.execute(sql("drivers"), values)
        ],
        leases_expired=connection.execute(sql("leases_expired"), values).fetchone()[0],
        gates_open=gates["open"],
        gates_overdue=gates["overdue"],
        failed=len(failed),
        troubles=group_failures(failed),
        set_aside=set_aside_of(connection.execute(sql("set_aside"), values)),
    )
