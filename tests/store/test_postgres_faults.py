"""Server restarts, and connections that are lost in the middle of a write."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from moot.core.errors import StoreError
from moot.core.types import Cursor, Debate, Failure, Gate, Shown, Usage
from moot.store import AccessToken, Commit, IdempotencyKey, MemoryEntry
from moot.store.postgres import PostgresStore
from moot.store.postgres.clock import ServerClock
from tests.postgres import Cluster
from tests.store.conftest import closing_store
from tests.store.proxy import proxy_to
from tests.store.samples import debate, turn

pytestmark = pytest.mark.slow

Write = Callable[[PostgresStore, str], Awaitable[Any]]
NOTE = [Shown(type="status", data={"status": "x"})]
GATE = "1/checkpoint/you"


async def commit_turn(store: PostgresStore, debate_id: str) -> Any:
    done = await store.commit(
        Commit(
            debate_id=debate_id,
            epoch=1,
            turns=[turn()],
            cursor=Cursor(open=("2/speak/b",), next_round=2, next_actor="b"),
            events=[Shown(type="TURN", key="1/speak/a"), *NOTE],
            shown=1,
        )
    )
    return done and [(event.seq, event.type) for event in done.events], done and done.status


async def commit_note(store: PostgresStore, debate_id: str) -> Any:
    done = await store.commit(Commit(debate_id=debate_id, epoch=1, events=NOTE))
    return done and [(event.seq, event.type) for event in done.events], done and done.status


async def commit_end(store: PostgresStore, debate_id: str) -> Any:
    lost = Usage(tokens_in=3, tokens_out=5, cost_usd=0.5)
    failure = Failure(kind="timeout", message="too slow")
    done = await store.commit(
        Commit(debate_id=debate_id, epoch=1, status="failed", error=failure, lost=lost, events=NOTE, release=True)
    )
    return done and done.status


async def claim(store: PostgresStore, debate_id: str, seen: Debate | None = None) -> Any:
    taken = await store.claim(debate_id, "you", 10, expect=["running"], dead="me", seen=seen)
    return taken and (taken.epoch, taken.owner)


async def move(store: PostgresStore, debate_id: str, seen: Debate | None = None) -> Any:
    moved = await store.move(debate_id, "stopping", expect=["running", "stopping"], events=NOTE, seen=seen)
    return moved and moved.status


async def decide(store: PostgresStore, debate_id: str, seen: Debate | None = None) -> Any:
    decided = await store.decide(debate_id, GATE, {"choice": "end"}, by="ann", seen=seen)
    return decided and decided.decision


async def guide(store: PostgresStore, debate_id: str, seen: Debate | None = None) -> Any:
    kept = await store.guide(debate_id, "Look.", by="ann", seen=seen)
    return kept and kept.key


def if_unchanged(write: Any) -> Write:
    async def as_seen(store: PostgresStore, debate_id: str) -> Any:
        """Of the debate as `running` left it, without asking the server, and a second later."""
        clock, store.now = store.now, ServerClock(lambda: clock() + 1)
        try:
            seen = debate(int(debate_id[:8], 16), status="running", epoch=1, updated_at=clock())
            done = await write(store, debate_id, seen)
        finally:
            store.now = clock
        assert done is not None
        return done

    as_seen.__name__ = f"{write.__name__}_seen"
    return as_seen


async def create(store: PostgresStore, debate_id: str) -> Any:
    return (await store.create(debate(int(debate_id[:8], 16) + 100), turns=[turn()], events=NOTE)).topic


async def heartbeat(store: PostgresStore, debate_id: str) -> Any:
    return (await store.heartbeat("me", {debate_id: 1}, 10)).statuses[debate_id]


async def remember(store: PostgresStore, debate_id: str) -> Any:
    await store.remember([MemoryEntry(debate_id=debate_id, words=["word"], decided=True, demonstration=False)])


async def add_token(store: PostgresStore, debate_id: str) -> Any:
    return await store.add_token(AccessToken(id=debate_id, name=debate_id, hash=debate_id, scopes=("read",)))


async def reserve_key(store: PostgresStore, debate_id: str) -> Any:
    return (await store.reserve_key(IdempotencyKey(key=debate_id, hash="h", debate_id="d"), 60)).hash


CHANGES = [claim, move, decide, guide]
OTHERS = [commit_turn, commit_note, commit_end, create, heartbeat, remember, add_token, reserve_key]
WRITES = [*OTHERS, *CHANGES, *map(if_unchanged, CHANGES)]


async def running(store: PostgresStore, n: int) -> str:
    """Create a running debate with an open gate."""
    made = await store.create(debate(n))
    await store.claim(made.id, "me", 10, expect=["pending"])
    gate = Gate(debate_id=made.id, key=GATE, kind="checkpoint", question="?")
    await store.commit(Commit(debate_id=made.id, epoch=1, gates=[gate]))
    return made.id


async def everything(store: PostgresStore, debate_id: str) -> Any:
    """All that is stored of a debate, except ids and times."""
    kept: Debate = replace(await store.get(debate_id), id="", updated_at=0.0)
    gates = [replace(gate, debate_id="") for gate in await store.gates(debate_id)]
    hits = await store.search(["word"], 9)
    return kept, await store.turns(debate_id), await store.events(debate_id), gates, hits.document_frequency


class TestLostConnections:
    @pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
    async def test_a_write_is_made_once_whether_request_or_reply_was_lost(self, databases, write: Write):
        async def made(url: str, lose: Callable[[], None]) -> Any:
            async with closing_store(PostgresStore(url, clock=lambda: 1000.0)) as store:
                await write(store, await running(store, 1))
                debate_id = await running(store, 2)
                lose()  # all statements are prepared by now: the next request is this write
                return await write(store, debate_id), await everything(store, debate_id)

        urls = await asyncio.to_thread(lambda: [databases.make() for _ in range(3)])
        undisturbed = await made(urls[0], lambda: None)
        for url, lost in zip(urls[1:], ("drop_reply", "drop_request"), strict=True):
            async with proxy_to(url) as proxy:
                assert await made(proxy.url, partial(setattr, proxy, lost, True)) == undisturbed, lost
                assert not getattr(proxy, lost)

    async def test_a_commit_is_not_repeated_after_a_take_over(self, database_url):
        """The commit is made, its reply is lost, and another process claims the debate before the retry."""

        async with proxy_to(database_url) as proxy:
            store, thief = PostgresStore(proxy.url), PostgresStore(database_url)
            first = await running(store, 1)
            await commit_turn(store, first)
            second = await running(store, 2)
            proxy.drop_reply = True
            late = asyncio.create_task(commit_turn(store, second))
            while not await thief.turns(second):
                await asyncio.sleep(0)
            await thief.claim(second, "thief", 10, expect=["running"], dead="me")
            committed, _ = await late
            # Whether it retried before or after the claim: it was written once.
            assert committed in (None, [(1, "TURN"), (2, "status")])
            assert len(await thief.turns(second)) == 1
            assert [event.seq for event in await thief.events(second)] == [1, 2]
            await store.close()
            await thief.close()

    async def test_every_commit_of_a_group_is_made_once(self, database_url):
        async with proxy_to(database_url) as proxy:
            store = PostgresStore(proxy.url)
            ids = [await running(store, n) for n in range(20)]
            proxy.drop_reply = True
            done = await asyncio.gather(*(commit_turn(store, debate_id) for debate_id in ids))
            assert done == [([(1, "TURN"), (2, "status")], "running")] * 20
            for debate_id in ids:
                assert len(await store.turns(debate_id)) == 1
                assert (await store.get(debate_id)).last_seq == 2
            await store.close()


class TestRestarts:
    @pytest.mark.parametrize("mode", ["fast", "immediate"])
    async def test_commits_survive_a_restart(self, cluster: Cluster, database_to_restart, mode):
        """Twenty debates commit as fast as they can while the server restarts: no turn is lost or doubled."""
        steps = 150
        store = PostgresStore(database_to_restart)
        ids = [debate(n).id for n in range(20)]
        for n, debate_id in enumerate(ids):
            await store.create(debate(n))
            await store.claim(debate_id, "me", 100, expect=["pending"])
        begun = asyncio.Event()

        async def drive(debate_id: str) -> None:
            for n in range(1, steps + 1):
                key = f"{n}/speak/a"
                events = [Shown(type="TURN", key=key)]
                done = await store.commit(
                    Commit(debate_id=debate_id, epoch=1, turns=[turn(key, n)], events=events, shown=1)
                )
                assert done is not None
                assert [event.seq for event in done.events] == [n]
                if n == 20:
                    begun.set()

        async def restart() -> None:
            await begun.wait()
            await asyncio.to_thread(cluster.restart, mode)

        await asyncio.gather(restart(), *map(drive, ids))
        for debate_id in ids:
            assert [each.seq for each in await store.turns(debate_id)] == list(range(1, steps + 1))
            kept = await store.get(debate_id)
            assert (kept.turn_count, kept.last_seq, kept.shown_count) == (steps, steps, steps)
        await store.close()

    async def test_a_server_that_stays_away_is_reported_and_found_again(self, cluster: Cluster, database_to_restart):
        store = PostgresStore(database_to_restart, retry_seconds=0.3)
        first = await running(store, 1)
        await asyncio.to_thread(cluster.stop, "fast")
        try:
            for attempt in (
                commit_turn(store, first),
                move(store, first),
                store.get(first),
                heartbeat(store, first),
            ):
                with pytest.raises(
                    StoreError, match=r"is gone \(.+\)\. What is stored is whole: when it is back, go on"
                ):
                    await attempt
            fresh = PostgresStore(database_to_restart, retry_seconds=0.3)
            with pytest.raises(StoreError, match="does not answer.*Start it"):
                await fresh.open()
            waiting = asyncio.create_task(fresh.open(retry_seconds=60))
        finally:
            await asyncio.to_thread(cluster.start)
        await waiting
        assert (await store.get(first)).status == "running"
        assert await commit_turn(store, first) == ([(1, "TURN"), (2, "status")], "running")
        await store.close()
        await fresh.close()
