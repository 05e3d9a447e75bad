"""`moot db`, and the other commands on PostgreSQL."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from tests.cli.conftest import Moot
from tests.postgres import Databases, execute, other

pytestmark = pytest.mark.slow


class TestSqlite:
    def test_status_of_nothing_makes_nothing(self, moot: Moot):
        shown = moot("db", "status")
        assert (shown.code, shown.err) == (0, "")
        assert str(moot.db) in shown.out
        assert "none yet" in shown.out
        assert not moot.db.exists()

    def test_migrate_makes_it_and_a_second_time_changes_nothing(self, moot: Moot):
        made = moot("db", "migrate")
        assert made.code == 0
        assert "it was not there" in made.err
        again = moot("db", "migrate")
        assert (again.code, again.out) == (0, "")
        assert "already; nothing was changed" in again.err
        assert "current" in moot("db", "status").out

    def test_status_counts_what_is_there(self, moot: Moot):
        moot("debate", "Is it?", "--rounds", "1", "--model", moot.script())
        moot("fork", moot.ids[0], "--no-run", "--at", "1/speak/b")
        shown = moot("db", "status")
        assert "debates   2: 1 pending, 1 completed" in shown.out
        told = json.loads(moot("db", "status", "--json").out)
        assert told["debates"] == {"completed": 1, "pending": 1}
        assert (told["place"], told["current"], told["turns"]) == (str(moot.db), True, 4)
        assert told["bytes"] > 0

    def test_an_older_and_a_newer_schema_are_told_apart(self, moot: Moot):
        moot("db", "migrate")
        newest = json.loads(moot("db", "status", "--json").out)["newest"]
        shown = moot.next_version("db", "status")
        assert (shown.code, shown.err) == (1, "")
        assert f"{newest} of {newest + 1}; `moot db migrate`" in shown.out
        migrated = moot.next_version("db", "migrate")
        assert (migrated.code, migrated.out) == (0, "")
        assert f"the schema is {newest + 1} now; it was {newest}" in migrated.err
        moot.sql("pragma user_version = 99")
        shown = moot("db", "status")
        assert shown.code == 1
        assert "upgrade moot" in shown.out
        refused = moot("db", "migrate")
        assert refused.code == 2
        assert "schema 99" in refused.err

    def test_a_file_of_something_else(self, moot: Moot):
        moot.db.write_text("just some notes, " * 100)
        with closing(sqlite3.connect(moot.folder / "other.db")) as connection:
            connection.execute("create table theirs (x)")
        assert "not a moot database" in moot("db", "status").err
        foreign = moot("db", "status", "--db", "other.db")
        assert (foreign.code, "belongs to another program" in foreign.err) == (2, True)


class TestPostgres:
    @pytest.fixture
    def at(self, moot: Moot, database_url: str) -> Moot:
        """Run moot with its database in the environment."""
        moot.env["MOOT_DATABASE_URL"] = database_url
        return moot

    def test_a_debate_is_run_shown_listed_proved_and_forked(self, at: Moot, database_url: str):
        ran = at("debate", "Is it the same?", "--rounds", "1", "--model", at.script(), "--json")
        assert ran.code == 0, ran.err
        debate_id = ran.events[0]["debate"]
        assert [row["key"] for row in execute(database_url, "select key from debate_turns order by seq")]
        assert debate_id[:8] in at("list").out
        shown = at("show", debate_id[:8], "--plain")
        assert "a speaks at 1/speak/a." in shown.out
        assert at("replay", debate_id).code == 0
        assert at("audit", debate_id).code == 0
        assert at("fork", debate_id, "--at", "1/speak/b", "--plain").code == 0
        assert "debates   2: 2 completed" in at("db", "status").out
        assert not at.db.exists()

    def test_status_migrate_and_doctor(self, moot: Moot, databases: Databases):
        moot.env["MOOT_DATABASE_URL"] = url = databases.make(empty=True)
        before = moot("db", "status")
        assert (before.code, "none yet" in before.out) == (0, True)
        assert execute(url, "select count(*) from pg_tables where schemaname = 'public'")[0][0] == 0
        assert "it was not there" in moot("db", "migrate").err
        assert "current" in moot("db", "status").out
        assert "can be written, and its schema is current" in moot("doctor", "--model", "sim:").out

    def test_bad_addresses_are_one_line_without_the_password(self, moot: Moot, shared_server):
        bad = {
            "postgresql://me:hush@127.0.0.1:1/db": "does not answer",
            "postgresql://me:hush@hush@127.0.0.1/db": "can't be read",
            "mysql://me:hush@127.0.0.1/db": "can't be used",
            other(shared_server["url"], "moot_test_nowhere"): "createdb moot_test_nowhere",
        }
        commands = (["list"], ["db", "status"], ["db", "migrate"], ["debate", "Is it?", "--model", "sim:"])
        for (url, words), args in zip(bad.items(), commands, strict=True):
            refused = moot(*args, "--db", url)
            assert (refused.code, refused.out) == (2, ""), args
            line = refused.err.strip().splitlines()[-1]
            assert line.startswith("moot: ")
            assert words in line
            assert "hush" not in refused.err

    def test_the_password_is_shown_nowhere(self, moot: Moot):
        moot.env["MOOT_DATABASE_URL"] = "postgresql://me:hush@127.0.0.1:1/db"
        for args in (["config"], ["config", "--json"], ["doctor", "--model", "sim:"]):
            shown = moot(*args)
            assert "hush" not in shown.out + shown.err
            assert "127.0.0.1:1" in shown.out
