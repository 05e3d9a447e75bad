"""What an operator wants to know of a database at a glance."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from moot.store.queue import Depth, Stuck
from moot.store.rows import Row
from moot.types import Status, record

QUIET_SECONDS = 60.0  # a debate that nobody drives for so long is not just changing hands
SILENT_SECONDS = 30.0  # a worker that says nothing for so long is thought gone
MOST_FAILURES = 1000  # that are looked at


@record
class Driver:
    """A process with live leases: a worker, or whoever started a debate."""

    name: str
    debates: int
    lease_until: float  # of the first to run out


@record
class Presence:
    """A worker, as it last said itself."""

    name: str
    version: str
    started_at: float
    debates: int  # that it drives
    room: int  # that it would drive at once
    draining: bool = False
    seen_at: float = 0.0


@record
class Trouble:
    """Why debates failed."""

    kind: str
    message: str  # of the newest
    debates: int
    newest: str  # its id


@record
class LimitNow:
    """How a rate limit stands."""

    name: str
    paused_seconds: float  # for which everyone waits, as a provider has refused more
    line_seconds: float  # until the last in line may call


@record
class Overview:
    now: float  # by the clock that counts for leases
    debates: Mapping[Status, int] = field(default_factory=dict[Status, int])
    drivers: Sequence[Driver] = ()
    leases_expired: int = 0  # debates whose driver has fallen silent
    gates_open: int = 0
    gates_overdue: int = 0
    failed: int = 0  # within the time that was asked for
    troubles: Sequence[Trouble] = ()  # the most frequent first
    stranded: Sequence[Stuck] = ()  # debates that will not go on by themselves
    queue: Depth | None = None  # None: there is none
    workers: Sequence[Presence] = ()  # alive
    silent: Sequence[Presence] = ()  # no sign of life, and no farewell
    limits: Sequence[LimitNow] = ()


def troubles_of(rows: Iterable[Row]) -> list[Trouble]:
    """Of failed debates, newest first. Messages that differ in numbers only are the same."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows:
        error = json.loads(row["error"] or "{}")
        kind, message = str(error.get("kind", "error")), str(error.get("message", ""))
        found.setdefault((kind, re.sub(r"[0-9a-f]*\d[0-9a-f.]*", "#", message)[:200]), []).append((message, row["id"]))
    made = [
        Trouble(kind=kind, message=those[0][0], debates=len(those), newest=those[0][1])
        for (kind, _), those in found.items()
    ]
    return sorted(made, key=lambda trouble: -trouble.debates)
