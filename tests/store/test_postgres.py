"""The contract on PostgreSQL, and what is particular to how it stores and looks up."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from moot.core.errors import NoSuchDebate
from moot.core.types import Cursor, Shown
from moot.store import Commit
from moot.store.postgres import PostgresStore
from moot.store.postgres.connections import connect, sql
from moot.store.postgres.debates import page_statement
from moot.store.sqlite import SqliteStore
from tests.store.contract import StoreContract
from tests.store.samples import OUTCOME, claimed, completed, debate, entry, turn
from tests.store.using import rows


@pytest.fixture
def store(on_postgres):
    return on_postgres


class TestPostgres(StoreContract):
    @pytest.fixture
    def store(self, on_postgres):
        return on_postgres


class TestWriting:
    async def test_json_columns_hold_the_same_bytes_as_in_sqlite(self, store: PostgresStore, on_sqlite: SqliteStore):
        given = debate(1, config={"z": 1, "a": {"y": [0.1, 1e300, None], "b": '— 你好 \\ " \x01'}})
        said = turn(data={"b": 1, "a": {"d": 2.50, "c": "\x00 é"}}, metadata={"z": 1, "a": []})
        columns = 's.config, s."cast", s.metadata, s.open_keys, s.outcome, t.data, t.metadata, e.data'
        query = f"select {columns} from debate_sessions s, debate_turns t, debate_events e"
        cursor = Cursor(open=("b", "a"))
        for each in (store, on_sqlite):
            await each.create(given, events=[Shown(type="status", data={"z": 1, "a": 2})])
            await each.claim(given.id, "me", 10, expect=["pending"])
            commit = Commit(debate_id=given.id, epoch=1, turns=[said], cursor=cursor, status="completed")
            await each.commit(replace(commit, outcome=OUTCOME))
            assert (await each.turns(given.id)) == [said]
        with closing(sqlite3.connect(on_sqlite.path)) as connection:
            (theirs,) = connection.execute(query).fetchall()
        (ours,) = await rows(store, query)
        assert tuple(ours) == theirs

    async def test_nul_characters_are_replaced(self, store: PostgresStore):
        made = await claimed(store)
        await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn(raw="a\0b", data={"x": "a\0b"})]))
        (kept,) = await store.turns(made.id)
        assert (kept.raw, kept.data) == ("a\ufffdb", {"x": "a\0b"})

    async def test_input_that_no_row_can_match_finds_nothing(self, store: PostgresStore):
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

    async def test_concurrent_commits_share_a_transaction(self, store: PostgresStore):
        for n in range(50):
            await claimed(store, n)
        commits = [
            Commit(debate_id=debate(n).id, epoch=1, turns=[turn()], events=[Shown(type="TURN")]) for n in range(50)
        ]
        assert None not in await asyncio.gather(*map(store.commit, commits))
        counts = "count(*) as turns, count(distinct xmin::text) as transactions"
        (row,) = await rows(store, f"select {counts} from debate_turns")
        assert row["turns"] == 50
        assert row["transactions"] < 10

    async def test_a_commit_finds_debates_by_primary_key(self, store: PostgresStore):
        """Its plan is made once, perhaps on an empty database, and kept when there are many debates."""

        async def explained(connection: Any, _: bool) -> list[str]:
            await connection.execute(f"prepare it (json, json, json, json) as {sql('commit').text}")
            await connection.execute("set plan_cache_mode = force_generic_plan")
            return [row[0].strip() for row in await connection.fetch("explain execute it ('[]', '[]', '[]', '[]')")]

        plan = await store.with_connection(explained)
        scans = [line for line in plan if "Scan" in line and "debate_sessions" in line]
        assert len(scans) == 1, plan
        assert "Index Scan using debate_sessions_pkey" in scans[0], plan

    async def test_pages_walk_an_index_and_sort_nothing(self, store: PostgresStore):
        await rows(
            store,
            """
            insert into debate_sessions (
              id, topic, format, format_version, status, parent_id, follows, created_at, updated_at, config, "cast",
              metadata, initiated_by
            )
            select n::text, 'Tea?', case when n % 20 = 0 then 'duel' else 'classic' end, 1,
              case when n % 20 = 0 then 'failed' else 'completed' end, case when n % 20 = 0 then 'p' end,
              case when n % 20 = 0 then 'p' end, n / 1000, n,
              '{}', '[]', '{}', ''
            from generate_series(1, 5000) as n
            """,
        )
        await rows(store, "analyze debate_sessions")
        for filters, index in (
            ("", "debate_sessions_newest"),
            ("status = 'failed'", "debate_sessions_by_status"),
            ("format = 'duel'", "debate_sessions_by_format"),
            ("parent_id = 'p'", "debate_sessions_by_parent"),
            ("follows = 'p'", "debate_sessions_by_follows"),
            ("position(lower('p') in lower(topic)) > 0", "debate_sessions_newest"),
        ):
            parts = [f" and {each}" for each in (filters, "(created_at, id) < (5.0, 'x')") if each]
            statement = page_statement("".join(parts)).text.replace("$1::bigint", "20")
            plan = "\n".join(row[0] for row in await rows(store, f"explain {statement}"))
            assert f"Index Scan using {index} " in plan
            assert "Sort" not in plan

    async def test_concurrent_commits_of_one_debate_are_all_made(self, store: PostgresStore):
        made = await claimed(store)
        keys = [f"{n}/speak/a" for n in range(10)]
        commits = [
            Commit(debate_id=made.id, epoch=1, turns=[turn(key, n)], events=[Shown(type="TURN", key=key)])
            for n, key in enumerate(keys, 1)
        ]
        await asyncio.gather(*map(store.commit, commits))
        assert [each.key for each in await store.turns(made.id)] == keys
        assert [each.seq for each in await store.events(made.id)] == list(range(1, 11))

    async def test_a_commit_that_waits_for_a_concurrent_claim_writes_nothing(self, store: PostgresStore):
        """The claim holds the row's lock when the commit begins: the epoch must be checked after the lock is gained."""
        made = await claimed(store)
        thief = await connect(store.address)
        await thief.execute("begin")
        await thief.execute("update debate_sessions set epoch = epoch + 1, owner = 'thief'")
        late = asyncio.create_task(
            store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()], events=[Shown(type="TURN")]))
        )
        blocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        while not await thief.fetch(blocked):
            assert not late.done()
            await thief.execute("select pg_stat_clear_snapshot()")
        await thief.execute("commit")
        await thief.close()
        assert await late is None
        assert await store.turns(made.id) == []
        assert await store.events(made.id) == []
        assert (await store.get(made.id)).owner == "thief"

    async def test_order_does_not_depend_on_the_database_s_collation(self, store: PostgresStore):
        for name in ("B", "a", "Z", "b"):
            await store.create(debate(1, id=f"{name}-x"))
        assert [each.id[0] for each in (await store.page(limit=9)).debates][-1] in "Bb"
        assert await store.find("B") == ["B-x"]
        assert await store.find("b") == ["b-x"]

    async def test_words_of_any_characters_are_found(self, store: PostgresStore):
        odd = ["o'clock", "back\\slash", "a | b", "&", "你好", "x" * 3000, "nul\0"]
        for n in (1, 2):
            await completed(store, n)
        await store.remember([entry(1, odd), entry(2, ["plain", "&"])])
        for word in odd:
            hits = await store.search([word], 5)
            assert debate(1).id in hits.ids, word
            assert hits.total == 2
        assert (await store.search(["&", "plain"], 5)).ids == [debate(2).id, debate(1).id]
        assert (await store.search([], 5)).ids == ()
