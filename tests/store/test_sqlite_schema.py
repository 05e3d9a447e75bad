"""Migrations of SQLite files; and that every index is used."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from moot.core.errors import NotWritable, StoreError, WrongSchema
from moot.store import Viewer
from moot.store.migrations import fingerprint
from moot.store.rows import page_query
from moot.store.sqlite import SqliteStore, database_status, sql
from moot.store.sqlite.connection import connect
from moot.store.sqlite.schema import migrate, migrations
from tests.store.samples import debate


async def open_and_close(path: Path) -> None:
    await SqliteStore(path).close()


class TestMigrations:
    async def test_an_older_schema_is_migrated_and_keeps_its_rows(self, on_sqlite, monkeypatch):
        await on_sqlite.create(debate(1))
        newer = [*migrations(), "alter table debate_sessions add column brand_new text default 'x';\n"]
        monkeypatch.setattr("moot.store.sqlite.schema.migrations", lambda: newer)
        await open_and_close(on_sqlite.path)
        with closing(sqlite3.connect(on_sqlite.path)) as connection:
            assert connection.execute("select id, brand_new from debate_sessions").fetchall() == [(debate(1).id, "x")]
            assert connection.execute("pragma user_version").fetchone()[0] == len(newer)

    async def test_a_newer_schema_is_refused_and_left_alone(self, tmp_path):
        path = tmp_path / "m.db"
        await open_and_close(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("pragma user_version = 99")
        with pytest.raises(WrongSchema, match="schema 99.*Upgrade moot"):
            SqliteStore(path)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("pragma user_version").fetchone()[0] == 99

    async def test_a_schema_of_another_build_is_refused_and_left_alone(self, tmp_path, monkeypatch):
        path = tmp_path / "m.db"
        other = [migrations()[0].replace("user_rating", "stars"), *migrations()[1:]]
        with monkeypatch.context() as patch:
            patch.setattr("moot.store.sqlite.schema.migrations", lambda: other)
            await open_and_close(path)
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


def statements() -> Iterator[str]:
    for file in (files("moot.store.sqlite") / "sql").iterdir():
        yield sql(file.name.removesuffix(".sql"))
    asked: list[dict[str, object]] = [
        {name: "x"} for name in ("status", "format", "parent", "follows", "token", "evaluation")
    ]
    asked += [{"pinned": True}, {"viewer": Viewer(token="x", shared=False), "private": True}]
    for query in asked:
        filters, _ = page_query("true", "true", {"limit": 1, **query})
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
