"""A database with as many debates as a team has after years: copies of a few that were really run."""

from __future__ import annotations

import base64
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moot.app import App
from moot.bench.rig import plan, sim
from moot.settings import Settings, read
from moot.store.postgres.address import read_address
from moot.store.postgres.link import connect
from moot.store.rows import new_id

_KINDS = ("classic", "duel", "council", "crucible")
_SECONDS_APART = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """A debate's, in the list."""

    id: str
    created_at: float

    @property
    def cursor(self) -> str:
        """What the server gives as `next` of a page that ends with this debate."""
        return base64.urlsafe_b64encode(f"{self.created_at!r}/{self.id}".encode()).decode().rstrip("=")


async def fill(database: str | Path, count: int) -> list[Place]:
    """Where they are, newest first. Sessions only: neither a list nor a debate reads the turns."""
    url = str(database)
    app = App(read(Settings, {"database_url": url, "embedder": "none"}), {})
    try:
        models = [await _run(app, kind) for kind in _KINDS]
        models.append((await app.create(plan(app, sim()))).id)  # one that nobody has started
    finally:
        await app.close()
    return await (_fill_postgres if url.startswith("postgresql:") else _fill_sqlite)(url, models, count)


async def _run(app: App, kind: str) -> str:
    debate = await app.create(plan(app, sim(), format=kind, settings={"recall_decisions": False}))
    await app.runtime.start(debate.id)
    done = await app.runtime.wait(debate.id)
    if done.status != "completed":
        raise RuntimeError(f"a simulated {kind} is {done.status}: {done.error}")
    return debate.id


async def _fill_sqlite(path: str, models: Sequence[str], count: int) -> list[Place]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        wanted = f"select * from debate_sessions where id in ({_marks(models)}) order by created_at"
        found = connection.execute(wanted, models)
        names = [column[0] for column in found.description]
        rows = list(_copies(names, found.fetchall(), count))
        connection.execute("begin immediate")
        connection.executemany(f'insert into debate_sessions ("{_listed(names)}") values ({_marks(names)})', rows)
        connection.execute("commit")
        connection.execute("pragma wal_checkpoint(truncate)")
    return _places(names, rows)


async def _fill_postgres(url: str, models: Sequence[str], count: int) -> list[Place]:
    link: Any = await connect(read_address(url))
    try:
        found: list[Any] = await link.fetch(
            "select * from debate_sessions where id = any($1) order by created_at", list(models)
        )
        names: list[str] = list(found[0].keys())
        rows = list(_copies(names, [tuple(row) for row in found], count))
        await link.copy_records_to_table("debate_sessions", columns=names, records=rows)
        await link.execute("vacuum analyze debate_sessions")
    finally:
        await link.close()
    return _places(names, rows)


def _copies(names: Sequence[str], models: Sequence[tuple[Any, ...]], count: int) -> Iterator[tuple[Any, ...]]:
    """In the past, one a minute. Each is its model but for its id, its times and its question."""
    places = {name: place for place, name in enumerate(names)}
    times = [places[name] for name in ("created_at", "updated_at", "started_at", "completed_at")]
    now = time.time() - _SECONDS_APART * (count + 1)
    for number in range(count):
        values = list(models[number % len(models)])
        at = now + number * _SECONDS_APART
        born = values[places["created_at"]]
        for place in times:
            values[place] = None if values[place] is None else at + (values[place] - born)
        values[places["id"]] = values[places["debate_id"]] = new_id(at)
        values[places["topic"]] = f"{values[places['topic']]} (question {number:,})"
        values[places["remembered"]] = "" if values[places["completed_at"]] is not None else None
        yield tuple(values)


def _places(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[Place]:
    id_, created_at = names.index("id"), names.index("created_at")
    return [Place(row[id_], row[created_at]) for row in reversed(rows)]


def _listed(names: Sequence[str]) -> str:
    return '", "'.join(names)


def _marks(names: Sequence[str]) -> str:
    return ", ".join("?" * len(names))
