"""What processes hear of one another: two stores on one database stand for two processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from moot.store import Changed, Commit, Missed, Notice, Said, Wanted
from moot.store.postgres import PostgresStore, talk
from moot.store.sqlite import SqliteStore
from moot.types import Gate, Shown
from tests.postgres import Cluster, execute, other
from tests.store.samples import debate, turn
from tests.store.wire import wire_to

DEADLINE = 30
ID = debate(1).id
ABOUT = {"seat": "a", "round": 1}


class Hearing:
    """Everything that one store hears, as it comes."""

    def __init__(self, store: PostgresStore) -> None:
        self.heard: list[Notice] = []
        self._notices = store.notices()

    async def until(self, condition: Callable[[list[Notice]], Any]) -> Any:
        async with asyncio.timeout(DEADLINE):
            while not (found := condition(self.heard)):
                self.heard.append(await anext(self._notices))
        return found

    async def next(self, *kinds: type) -> Notice:
        """The next one of these kinds; what comes before is forgotten."""
        self.heard.clear()
        return await self.until(lambda heard: next((n for n in heard if isinstance(n, kinds)), None))

    def text(self, key: str) -> str:
        """What a watcher has on its screen."""
        text = ""
        for notice in self.heard:
            if isinstance(notice, Said) and notice.key == key:
                assert notice.offset in (0, len(text))
                text = text[: notice.offset] + (notice.text or "")
        return text

    async def stop(self) -> None:
        await self._notices.aclose()


@asynccontextmanager
async def pair(url: str, far_url: str | None = None) -> AsyncIterator[tuple[PostgresStore, PostgresStore, Hearing]]:
    """One that acts, one that listens, and what that one hears; it has begun to listen."""
    acts, listens = PostgresStore(url), PostgresStore(far_url or url)
    hearing = Hearing(listens)
    await hearing.next(Missed)
    try:
        yield acts, listens, hearing
    finally:
        await hearing.stop()
        await listens.close()
        await acts.close()


def test_sqlite_tells_nothing(tmp_path):
    async def main() -> None:
        store = SqliteStore(tmp_path / "m.db")
        store.follow(ID)
        store.say(ID, "k", 0, "words", {})
        store.unfollow(ID)
        assert [notice async for notice in store.notices()] == []
        await store.close()

    asyncio.run(main())


def test_changes_from_outside_are_heard_by_everyone(database_url):
    async def main() -> None:
        async with pair(database_url) as (acts, _, hearing):
            made = await acts.create(debate(1))
            assert await hearing.next(Changed) == Changed(debate_id=ID, status="pending")
            await acts.claim(made.id, "me", 10, expect=["pending"])
            assert await hearing.next(Changed) == Changed(debate_id=ID, status="running")
            await acts.move(made.id, "stopping", expect=["running"])
            assert await hearing.next(Changed) == Changed(debate_id=ID, status="stopping")
            await acts.guide(made.id, "Look.", by="ann")
            assert await hearing.next(Changed) == Changed(debate_id=ID)
            gate = Gate(debate_id=ID, key="k", kind="approval", question="?")
            await acts.commit(Commit(debate_id=ID, epoch=1, status="waiting", gates=[gate], release=True))
            assert await hearing.next(Changed) == Changed(debate_id=ID, status="waiting")
            await acts.decide(ID, "k", {"choice": "yes"}, by="ann")
            assert await hearing.next(Changed) == Changed(debate_id=ID)
            await acts.claim(ID, "me", 10, expect=["waiting"])
            await acts.commit(Commit(debate_id=ID, epoch=2, status="completed", outcome={}, release=True))
            await acts.rate(ID, 5)
            await hearing.until(lambda heard: heard[-3:] == [
                Changed(debate_id=ID, status="running"),
                Changed(debate_id=ID, status="completed"),
                Changed(debate_id=ID),
            ])  # fmt: skip

    asyncio.run(main())


def test_what_was_refused_is_not_told(database_url):
    async def main() -> None:
        async with pair(database_url) as (acts, _, hearing):
            await acts.create(debate(1))
            assert await acts.move(ID, "stopping", expect=["running"]) is None
            assert await acts.claim(ID, "me", 10, expect=["running"]) is None
            assert await acts.decide(ID, "k", {}, by="ann") is None
            assert await acts.commit(Commit(debate_id=ID, epoch=1, status="failed")) is None
            await acts.create(debate(2))
            await hearing.until(lambda heard: Changed(debate_id=debate(2).id, status="pending") in heard)
            assert hearing.heard[1:] == [
                Changed(debate_id=ID, status="pending"),
                Changed(debate_id=debate(2).id, status="pending"),
            ]

    asyncio.run(main())


def test_one_s_own_changes_are_not_heard(database_url):
    async def main() -> None:
        async with pair(database_url) as (acts, listens, hearing):
            await listens.create(debate(1))
            await listens.claim(ID, "me", 10, expect=["pending"])
            await listens.commit(Commit(debate_id=ID, epoch=1, status="failed"))
            await acts.create(debate(2))
            assert await hearing.next(Changed) == Changed(debate_id=debate(2).id, status="pending")

    asyncio.run(main())


def test_steps_are_heard_by_those_who_follow_and_cost_nothing_otherwise(database_url):
    async def main() -> None:
        async with pair(database_url) as (acts, listens, hearing):
            drives = Hearing(acts)
            await drives.next(Missed)
            for n in (1, 2):
                await acts.create(debate(n))
                await acts.claim(debate(n).id, "me", 10, expect=["pending"])
            listens.follow(ID)
            # first that it should look, as steps may have gone past before it listened
            await hearing.until(lambda heard: Changed(debate_id=ID) in heard)
            assert await drives.next(Wanted) == Wanted(debate_id=ID)
            hearing.heard.clear()
            for n in (1, 2):
                await acts.commit(Commit(debate_id=debate(n).id, epoch=1, turns=[turn()], events=[Shown(type="TURN")]))
            await acts.move(debate(2).id, "stopping", expect=["running"])
            await hearing.until(lambda heard: Changed(debate_id=debate(2).id, status="stopping") in heard)
            assert hearing.heard == [Changed(debate_id=ID), Changed(debate_id=debate(2).id, status="stopping")]
            listens.unfollow(ID)
            await drives.stop()

    asyncio.run(main())


def test_text_in_flight_reaches_those_who_follow_whole_and_in_order(database_url):
    words = ["Ünïcödé ", "你好 ", "\x01\x02 ", '"quoted" \\ ', "half \ud83d ", "x" * 5000] * 4

    async def main() -> None:
        async with pair(database_url) as (acts, listens, hearing):
            drives = Hearing(acts)
            await drives.next(Missed)
            acts.say(ID, "k", 0, "nobody hears this", ABOUT)
            listens.follow(ID)
            await drives.next(Wanted)
            at = 0
            for word in words:
                acts.say(ID, "k", at, word, ABOUT)
                at += len(word)
                await asyncio.sleep(0.01)
            acts.say(ID, "other", 0, "beside it", {"seat": "b"})
            whole = "".join(words).replace("\ud83d", "?")
            await hearing.until(lambda heard: hearing.text("k") == whole and hearing.text("other"))
            said = [notice for notice in hearing.heard if isinstance(notice, Said)]
            assert {notice.about["seat"] for notice in said} == {"a", "b"}
            assert len(said) < 50  # 20,000 characters in pieces, not word by word
            acts.say(ID, "k", 0, "a new try", ABOUT)
            await hearing.until(lambda heard: hearing.text("k") == "a new try")
            acts.say(ID, "k", 0, None, ABOUT)
            assert await hearing.next(Said) == Said(debate_id=ID, key="k", offset=0, text=None, about=ABOUT)
            await drives.stop()

    asyncio.run(main())


def test_a_gap_in_the_text_is_noticed_and_asked_for(database_url, monkeypatch):
    monkeypatch.setattr(talk, "ASK_SECONDS", 0.0)

    async def main() -> None:
        async with pair(database_url) as (acts, listens, hearing):
            drives = Hearing(acts)
            await drives.next(Missed)
            listens.follow(ID)
            await drives.next(Wanted)
            acts.say(ID, "k", 0, "begin ", ABOUT)
            await hearing.until(lambda heard: hearing.text("k") == "begin ")
            acts.say(ID, "k", 10, "lost its beginning", ABOUT)
            assert await drives.next(Wanted) == Wanted(debate_id=ID)
            acts.say(ID, "k", 0, "begin all", ABOUT)  # what whoever drives does when it is asked
            await hearing.until(lambda heard: hearing.text("k") == "begin all")
            await drives.stop()

    asyncio.run(main())


def test_whoever_takes_over_is_told_who_listens(database_url):
    async def main() -> None:
        async with pair(database_url) as (acts, listens, hearing):
            await acts.create(debate(1))
            listens.follow(ID)
            await hearing.until(lambda heard: Changed(debate_id=ID) in heard)
            late = PostgresStore(database_url)  # it was not there when the other said `wanted`
            hears = Hearing(late)
            await hears.next(Missed)
            await late.claim(ID, "late", 10, expect=["pending"])
            assert await hears.next(Wanted) == Wanted(debate_id=ID)
            await hears.stop()
            await late.close()

    asyncio.run(main())


def test_those_who_fell_silent_are_forgotten(database_url, monkeypatch):
    class Time:
        now = 1000.0

        def monotonic(self) -> float:
            return self.now

    clock = Time()
    monkeypatch.setattr(talk, "time", clock)
    monkeypatch.setattr(talk, "STILL_SECONDS", 0.05)

    async def main() -> None:
        async with pair(database_url) as (acts, listens, _):
            drives = Hearing(acts)
            await drives.next(Missed)
            listens.follow(ID)
            await drives.next(Wanted)
            assert acts._ear.wanted(ID)
            clock.now += talk.FORGET_SECONDS
            assert await drives.next(Wanted) == Wanted(debate_id=ID)  # it says that it is still there
            listens.unfollow(ID)
            async with asyncio.timeout(DEADLINE):
                while acts._ear.wanted(ID):
                    clock.now += talk.FORGET_SECONDS
                    await asyncio.sleep(0.02)
            await drives.stop()

    asyncio.run(main())


def test_what_comes_too_fast_for_a_reader_is_looked_up(database_url, monkeypatch):
    monkeypatch.setattr(talk, "BACKLOG", 5)

    async def main() -> None:
        async with pair(database_url) as (acts, _, hearing):
            for n in range(20):
                await acts.create(debate(n))
            # nobody has read yet: what did not fit has become one `Missed`, and what came after it
            async with asyncio.timeout(DEADLINE):
                while Changed(debate_id=debate(19).id, status="pending") not in hearing.heard:
                    await hearing.next(Missed, Changed)

    asyncio.run(main())


def test_garbage_on_the_channels_is_no_harm(database_url):
    async def main() -> None:
        async with pair(database_url) as (acts, listens, hearing):
            listens.follow(ID)
            await hearing.until(lambda heard: Changed(debate_id=ID) in heard)
            noise = ["said not json", "said []", 'said {"key": 1}', "", "x y z"]
            execute_async = [("moot:" + ID, each) for each in noise] + [("moot", each) for each in noise]
            async with acts._links.one() as link:
                await talk._notify(link, execute_async)
            await acts.create(debate(2))
            await hearing.until(lambda heard: Changed(debate_id=debate(2).id, status="pending") in heard)

    asyncio.run(main())


def test_a_listener_that_lost_its_connection_comes_back_and_looks_at_everything(database_url):
    async def main() -> None:
        async with wire_to(database_url) as wire, pair(database_url, wire.url) as (acts, listens, hearing):
            listens.follow(ID)
            await hearing.until(lambda heard: Changed(debate_id=ID) in heard)
            for writer in list(wire._writers):
                writer.transport.abort()
            await hearing.next(Missed)
            await hearing.until(lambda heard: Changed(debate_id=ID) in heard)  # it listens there again, too
            await acts.create(debate(1))
            await hearing.until(lambda heard: Changed(debate_id=ID, status="pending") in heard)

    asyncio.run(main())


@pytest.mark.slow
def test_a_listener_outlives_a_restart(cluster: Cluster):
    execute(cluster.url(), "drop database if exists heard with (force)", "create database heard")
    url = other(cluster.url(), "heard")

    async def main() -> None:
        async with pair(url) as (acts, _, hearing):
            await acts.open()
            await asyncio.to_thread(cluster.restart)
            await hearing.next(Missed)
            await acts.create(debate(1))
            assert await hearing.next(Changed) == Changed(debate_id=ID, status="pending")

    asyncio.run(main())
