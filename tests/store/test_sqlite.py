"""The contract on SQLite, and what is particular to a file."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from moot.store.rows import new_id
from moot.store.sqlite import SqliteStore
from tests.store.contract import StoreContract
from tests.store.samples import debate, turn


class TestSqlite(StoreContract):
    @pytest.fixture
    def store(self, on_sqlite):
        return on_sqlite


def test_commits_survive_a_killed_process(tmp_path):
    path = tmp_path / "m.db"
    program = """
import asyncio, os, signal, sys
from pathlib import Path
from moot.store import Commit
from moot.store.sqlite import SqliteStore
from tests.store.samples import claimed, turn
async def main():
    made = await claimed(store := SqliteStore(Path(sys.argv[1])))
    await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()]))
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    died = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert died.returncode == -9

    async def main():
        store = SqliteStore(path)
        assert await store.turns(debate(1).id) == [turn()]
        await store.close()

    asyncio.run(main())


def test_ids_sort_by_creation_time():
    ids = [new_id(1_700_000_000 + n) for n in range(100)]
    assert ids == sorted(ids)
    assert len({new_id(5) for _ in range(1000)}) == 1000
    assert ids[0][14] == "7"


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, "debate_sessions_newest"),
        ({"status": "failed"}, "debate_sessions_by_status"),
        ({"format": "duel"}, "debate_sessions_by_format"),
        ({"parent": "p"}, "debate_sessions_by_parent"),
        ({"follows": "p"}, "debate_sessions_by_follows"),
        ({"contains": "p"}, "debate_sessions_newest"),
    ],
)
async def test_pages_walk_an_index_and_sort_nothing(tmp_path, filters, index):
    """Later pages, too: keyset paging looks up where a page begins."""
    store = SqliteStore(tmp_path / "moot.db")
    asked: list[str] = []

    async def plan(query):
        def read(connection: sqlite3.Connection):
            connection.set_trace_callback(asked.append)
            try:
                return query(connection)
            finally:
                connection.set_trace_callback(None)

        return await reading(read)

    reading, store._read = store._read, plan
    for after in (None, "5.0/x"):
        await store.page(**filters, after=after)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "moot.db")) as connection:
        connection.create_function("lowered", 1, str.lower, deterministic=True)
        first, later = [connection.execute(f"explain query plan {each}").fetchall()[0][3] for each in asked]
    assert f"USING INDEX {index}" in first
    assert f"USING INDEX {index}" in later
    assert "created_at" in later
