"""Migrations on PostgreSQL."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from moot.core.errors import StoreError, WrongSchema
from moot.store.postgres import PostgresStore, database_status, schema
from tests.postgres import Databases, execute, other
from tests.store.samples import debate
from tests.store.using import opened, rows, using


class TestSchema:
    async def test_tables_columns_and_indexes_are_those_of_sqlite(self, on_postgres, on_sqlite):
        with closing(sqlite3.connect(on_sqlite.path)) as connection:
            query = "select name from sqlite_master where type = ? and name not like 'sqlite_%'"
            tables = [table for (table,) in connection.execute(query, ["table"])]
            indexes = {index for (index,) in connection.execute(query, ["index"])}
            theirs = {table: {row[1] for row in connection.execute(f"pragma table_info({table})")} for table in tables}
        ours: dict[str, set[str]] = {}
        query = "select table_name, column_name from information_schema.columns where table_schema = 'public'"
        for table, column in await rows(on_postgres, query):
            ours.setdefault(table, set()).add(column)
        # each backend indexes words in its own way, only PostgreSQL needs marks for lost connections, and only SQLite
        # overwrites in its file what was deleted
        shared = {table for table in theirs if not table.startswith("memory_")}
        assert shared <= set(ours)
        own = {"debate_sessions": {"last_write", "last_write_seq"}}
        of_sqlite = {"deleted_debates": {"scrubbed"}}
        for table in shared:
            assert ours[table] - own.get(table, set()) == theirs[table] - of_sqlite.get(table, set()), table
        query = "select indexname from pg_indexes where schemaname = 'public'"
        assert indexes - {"deleted_debates_to_scrub"} <= {row[0] for row in await rows(on_postgres, query)}

    def test_concurrent_opens_migrate_an_empty_database_once(self, databases: Databases):
        url = databases.make(empty=True)

        async def main() -> None:
            stores = [PostgresStore(url) for _ in range(10)]
            await asyncio.gather(*(store.open() for store in stores))
            for store in stores:
                await store.close()

        asyncio.run(main())
        versions = [row[0] for row in execute(url, "select version from moot_schema order by version")]
        assert versions == list(range(1, len(schema.migrations()) + 1))

    def test_a_newer_schema_is_refused_and_left_alone(self, database_url):
        execute(database_url, "insert into moot_schema values (99, 0)")
        with pytest.raises(WrongSchema, match=r"schema 99, this moot knows \d+\. Upgrade moot"):
            opened(database_url)
        (row,) = execute(database_url, "select max(version) from moot_schema")
        assert row[0] == 99

    @pytest.mark.parametrize(
        "change", ["update moot_schema set fingerprint = 7", "alter table moot_schema drop column fingerprint"]
    )
    def test_a_schema_of_another_build_is_refused_and_left_alone(self, database_url, change):
        execute(database_url, change)
        before = execute(database_url, "select * from moot_schema")
        with pytest.raises(WrongSchema, match=r"was made by another build of moot.*Open it with that build"):
            opened(database_url)
        with pytest.raises(WrongSchema, match="another build"):
            asyncio.run(database_status(database_url))
        assert execute(database_url, "select * from moot_schema") == before

    def test_an_older_schema_is_migrated_and_keeps_its_rows(self, database_url, monkeypatch):
        using(database_url, lambda store: store.create(debate(1)))
        newer = [*schema.migrations(), "alter table debate_sessions add column brand_new text default 'x'"]
        monkeypatch.setattr(schema, "migrations", lambda: newer)
        before = asyncio.run(database_status(database_url)).version
        made = using(database_url, lambda store: store.get(debate(1).id))
        assert made.topic == debate(1).topic
        (row,) = execute(database_url, "select brand_new, (select max(version) from moot_schema) from debate_sessions")
        assert tuple(row) == ("x", before + 1)

    def test_a_migration_that_fails_leaves_nothing_behind(self, databases: Databases, monkeypatch):
        url = databases.make(empty=True)
        broken = [*schema.migrations(), "create table half (x integer); insert into nowhere values (1)"]
        monkeypatch.setattr(schema, "migrations", lambda: broken)
        with pytest.raises(StoreError, match="nowhere"):
            opened(url)
        (row,) = execute(url, "select count(*) from information_schema.tables where table_schema = 'public'")
        assert row[0] == 0

    def test_another_program_s_tables_are_left_alone(self, databases: Databases):
        url = databases.make(empty=True)
        execute(url, "create table debate_sessions (x integer)")
        with pytest.raises(StoreError, match="another program"):
            opened(url)
        with pytest.raises(StoreError, match="another program"):
            asyncio.run(database_status(url))
        (row,) = execute(url, "select count(*) from information_schema.tables where table_schema = 'public'")
        assert row[0] == 1

    def test_tables_can_live_in_another_schema(self, databases: Databases):
        url = databases.make(empty=True)
        execute(url, "create schema elsewhere")
        there = f"{url}{'&' if '?' in url else '?'}search_path=elsewhere"
        made = using(there, lambda store: store.create(debate(1)))
        (row,) = execute(url, "select id from elsewhere.debate_sessions")
        assert row["id"] == made.id

    def test_a_database_that_is_not_utf8_is_refused(self, databases: Databases):
        url = databases.make(empty=True)
        execute(databases.url, "drop database if exists moot_test_latin")
        how = "encoding 'LATIN1' locale 'C' template template0"
        try:
            execute(databases.url, f"create database moot_test_latin {how}")
        except Exception:  # the cluster's default locale provider is not libc
            execute(databases.url, f"create database moot_test_latin locale_provider libc {how}")
        try:
            with pytest.raises(StoreError, match="LATIN1.*--encoding UTF8"):
                opened(other(url, "moot_test_latin"))
        finally:
            execute(databases.url, "drop database moot_test_latin with (force)")
