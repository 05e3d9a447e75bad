"""Upper bound for the SQLite store: a writer thread that commits prebuilt rows in groups."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from moot.store.rows import session_values, turn_row
from moot.store.sqlite import migrate, sql
from perf.rig import Played

_GROUP = 512


class Rows(NamedTuple):
    """The rows that one step writes."""

    session: dict[str, Any]
    turn: tuple[Any, ...]
    event: tuple[Any, ...]


Job = tuple[Rows, "asyncio.Future[None]"]


async def seconds_for(folder: Path, played: Played, *, debates: int) -> float:
    """Write the steps of `debates` debates, one task each. All rows are built before the clock starts."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="raw-") as name:
        path = Path(name) / "raw.db"
        work = [_rows(played, f"debate-{number:06}") for number in range(debates)]
        _prepare(path, played, [rows[0].session["id"] for rows in work])
        jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        thread = threading.Thread(target=_write, args=(path, jobs, asyncio.get_running_loop()), daemon=True)
        thread.start()
        clock = time.perf_counter()
        await asyncio.gather(*(_submit(rows, jobs) for rows in work))
        seconds = time.perf_counter() - clock
        jobs.put(None)
        await asyncio.to_thread(thread.join)
        _check(path, debates * len(played.turns))
        return seconds


async def _submit(steps: Sequence[Rows], jobs: queue.SimpleQueue[Job | None]) -> None:
    loop = asyncio.get_running_loop()
    for rows in steps:
        future: asyncio.Future[None] = loop.create_future()
        jobs.put((rows, future))
        await future


def _write(path: Path, jobs: queue.SimpleQueue[Job | None], loop: asyncio.AbstractEventLoop) -> None:
    connection = _connect(path)
    while (first := jobs.get()) is not None:
        group = [first]
        while len(group) < _GROUP and not jobs.empty():
            job = jobs.get()
            if job is None:
                jobs.put(None)
                break
            group.append(job)
        connection.execute("begin immediate")
        connection.executemany(_plain("commit"), [rows.session for rows, _ in group])
        connection.executemany(sql("insert_turn"), [rows.turn for rows, _ in group])
        connection.executemany(sql("insert_event"), [rows.event for rows, _ in group])
        connection.execute("commit")
        loop.call_soon_threadsafe(_done, group)
    connection.close()


def _done(group: Sequence[Job]) -> None:
    for _, future in group:
        future.set_result(None)


def _rows(played: Played, debate_id: str) -> list[Rows]:
    rows: list[Rows] = []
    for turn in played.turns:
        session = {
            "id": debate_id,
            "epoch": 0,
            "now": turn.created_at,
            "status": None,
            "open_keys": f'["{turn.key}"]',
            "next_round": turn.round,
            "next_actor": turn.seat,
            "artifacts": 0,
            "total_rounds": turn.round,
            "outcome": None,
            "error": None,
            "events": 1,
            "shown": 1,
            "turns": 1,
            "tokens_in": turn.tokens_in,
            "tokens_out": turn.tokens_out,
            "cost_usd": turn.cost_usd,
            "lost_tokens_in": 0,
            "lost_tokens_out": 0,
            "lost_cost_usd": 0.0,
            "release": False,
        }
        event = (debate_id, turn.seq, "TURN", turn.key, "{}", turn.created_at)
        rows.append(Rows(session=session, turn=turn_row(turn, debate_id), event=event))
    return rows


def _prepare(path: Path, played: Played, ids: Sequence[str]) -> None:
    connection = _connect(path)
    migrate(connection)
    empty = {"now": 0.0, "turn_count": 0, "tokens_in": 0, "tokens_out": 0, "cost_usd": 0.0, "last_seq": 0}
    connection.execute("begin immediate")
    for debate_id in ids:
        connection.execute(
            sql("insert_session"),
            {**session_values(replace(played.debate, status="running")), **empty, "id": debate_id},
        )
    connection.execute("commit")
    connection.close()


def _check(path: Path, steps: int) -> None:
    connection = _connect(path)
    turns = connection.execute("select count(*) from debate_turns").fetchone()[0]
    moved = connection.execute("select sum(turn_count) from debate_sessions").fetchone()[0]
    connection.close()
    if (turns, moved) != (steps, steps):
        raise RuntimeError(f"raw SQLite stored {turns} turns and moved sessions {moved} times, not {steps}")


def _plain(name: str) -> str:
    """The statement without its `returning`, which executemany does not accept."""
    return sql(name).partition("returning")[0]


def _connect(path: Path) -> sqlite3.Connection:
    """Open with the same pragmas as the store."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("pragma foreign_keys = on")
    return connection
