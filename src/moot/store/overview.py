"""Operational figures of a database: what `moot status` and the metrics show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from moot.core.types import Ability, Status, record
from moot.store.columns import Row
from moot.store.queue import Depth, Stuck

QUIET_SECONDS = 60.0  # without a driver for less, a debate may just be changing workers
SILENT_SECONDS = 30.0  # without a heartbeat for longer, a worker is presumed dead
MOST_FAILURES = 1000  # read at most


@record
class Driver:
    """A process with valid leases: a worker, or any other that started a debate."""

    name: str
    debates: int
    lease_until: float  # the earliest expiry


@record
class Presence:
    """A worker, as of its last heartbeat."""

    name: str
    version: str
    started_at: float
    debates: int  # driven now
    room: int  # driven at most
    draining: bool = False
    seen_at: float = 0.0
    abilities: Sequence[Ability] = ()  # what its machine can do, of what installed formats need


@record
class Unserved:
    """A debate that waits for a worker that can drive it, while others may be idle."""

    debate_id: str
    format: str
    since: float
    needs: Sequence[Ability] = ()  # what no live worker has


@record
class FailureGroup:
    """Debates that failed for the same reason."""

    kind: str
    message: str  # of the newest
    debates: int
    newest: str  # id of the newest


@record
class SetAside:
    """A debate that was failed because it took processes down, whenever that was."""

    debate_id: str
    since: float


@record
class RateLimitStatus:
    name: str
    paused_seconds: float  # left of a back-off after a provider's refusal
    line_seconds: float  # until the last call in line may start


@record
class Overview:
    now: float  # by the clock that leases go by
    debates: Mapping[Status, int] = field(default_factory=dict[Status, int])
    drivers: Sequence[Driver] = ()
    leases_expired: int = 0  # debates whose driver stopped renewing
    gates_open: int = 0
    gates_overdue: int = 0
    failed: int = 0  # within the period asked for
    troubles: Sequence[FailureGroup] = ()  # the most frequent first
    set_aside: Sequence[SetAside] = ()  # debates that took processes down, the newest first
    stranded: Sequence[Stuck] = ()  # debates that will not go on by themselves
    unserved: Sequence[Unserved] = ()  # debates that no live worker can drive
    queue: Depth | None = None  # None: there is no queue
    workers: Sequence[Presence] = ()  # alive
    silent: Sequence[Presence] = ()  # no heartbeat, and not checked out
    limits: Sequence[RateLimitStatus] = ()


def set_aside_of(rows: Iterable[Row]) -> list[SetAside]:
    return [SetAside(debate_id=row["id"], since=row["updated_at"]) for row in rows]


def group_failures(rows: Iterable[Row]) -> list[FailureGroup]:
    """Group failed debates, given newest first, by kind and message. Numbers in messages are ignored."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows:
        error = json.loads(row["error"] or "{}")
        kind, message = str(error.get("kind", "error")), str(error.get("message", ""))
        alike = re.sub(r"(?<![0-9a-f])[0-9a-f]*\d[0-9a-f.]*", "#", message)[:200]
        found.setdefault((kind, alike), []).append((message, row["id"]))
    made = [
        FailureGroup(kind=kind, message=those[0][0], debates=len(those), newest=those[0][1])
        for (kind, _), those in found.items()
    ]
    return sorted(made, key=lambda group: -group.debates)
