from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import pytest

from moot.errors import InputError, NoSuchDebate, NotWritable, StoreError, WrongSchema
from moot.store import Commit, Memorized
from moot.store.postgres import PostgresStore, _page, condition, schema
from moot.store.postgres.address import read_address
from moot.store.postgres.link import connect, sql
from moot.store.sqlite import SqliteStore
from moot.types import Cursor, Shown
from tests.postgres import PASSWORD, Cluster, Databases, execute, other
from tests.store.contract import StoreContract
from tests.store.samples import debate, turn


def using(url: str, check: Callable[[PostgresStore], Awaitable[Any]], **how: Any) -> Any:
    async def main() -> Any:
        store = PostgresStore(url, **how)
        try:
            return await check(store)
        finally:
            await store.close()

    return asyncio.run(main())


def opened(url: str) -> None:
    using(url, PostgresStore.open)


class TestPostgres(StoreContract):
    @pytest.fixture
    def run(self, database_url, clock):
        return lambda check: using(database_url, check, clock=clock)


class TestWriting:
    def test_the_bytes_of_json_are_those_that_sqlite_keeps(self, database_url, tmp_path):
        given = debate(1, config={"z": 1, "a": {"y": [0.1, 1e300, None], "b": '— 你好 \\ " \x01'}})
        said = turn(data={"b": 1, "a": {"d": 2.50, "c": "\x00 é"}}, metadata={"z": 1, "a": []})

        async def write(store: Any) -> None:
            await store.create(given, events=[Shown(type="status", data={"z": 1, "a": 2})])
            await store.claim(given.id, "me", 10, expect=["pending"])
            await store.commit(
                Commit(
                    debate_id=given.id,
                    epoch=1,
                    turns=[said],
                    cursor=Cursor(open=("b", "a")),
                    status="completed",
                    outcome={"z": 1},
                )
            )

        async def both() -> None:
            for store in (PostgresStore(database_url), SqliteStore(tmp_path / "m.db")):
                await write(store)
                assert (await store.turns(given.id)) == [said]
                await store.close()

        asyncio.run(both())
        columns = 's.config, s."cast", s.metadata, s.open_keys, s.outcome, t.data, t.metadata, t.tool_calls, e.data'
        query = f"select {columns} from debate_sessions s, debate_turns t, debate_events e"
        with closing(sqlite3.connect(tmp_path / "m.db")) as connection:
            (theirs,) = connection.execute(query).fetchall()
        (ours,) = execute(database_url, query)
        assert tuple(ours) == theirs

    def test_a_character_that_postgres_cannot_keep_costs_no_turn(self, database_url):
        async def check(store: PostgresStore) -> None:
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn(raw="a\0b", data={"x": "a\0b"})]))
            (kept,) = await store.turns(made.id)
            assert (kept.raw, kept.data) == ("a\ufffdb", {"x": "a\0b"})

        using(database_url, check)

    def test_input_that_no_row_can_match_finds_nothing(self, database_url):
        async def check(store: PostgresStore) -> None:
            await store.create(debate(1))
            for odd in ("\0", "a\0b", "\ud83d", "你好", "x" * 100_000):
                assert await store.find(odd) == []
                with pytest.raises(NoSuchDebate):
                    await store.get(odd)
                assert await store.move(odd, "canceled", expect=["pending"]) is None
            for large in (2**31, 2**63 - 1):
                assert await store.events(debate(1).id, after=large) == []
                assert await store.turns(debate(1).id, after=large) == []
                assert len((await store.page(limit=large - 1)).debates) == 1

        using(database_url, check)

    def test_commits_that_wait_together_share_a_transaction(self, database_url):
        async def check(store: PostgresStore) -> None:
            for n in range(50):
                await store.create(debate(n))
                await store.claim(debate(n).id, "me", 10, expect=["pending"])
            done = await asyncio.gather(
                *(
                    store.commit(Commit(debate_id=debate(n).id, epoch=1, turns=[turn()], events=[Shown(type="TURN")]))
                    for n in range(50)
                )
            )
            assert all(each is not None for each in done)

        using(database_url, check)
        counts = "count(*) as turns, count(distinct xmin::text) as transactions"
        (row,) = execute(database_url, f"select {counts} from debate_turns")
        assert row["turns"] == 50
        assert row["transactions"] < 10

    def test_a_commit_looks_debates_up_by_their_id_however_few_there_were(self, database_url):
        """Its plan is made once, on a database that may be empty, and kept when there are many debates."""

        async def main() -> str:
            link = await connect(read_address(database_url))
            await link.execute(f"prepare it (json, json, json, json) as {sql('commit').text}")
            await link.execute("set plan_cache_mode = force_generic_plan")
            plan = await link.fetch("explain execute it ('[]', '[]', '[]', '[]')")
            await link.close()
            return "\n".join(row[0] for row in plan)

        plan = asyncio.run(main())
        scans = [line.strip() for line in plan.splitlines() if "Scan" in line and "debate_sessions" in line]
        assert len(scans) == 1, plan
        assert "Index Scan using debate_sessions_pkey" in scans[0], plan

    @pytest.mark.parametrize(
        ("filters", "index"),
        [
            ("", "debate_sessions_newest"),
            ("status = 'failed'", "debate_sessions_by_status"),
            ("format = 'duel'", "debate_sessions_by_format"),
            ("parent_id = 'p'", "debate_sessions_by_parent"),
            ("position(lower('p') in lower(topic)) > 0", "debate_sessions_newest"),
        ],
    )
    def test_pages_walk_an_index_and_sort_nothing(self, database_url, filters, index):
        execute(
            database_url,
            """
            insert into debate_sessions (id, topic, format, format_version, status, parent_id, created_at, updated_at)
            select n::text, 'Tea?', case when n % 20 = 0 then 'duel' else 'classic' end, 1,
              case when n % 20 = 0 then 'failed' else 'completed' end, case when n % 20 = 0 then 'p' end, n / 1000, n
            from generate_series(1, 5000) as n
            """,
            "analyze debate_sessions",
        )

        async def main() -> str:
            link = await connect(read_address(database_url))
            parts = [f" and {each}" for each in (filters, "(created_at, id) < (5.0, 'x')") if each]
            plan = await link.fetch("explain " + _page("".join(parts)).text.replace("$1::bigint", "20"))
            await link.close()
            return "\n".join(row[0] for row in plan)

        plan = asyncio.run(main())
        assert f"Index Scan using {index} " in plan
        assert "Sort" not in plan

    def test_two_commits_of_one_debate_at_once_are_both_made(self, database_url):
        async def check(store: PostgresStore) -> None:
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            keys = [f"{n}/speak/a" for n in range(10)]
            commits = [
                Commit(debate_id=made.id, epoch=1, turns=[turn(key, n)], events=[Shown(type="TURN", key=key)])
                for n, key in enumerate(keys, 1)
            ]
            await asyncio.gather(*map(store.commit, commits))
            assert [each.key for each in await store.turns(made.id)] == keys
            assert [each.seq for each in await store.events(made.id)] == list(range(1, 11))

        using(database_url, check)

    def test_a_commit_that_waits_for_a_take_over_writes_nothing(self, database_url):
        """The take-over holds the row while the commit has already begun: it must look again when it gets it."""

        async def check(store: PostgresStore) -> None:
            import asyncpg

            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            thief = await asyncpg.connect(database_url)
            taking = thief.transaction()
            await taking.start()
            await thief.execute("update debate_sessions set epoch = epoch + 1, owner = 'thief'")
            late = asyncio.create_task(
                store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()], events=[Shown(type="TURN")]))
            )
            blocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
            while not await thief.fetch(blocked):
                assert not late.done()
                await thief.execute("select pg_stat_clear_snapshot()")
            await taking.commit()
            await thief.close()
            assert await late is None
            assert await store.turns(made.id) == []
            assert await store.events(made.id) == []
            assert (await store.get(made.id)).owner == "thief"

        using(database_url, check)

    def test_order_does_not_depend_on_the_database_s_collation(self, database_url):
        async def check(store: PostgresStore) -> None:
            for name in ("B", "a", "Z", "b"):
                await store.create(debate(1, id=f"{name}-x"))
            assert [each.id[0] for each in (await store.page(limit=9)).debates][-1] in "Bb"
            assert await store.find("B") == ["B-x"]
            assert await store.find("b") == ["b-x"]

        using(database_url, check, clock=lambda: 5.0)

    def test_words_of_any_kind_are_searched(self, database_url):
        odd = ["o'clock", "back\\slash", "a | b", "&", "你好", "x" * 3000, "nul\0"]

        async def check(store: PostgresStore) -> None:
            for n in (1, 2):
                await store.create(debate(n))
                await store.claim(debate(n).id, "me", 10, expect=["pending"])
                await store.commit(Commit(debate_id=debate(n).id, epoch=1, status="completed", outcome={}))
            one = Memorized(debate_id=debate(1).id, words=odd, decided=True, demonstration=False)
            two = Memorized(debate_id=debate(2).id, words=["plain", "&"], decided=True, demonstration=False)
            await store.remember([one, two])
            for word in odd:
                hits = await store.search([word], 5)
                assert debate(1).id in hits.ids, word
                assert hits.total == 2
            assert (await store.search(["&", "plain"], 5)).ids == [debate(2).id, debate(1).id]
            assert (await store.search([], 5)).ids == ()

        using(database_url, check)


def columns_of(rows: list[Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for table, column in rows:
        found.setdefault(table, set()).add(column)
    return found


class TestSchema:
    def test_tables_and_columns_are_those_of_sqlite(self, database_url, tmp_path):
        async def make() -> None:
            await SqliteStore(tmp_path / "m.db").close()

        asyncio.run(make())
        with closing(sqlite3.connect(tmp_path / "m.db")) as connection:
            tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
            theirs = columns_of(
                [(table, row[1]) for (table,) in tables for row in connection.execute(f"pragma table_info({table})")]
            )
        ours = columns_of(
            execute(
                database_url,
                "select table_name, column_name from information_schema.columns where table_schema = 'public'",
            )
        )
        # each finds words in its own way, and only PostgreSQL loses connections
        shared = {table for table in theirs if not table.startswith(("memory_", "sqlite_"))}
        assert shared <= set(ours)
        own = {"debate_sessions": {"last_write", "last_write_seq"}, "memories": {"words"}}
        for table in shared:
            assert ours[table] - own.get(table, set()) == theirs[table], table

    def test_every_index_of_sqlite_is_there(self, database_url, tmp_path):
        async def make() -> None:
            await SqliteStore(tmp_path / "m.db").close()

        asyncio.run(make())
        with closing(sqlite3.connect(tmp_path / "m.db")) as connection:
            query = "select name from sqlite_master where type = 'index' and name not like 'sqlite_%'"
            theirs = {name for (name,) in connection.execute(query)}
        ours = {row[0] for row in execute(database_url, "select indexname from pg_indexes where schemaname = 'public'")}
        assert theirs <= ours

    def test_many_who_open_an_empty_database_at_once_migrate_it_once(self, databases: Databases):
        url = databases.make(empty=True)

        async def main() -> None:
            stores = [PostgresStore(url) for _ in range(10)]
            await asyncio.gather(*(store.open() for store in stores))
            for store in stores:
                await store.close()

        asyncio.run(main())
        versions = [row[0] for row in execute(url, "select version from moot_schema order by version")]
        assert versions == list(range(1, len(schema.migrations()) + 1))

    @pytest.mark.slow
    def test_many_processes_that_start_at_once_migrate_it_once(self, databases: Databases):
        url = databases.make(empty=True)
        program = """
import asyncio, sys
from moot.store.postgres import PostgresStore
from tests.store.samples import debate
async def main():
    store = PostgresStore(sys.argv[1])
    await store.create(debate(int(sys.argv[2])))
    await store.close()
asyncio.run(main())
"""
        processes = [subprocess.Popen([sys.executable, "-c", program, url, str(n)]) for n in range(6)]
        assert [process.wait(60) for process in processes] == [0] * 6
        (row,) = execute(url, "select count(*) from debate_sessions")
        assert row[0] == 6

    def test_a_newer_schema_is_refused_and_left_alone(self, database_url):
        execute(database_url, "insert into moot_schema values (99)")
        with pytest.raises(WrongSchema, match=r"schema 99, this moot knows \d+\. Upgrade moot"):
            opened(database_url)
        (row,) = execute(database_url, "select max(version) from moot_schema")
        assert row[0] == 99

    def test_an_older_schema_is_brought_up_to_date_and_keeps_what_it_holds(self, database_url, monkeypatch):
        using(database_url, lambda store: store.create(debate(1)))
        newer = [*schema.migrations(), "alter table debate_sessions add column brand_new text default 'x'"]
        monkeypatch.setattr(schema, "migrations", lambda: newer)
        before = asyncio.run(condition(database_url)).version
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

    def test_tables_of_another_program_are_left_alone(self, databases: Databases):
        url = databases.make(empty=True)
        execute(url, "create table debate_sessions (x integer)")
        with pytest.raises(StoreError, match="another program"):
            opened(url)
        with pytest.raises(StoreError, match="another program"):
            asyncio.run(condition(url))
        (row,) = execute(url, "select count(*) from information_schema.tables where table_schema = 'public'")
        assert row[0] == 1

    def test_a_schema_of_its_own_can_be_named(self, databases: Databases):
        url = databases.make(empty=True)
        execute(url, "create schema elsewhere")
        there = f"{url}{'&' if '?' in url else '?'}search_path=elsewhere"
        made = using(there, lambda store: store.create(debate(1)))
        (row,) = execute(url, "select id from elsewhere.debate_sessions")
        assert row["id"] == made.id

    def test_a_database_that_cannot_hold_every_text_is_refused(self, databases: Databases):
        url = databases.make(empty=True)
        execute(databases.url, "drop database if exists moot_test_latin")
        how = "encoding 'LATIN1' locale 'C' template template0"
        try:
            execute(databases.url, f"create database moot_test_latin {how}")
        except Exception:  # a cluster with a provider of its own
            execute(databases.url, f"create database moot_test_latin locale_provider libc {how}")
        try:
            with pytest.raises(StoreError, match="LATIN1.*--encoding UTF8"):
                opened(other(url, "moot_test_latin"))
        finally:
            execute(databases.url, "drop database moot_test_latin with (force)")


class TestBadInput:
    """One clear line that says what to do, without the password."""

    def refused(self, url: str, kind: type[Exception], match: str) -> None:
        for attempt in (lambda: opened(url), lambda: asyncio.run(condition(url))):
            with pytest.raises(kind, match=match) as caught:
                attempt()
            text = str(caught.value)
            assert "\n" not in text
            assert "hush" not in text

    def test_nobody_is_there(self):
        self.refused("postgresql://me:hush@127.0.0.1:1/db", StoreError, "127.0.0.1:1 does not answer.*check host")

    def test_no_such_host(self):
        self.refused("postgresql://me:hush@nowhere.invalid/db", StoreError, "nowhere.invalid does not answer")

    def test_no_such_socket(self):
        self.refused("postgresql://me:hush@/db?host=/nowhere", StoreError, "/nowhere does not answer")

    def test_no_such_database(self, shared_server):
        url = other(shared_server["url"], "moot_test_nowhere")
        self.refused(url, StoreError, "no database 'moot_test_nowhere'.*createdb moot_test_nowhere")

    @pytest.mark.parametrize(
        "url",
        [
            "postgresql://me:hush@hush@host/db",
            "postgresql://me:hush/hush@host/db",
            "postgresql://me:hush#hush@host/db",
            "postgresql://me:hush?hush@host/db",
            "postgresql://host:hush/db",
            "postgresql://me:hush@host/db?hush",
        ],
    )
    def test_an_address_that_cannot_be_read(self, url):
        self.refused(url, InputError, "can't be read.*%40")

    @pytest.mark.parametrize(("given", "driver"), [("postgresql+psycopg", True), ("mysql", False)])
    def test_another_scheme(self, given, driver):
        with pytest.raises(InputError, match="Write postgresql://"):
            read_address(f"{given}://me:hush@host/db")

    def test_a_parameter_that_nobody_knows(self, database_url):
        url = f"{database_url}{'&' if '?' in database_url else '?'}no_such_setting=1"
        self.refused(url, StoreError, "no_such_setting.*Check --db")

    def test_a_driver_that_is_not_installed(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "asyncpg", None)
        self.refused("postgresql://me:hush@127.0.0.1:1/db", InputError, r'pip install "moot\[postgres\]"')

    def test_addresses_as_people_see_them(self):
        shown = {
            "postgresql://me:hush@db.example:5433/moot": "postgresql://me@db.example:5433/moot",
            "postgres://db.example/moot?sslmode=require&password=hush": "postgresql://db.example/moot",
            "postgresql://me@/moot?host=/run/pg&port=5433": "postgresql://me@/run/pg:5433/moot",
            "postgresql://me:hush@one:1,two:2/moot?target_session_attrs=primary": "postgresql://me@one:1,two:2/moot",
            "postgresql://me:hush@[::1]:5432/moot": "postgresql://me@[::1]:5432/moot",
            "postgresql://?service=moot": "postgresql:///",
        }
        assert {url: str(read_address(url)) for url in shown} == shown

    def test_nothing_of_the_driver_is_imported_before_it_is_needed(self):
        program = "import sys, moot.app; sys.exit('asyncpg' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.fixture(scope="module")
def roles(cluster: Cluster) -> None:
    execute(
        cluster.url(),
        "create role plain login password 'hush'",
        "create role owner login password 'hush'",
        "create database plain",
        "create database owned owner owner",
    )
    execute(cluster.url("plain"), "revoke create on schema public from public")


@pytest.mark.slow
@pytest.mark.usefixtures("roles")
class TestPrivileges:
    """On a server of its own, as roles belong to the whole server."""

    def test_a_wrong_password(self, cluster):
        url = cluster.tcp("owned", user="owner", password="wr0ng")
        with pytest.raises(StoreError, match="does not let user 'owner' in .*Check user and password") as caught:
            opened(url)
        assert "wr0ng" not in str(caught.value)

    def test_the_right_password_with_signs_in_it(self, cluster):
        assert all(sign in PASSWORD for sign in ":/@")
        made = using(cluster.tcp("owned"), lambda store: store.find("none"))
        assert made == []

    def test_no_such_user(self, cluster):
        with pytest.raises(StoreError, match="does not let user 'nobody'"):
            opened(cluster.url("owned", user="nobody"))

    def test_who_may_not_create_tables(self, cluster):
        with pytest.raises(NotWritable, match="privilege is missing.*moot db migrate"):
            opened(cluster.url("plain", user="plain"))
        (row,) = execute(cluster.url("plain"), "select count(*) from pg_tables where schemaname = 'public'")
        assert row[0] == 0

    def test_who_may_only_use_what_the_owner_made(self, cluster):
        """What docs/database.md says to grant is enough to run debates, and not to change the schema."""
        execute(cluster.url(), "create database granted owner owner")
        opened(cluster.url("granted", user="owner"))
        reader = cluster.url("granted", user="plain")
        with pytest.raises(NotWritable, match="privilege is missing"):
            opened(reader)
        execute(
            cluster.url("granted", user="owner"),
            "grant select, insert, update, delete on all tables in schema public to plain",
        )

        async def check(store: PostgresStore) -> None:
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            committed = await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()], status="completed"))
            assert committed is not None
            memory = Memorized(debate_id=made.id, words=["w"], decided=True, demonstration=False)
            await store.remember([memory])
            assert (await store.search(["w"], 1)).ids == [made.id]

        using(reader, check)

    def test_a_database_that_is_read_only(self, cluster):
        execute(cluster.url(), "create database standby")
        url = cluster.url("standby")
        execute(cluster.url(), "alter database standby set default_transaction_read_only = on")
        with pytest.raises(NotWritable, match="read-only.*primary"):
            opened(url)
        execute(cluster.url(), "alter database standby set default_transaction_read_only = off")
        opened(url)
        execute(cluster.url(), "alter database standby set default_transaction_read_only = on")

        async def check(store: PostgresStore) -> None:
            assert (await store.page()).debates == []  # looking is possible
            with pytest.raises(NotWritable, match="read-only"):
                await store.writable()
            with pytest.raises(NotWritable, match="read-only"):
                await store.create(debate(1))

        using(url, check)

    def test_no_connection_to_spare(self, cluster):
        execute(cluster.url(), "create database narrow owner owner", "alter role owner connection limit 1")

        async def main() -> None:
            import asyncpg

            greedy = await asyncpg.connect(cluster.url("narrow", user="owner"))
            store = PostgresStore(cluster.url("narrow", user="owner"), patience=0.1)
            with pytest.raises(StoreError, match="no connection to spare.*max_connections"):
                await store.open()
            await greedy.close()
            await store.close()

        asyncio.run(main())
        execute(cluster.url(), "alter role owner connection limit -1")
