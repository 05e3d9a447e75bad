"""Migrations of SQLite files; and that the schema holds nothing that is not used."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from moot.core.artifacts import Lesson
from moot.core.ceilings import Reserved
from moot.core.errors import NotWritable, StoreError, WrongSchema
from moot.core.settings import Ceilings
from moot.core.types import Cursor, Failure, Gate, Shown, TurnedOut, Usage
from moot.store import AccessToken, Commit, Grade, IdempotencyKey, Labels, Viewer
from moot.store.migrations import fingerprint
from moot.store.rows import page_query
from moot.store.sqlite import SqliteStore, database_status, sql
from moot.store.sqlite.connection import connect
from moot.store.sqlite.schema import migrate, migrations
from tests.store.contract_evaluations import PLAN
from tests.store.samples import OUTCOME, debate, entry, produced, turn


def open_and_close(path: Path) -> None:
    async def main() -> None:
        await SqliteStore(path).close()

    asyncio.run(main())


class TestMigrations:
    def test_opening_twice_migrates_once(self, tmp_path):
        path = tmp_path / "m.db"
        open_and_close(path)
        open_and_close(path)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("pragma user_version").fetchone()[0] == len(migrations())

    def test_an_older_schema_is_migrated_and_keeps_its_rows(self, tmp_path, monkeypatch):
        path = tmp_path / "m.db"

        async def created() -> None:
            store = SqliteStore(path)
            await store.create(debate(1))
            await store.close()

        asyncio.run(created())
        newer = [*migrations(), "alter table debate_sessions add column brand_new text default 'x';\n"]
        monkeypatch.setattr("moot.store.sqlite.schema.migrations", lambda: newer)
        open_and_close(path)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("select id, brand_new from debate_sessions").fetchall() == [(debate(1).id, "x")]
            assert connection.execute("pragma user_version").fetchone()[0] == len(newer)

    def test_a_newer_schema_is_refused_and_left_alone(self, tmp_path):
        path = tmp_path / "m.db"
        open_and_close(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("pragma user_version = 99")
        with pytest.raises(WrongSchema, match="schema 99.*Upgrade moot"):
            SqliteStore(path)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("pragma user_version").fetchone()[0] == 99

    def test_a_schema_of_another_build_is_refused_and_left_alone(self, tmp_path, monkeypatch):
        path = tmp_path / "m.db"
        other = [migrations()[0].replace("user_rating", "stars"), *migrations()[1:]]
        with monkeypatch.context() as patch:
            patch.setattr("moot.store.sqlite.schema.migrations", lambda: other)
            open_and_close(path)
        before = path.read_bytes()
        with pytest.raises(WrongSchema, match=f"{path} was made by another build of moot.*Open it with that build"):
            SqliteStore(path)
        with pytest.raises(WrongSchema, match="another build"):
            database_status(path)
        assert path.read_bytes() == before

    def test_comments_and_spaces_make_no_other_schema(self):
        (first, *rest) = migrations()
        assert fingerprint([f"-- new words\n{first}  \n", *rest]) == fingerprint(migrations())
        assert fingerprint([first.replace("topic", "subject"), *rest]) != fingerprint(migrations())

    def test_a_migration_that_fails_leaves_nothing_behind(self, tmp_path, monkeypatch):
        path = tmp_path / "m.db"
        broken = [*migrations(), "create table half (x);\ninsert into nowhere values (1);\n"]
        monkeypatch.setattr("moot.store.sqlite.schema.migrations", lambda: broken)
        with pytest.raises(StoreError, match="nowhere"):
            SqliteStore(path)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("select count(*) from sqlite_master").fetchone()[0] == 0
            assert connection.execute("pragma user_version").fetchone()[0] == 0

    def test_the_database_of_another_program_is_refused_and_left_alone(self, tmp_path):
        path = tmp_path / "notes.db"
        with closing(sqlite3.connect(path)) as other:
            other.execute("create table notes (text)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match="belongs to another program"):
            SqliteStore(path)
        assert path.read_bytes() == before
        assert [each.name for each in tmp_path.iterdir()] == ["notes.db"]

    def test_a_file_that_is_no_database(self, tmp_path):
        path = tmp_path / "notes.txt"
        path.write_text("just some notes, " * 100)
        with pytest.raises(StoreError, match="not a moot database"):
            SqliteStore(path)
        assert path.read_text().startswith("just some notes")

    def test_a_place_where_nothing_can_be_written(self, tmp_path):
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "file" / "moot.db", tmp_path):
            with pytest.raises(NotWritable, match="hoose another.$") as refused:
                SqliteStore(path)
            assert refused.value.remedy == "database"


async def use_everything(store: SqliteStore) -> None:
    """Every kind of write, with a value for every field."""
    first, second = debate(1).id, debate(2).id
    failure = Failure(kind="timeout", message="too slow")
    usage = Usage(tokens_in=3, tokens_out=5, cost_usd=0.5)
    gate = Gate(
        debate_id=first, key="k", kind="checkpoint", question="?", choices=("a",), artifacts={"x": 1}, expires_at=2.0
    )
    await store.create(debate(1, total_rounds=1, guided=1, token_id="1"), turns=[turn("0/speak/a", failure=failure)])
    await store.create(debate(2, parent_id=first, forked_at="1/speak/a", follows=first, private=True))
    for debate_id in (first, second):
        await store.claim(debate_id, "me", 10, expect=["pending"])
    for epoch in (0, 1):  # the first as if it had died
        await store.reserve(first, "1", epoch, Reserved(cost_usd=1, tokens=5), Ceilings(day_usd=100))
    cursor = Cursor(open=("2/speak/b",), next_round=2, next_actor="b")
    events = [Shown(type="TURN", key="1/speak/a", data={"x": 1})]
    version, *others = produced(await store.get(first))
    made = [replace(version, quality_score=0.5), *others]
    await store.commit(
        Commit(
            debate_id=first,
            epoch=1,
            turns=[turn()],
            cursor=cursor,
            events=events,
            shown=1,
            gates=[gate],
            artifacts=made,
        )
    )
    await store.quarantine_lesson(next(each.id for each in made if isinstance(each, Lesson)), "ann")
    await store.decide(first, "k", {"choice": "a"}, by="ann")
    held = Reserved(cost_usd=1, tokens=5)
    await store.commit(Commit(debate_id=first, epoch=1, status="completed", outcome=OUTCOME, lost=usage, reserved=held))
    await store.commit(Commit(debate_id=second, epoch=1, status="failed", error=failure))
    await store.rate(first, 4)
    await store.add_token(AccessToken(id="share", name="ann", hash="share", scopes=(), debate_id=first))
    await store.label(first, Labels(title="Mine", pinned=True, archived=True, tags=("a",)))
    await store.turned_out(first, TurnedOut(right=1))
    await store.quarantine(first, "ann")
    await store.remember([entry(1, embedder="e", embedding=b"1234")])
    await store.keep_embeddings("e", {"hash": b"1234"})
    token = AccessToken(id="1", name="ci", hash="h", scopes=("read",))
    await store.add_token(token)
    await store.add_token(AccessToken(id="2", name="ci", hash="s", scopes=("read",), parent="1", expires_at=9e9))
    await store.touch_token(token)
    await store.rotate_token("1", "new", grace_seconds=1, expires_at=None)
    await store.reserve_key(IdempotencyKey(key="k", hash="h", debate_id=first), 60)
    await store.answer_key("k", "{}")
    await store.add_evaluation(PLAN)
    await store.stop_evaluation(PLAN.id)
    await store.add_grades(PLAN.id, [Grade(item="1", answer="a", passed=True, examples=1)])
    await store.create(debate(6, evaluation=PLAN.id))
    await store.create(debate(3))
    await store.delete(debate(3).id, by="ann")
    await store.create(debate(4))
    await store.claim(debate(4).id, "one that dies", 10, expect=["pending"])
    await store.claim(debate(4).id, "me", 10, expect=["running"], dead="one that dies", alone=True)
    copy = await store.copy(first)
    await store.adopt(replace(copy, session={**copy.session, "id": debate(5).id}, artifacts={}))
    await store.scrub()


def test_every_column_is_written(tmp_path):
    """A column that always holds its default is not needed."""
    path = tmp_path / "m.db"

    async def main() -> None:
        store = SqliteStore(path)
        await use_everything(store)
        await store.close()

    asyncio.run(main())
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            if table.startswith("memory_"):  # of FTS5
                continue
            for _, column, _, _, default, _ in connection.execute(f"pragma table_info({table})").fetchall():
                written = f'select count(*) from {table} where "{column}" is not {default or "null"}'
                assert connection.execute(written).fetchone()[0], f"{table}.{column}"


def statements() -> Iterator[str]:
    for file in (files("moot.store.sqlite") / "sql").iterdir():
        yield sql(file.name.removesuffix(".sql"))
    for name, value in {
        "status": "x",
        "format": "x",
        "parent": "x",
        "follows": "x",
        "token": "x",
        "pinned": True,
        "evaluation": "x",
    }.items():
        filters, _ = page_query("true", "true", {"limit": 1, name: value})
        yield sql("page").replace("/* filters */", filters)
    filters, _ = page_query("true", "true", {"limit": 1, "viewer": Viewer(token="x", shared=False), "private": True})
    yield sql("page").replace("/* filters */", filters)


def test_every_index_is_used(tmp_path):
    with closing(connect(tmp_path / "m.db")) as connection:
        migrate(connection)
        used: set[str] = set()
        for text in statements():
            values = dict.fromkeys(re.findall(r":(\w+)", text)) or [None] * text.count("?")
            for row in connection.execute(f"explain query plan {text}", values):
                used |= set(re.findall(r"INDEX (\w+)", row[3]))
        named = "select name from sqlite_master where type = 'index' and sql is not null"
        unused = {row[0] for row in connection.execute(named)} - used
    assert unused == set()
