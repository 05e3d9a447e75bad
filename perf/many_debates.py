"""Fill a database with many debates: copies of a few that were really run."""

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
from moot.client import creating
from moot.core.settings import Settings, read
from moot.store.postgres.address import read_address
from moot.store.postgres.connections import connect
from moot.store.rows import new_id
from perf.rig import plan, play, sim

_FORMATS = ("classic", "duel", "council", "crucible")
_SECONDS_APART = 60.0


@dataclass(frozen=True, slots=True)
class ListEntry:
    id: str
    created_at: float

    @property
    def cursor(self) -> str:
        """The `next` cursor of a page that ends with this debate."""
        return base64.urlsafe_b64encode(f"{self.created_at!r}/{self.id}".encode()).decode().rstrip("=")


async def fill(database: str | Path, count: int) -> list[ListEntry]:
    """Add `count` debates and return them, newest first. They have no turns: neither a list nor a debate reads them."""
    url = str(database)
    app = App(read(Settings, {"database_url": url, "embedder": "none"}), {})
    try:
        finished = [plan(app, sim(), format=name, settings={"recall_decisions": False}) for name in _FORMATS]
        originals = [(await play(app, each)).debate.id for each in finished]
        originals.append((await creating.create(app, plan(app, sim()))).id)  # one that is still pending
    finally:
        await app.close()
    return await (_fill_postgres if url.startswith("postgresql:") else _fill_sqlite)(url, originals, count)


async def _fill_sqlite(path: str, originals: Sequence[str], count: int) -> list[ListEntry]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        query = f"select * from debate_sessions where id in ({_placeholders(originals)}) order by created_at"
        found = connection.execute(query, originals)
        columns = [column[0] for column in found.description]
        rows = list(_copies(columns, found.fetchall(), count))
        quoted = ", ".join(f'"{column}"' for column in columns)
        connection.execute("begin immediate")
        connection.executemany(f"insert into debate_sessions ({quoted}) values ({_placeholders(columns)})", rows)
        connection.execute("commit")
        connection.execute("pragma wal_checkpoint(truncate)")
    return _entries(columns, rows)


async def _fill_postgres(url: str, originals: Sequence[str], count: int) -> list[ListEntry]:
    link: Any = await connect(read_address(url))
    try:
        found: list[Any] = await link.fetch(
            "select * from debate_sessions where id = any($1) order by created_at", list(originals)
        )
        columns: list[str] = list(found[0].keys())
        rows = list(_copies(columns, [tuple(row) for row in found], count))
        await link.copy_records_to_table("debate_sessions", columns=columns, records=rows)
        await link.execute("vacuum analyze debate_sessions")
    finally:
        await link.close()
    return _entries(columns, rows)


def _copies(columns: Sequence[str], originals: Sequence[tuple[Any, ...]], count: int) -> Iterator[tuple[Any, ...]]:
    """Yield copies with new ids, questions and times, created one a minute up to now."""
    index = {column: at for at, column in enumerate(columns)}
    times = [index[column] for column in ("created_at", "updated_at", "started_at", "completed_at")]
    first = time.time() - _SECONDS_APART * (count + 1)
    for number in range(count):
        values = list(originals[number % len(originals)])
        created_at = first + number * _SECONDS_APART
        original = values[index["created_at"]]
        for at in times:
            values[at] = None if values[at] is None else created_at + (values[at] - original)
        values[index["id"]] = new_id(created_at)
        values[index["topic"]] = f"{values[index['topic']]} (question {number:,})"
        values[index["remembered"]] = "" if values[index["completed_at"]] is not None else None
        yield tuple(values)


def _entries(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[ListEntry]:
    id_, created_at = columns.index("id"), columns.index("created_at")
    return [ListEntry(row[id_], row[created_at]) for row in reversed(rows)]


def _placeholders(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
