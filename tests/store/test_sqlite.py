from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from moot.errors import NotWritable, StoreError, WrongSchema
from moot.store.rows import new_id
from moot.store.sqlite import SqliteStore, migrations
from tests.store.contract import StoreContract
from tests.store.samples import debate, turn


class TestSqlite(StoreContract):
    @pytest.fixture
    def run(self, tmp_path, clock):
        def run(check):
            async def main():
                store = SqliteStore(tmp_path / "moot.db", clock=clock)
                try:
                    await check(store)
                finally:
                    await store.close()

            asyncio.run(main())

        return run


def open_and_close(path):
    async def main():
        await SqliteStore(path).close()

    asyncio.run(main())


def test_every_table_and_column_the_documents_name(tmp_path):
    open_and_close(tmp_path / "m.db")
    named = {
        "debate_sessions": "id debate_id topic status topology_type coordination_protocol config initiated_by "
        "created_at updated_at completed_at total_rounds final_consensus_score outcome next_round next_actor "
        "user_rating auto_score",
        "debate_turns": "id session_id round phase agent_id agent_role provider model content confidence tool_calls "
        "test_results reflections metadata created_at response_time_ms duration_ms",
        "debate_events": "session_id seq type data created_at",
        "debate_gates": "session_id phase summary artifacts requested_at decision reviewer reason decided_at",
        "code_versions": "id session_id turn_id language code version_number quality_score test_pass_rate metrics "
        "diff_from_previous created_at",
        "episodes": "id session_id turn_id agent_id task_description attempt_number code test_results failure_analysis "
        "reflection improvement confidence",
        "lessons": "id insight",
        "templates": "id name content",
    }
    with closing(sqlite3.connect(tmp_path / "m.db")) as connection:
        for table, columns in named.items():
            found = {row[1] for row in connection.execute(f"pragma table_info({table})")}
            assert set(columns.split()) <= found, table


def test_opening_twice_migrates_once(tmp_path):
    path = tmp_path / "m.db"
    open_and_close(path)
    open_and_close(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma user_version").fetchone()[0] == len(migrations())


def test_a_newer_schema_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "m.db"
    open_and_close(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(WrongSchema, match="schema 99.*Upgrade moot"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma user_version").fetchone()[0] == 99


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    broken = [*migrations(), "create table half (x);\ninsert into nowhere values (1);\n"]
    monkeypatch.setattr("moot.store.sqlite.migrations", lambda: broken)
    with pytest.raises(StoreError, match="nowhere"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select count(*) from sqlite_master").fetchone()[0] == 0
        assert connection.execute("pragma user_version").fetchone()[0] == 0


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("just some notes, " * 100)
    with pytest.raises(StoreError, match="not a moot database"):
        SqliteStore(path)
    assert path.read_text().startswith("just some notes")


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWritable, match="--db"):
        SqliteStore(tmp_path / "file" / "moot.db")
    with pytest.raises(NotWritable, match="--db"):
        SqliteStore(tmp_path)


def test_a_database_locked_by_another_process_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("moot.store.sqlite.BUSY_SECONDS", 0.05)
    path = tmp_path / "m.db"

    async def main():
        store = SqliteStore(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("begin immediate")
            with pytest.raises(NotWritable, match="Another process holds"):
                await store.create(debate(1))
            other.execute("rollback")
        made = await store.create(debate(1))
        assert made.topic == debate(1).topic
        await store.close()

    asyncio.run(main())


def test_a_cursor_that_cannot_be_read_is_no_cursor(tmp_path):
    path = tmp_path / "m.db"

    async def main():
        store = SqliteStore(path)
        await store.create(debate(1))
        for garbage in ("not json", "{}", "7"):
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("update debate_sessions set open_keys = ?", [garbage])
            assert (await store.get(debate(1).id)).cursor.open == ()
        await store.close()

    asyncio.run(main())


def test_what_is_committed_survives_the_death_of_the_process(tmp_path):
    path = tmp_path / "m.db"
    program = """
import asyncio, os, signal, sys
from pathlib import Path
from moot.store import Commit
from moot.store.sqlite import SqliteStore
from tests.store.samples import debate, turn
async def main():
    store = SqliteStore(Path(sys.argv[1]))
    made = await store.create(debate(1))
    await store.claim(made.id, "me", 10, expect=["pending"])
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


def test_ids_sort_by_the_time_they_were_made():
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
        ({"contains": "p"}, "debate_sessions_newest"),
    ],
)
def test_pages_walk_an_index_and_sort_nothing(tmp_path, filters, index):
    """Also further down: where a page begins is looked up, not counted off."""

    async def main() -> list[str]:
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
        try:
            for after in (None, "5.0/x"):
                await store.page(**filters, after=after)
        finally:
            await store.close()
        with closing(sqlite3.connect(tmp_path / "moot.db")) as connection:
            connection.create_function("lowered", 1, str.lower, deterministic=True)
            return [connection.execute(f"explain query plan {each}").fetchall()[0][3] for each in asked]

    first, later = asyncio.run(main())
    assert f"USING INDEX {index}" in first
    assert f"USING INDEX {index}" in later
    assert "created_at" in later
