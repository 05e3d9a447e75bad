"""Addresses, privileges and servers that can't be used: one line that says what to do, without the password."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from moot.core.errors import InputError, NotWritable, StoreError
from moot.store.postgres import PostgresStore, database_status
from moot.store.postgres.address import read_address
from tests.postgres import PASSWORD, Cluster, execute, other
from tests.store.samples import debate
from tests.store.using import opened, using


class TestBadInput:
    def refused(self, url: str, kind: type[Exception], match: str) -> None:
        for attempt in (lambda: opened(url), lambda: asyncio.run(database_status(url))):
            with pytest.raises(kind, match=match) as caught:
                attempt()
            text = str(caught.value)
            assert "\n" not in text
            assert "hush" not in text

    @pytest.mark.parametrize(
        ("where", "said"),
        [
            ("127.0.0.1:1/db", "127.0.0.1:1 does not answer.*check host"),
            ("nowhere.invalid/db", "nowhere.invalid does not answer"),
            ("/db?host=/nowhere", "/nowhere does not answer"),
        ],
        ids=["port", "host", "socket"],
    )
    def test_no_server_there(self, where, said):
        self.refused(f"postgresql://me:hush@{where}", StoreError, said)

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
    def test_an_unreadable_address(self, url):
        self.refused(url, InputError, "can't be read.*%40")

    @pytest.mark.parametrize("given", ["postgresql+psycopg", "mysql"])
    def test_another_scheme(self, given):
        with pytest.raises(InputError, match="Write postgresql://"):
            read_address(f"{given}://me:hush@host/db")

    def test_an_unknown_parameter(self, database_url):
        url = f"{database_url}{'&' if '?' in database_url else '?'}no_such_setting=1"
        self.refused(url, StoreError, "no_such_setting.*Check --db")

    def test_a_missing_driver(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "asyncpg", None)
        self.refused("postgresql://me:hush@127.0.0.1:1/db", InputError, r'pip install "moot\[postgres\]"')

    def test_addresses_are_shown_without_secrets(self):
        shown = {
            "postgresql://me:hush@db.example:5433/moot": "postgresql://me@db.example:5433/moot",
            "postgres://db.example/moot?sslmode=require&password=hush": "postgresql://db.example/moot",
            "postgresql://me@/moot?host=/run/pg&port=5433": "postgresql://me@/run/pg:5433/moot",
            "postgresql://me:hush@one:1,two:2/moot?target_session_attrs=primary": "postgresql://me@one:1,two:2/moot",
            "postgresql://me:hush@[::1]:5432/moot": "postgresql://me@[::1]:5432/moot",
            "postgresql://?service=moot": "postgresql:///",
        }
        assert {url: str(read_address(url)) for url in shown} == shown

    def test_the_driver_is_imported_lazily(self):
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
    """On a separate server, as roles belong to the whole server."""

    def test_a_wrong_password(self, cluster):
        url = cluster.tcp("owned", user="owner", password="wr0ng")
        with pytest.raises(StoreError, match="does not let user 'owner' in .*Check user and password") as caught:
            opened(url)
        assert "wr0ng" not in str(caught.value)

    def test_a_password_with_reserved_characters(self, cluster):
        assert all(sign in PASSWORD for sign in ":/@")
        made = using(cluster.tcp("owned"), lambda store: store.find("none"))
        assert made == []

    def test_a_user_who_may_not_create_tables(self, cluster):
        with pytest.raises(NotWritable, match="privilege is missing.*bring the schema up to date"):
            opened(cluster.url("plain", user="plain"))
        (row,) = execute(cluster.url("plain"), "select count(*) from pg_tables where schemaname = 'public'")
        assert row[0] == 0

    def test_a_read_only_database(self, cluster):
        execute(cluster.url(), "create database standby")
        url = cluster.url("standby")
        execute(cluster.url(), "alter database standby set default_transaction_read_only = on")
        with pytest.raises(NotWritable, match="read-only.*primary"):
            opened(url)
        execute(cluster.url(), "alter database standby set default_transaction_read_only = off")
        opened(url)
        execute(cluster.url(), "alter database standby set default_transaction_read_only = on")

        async def check(store: PostgresStore) -> None:
            assert (await store.page()).debates == []  # reading works
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
            store = PostgresStore(cluster.url("narrow", user="owner"), retry_seconds=0.1)
            with pytest.raises(StoreError, match="no connection to spare.*max_connections"):
                await store.open()
            await greedy.close()
            await store.close()

        asyncio.run(main())
        execute(cluster.url(), "alter role owner connection limit -1")
