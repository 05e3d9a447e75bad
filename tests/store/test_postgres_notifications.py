"""Notices between processes: two stores on one database stand for two processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from moot.core.types import Gate, Shown
from moot.store import Changed, Commit, Followed, Notice, RemoteText, Resync
from moot.store.postgres import PostgresStore, notifications
from tests.postgres import Cluster
from tests.store.conftest import closing_store
from tests.store.proxy import proxy_to
from tests.store.samples import OUTCOME, debate, turn

DEADLINE = 60
ID = debate(1).id
ABOUT = {"seat": "a", "round": 1}


class Inbox:
    """The notices that one store receives, read on demand."""

    def __init__(self, store: PostgresStore) -> None:
        self.notices: list[Notice] = []
        self._notices = store.notices()

    async def until(self, condition: Callable[[list[Notice]], Any]) -> Any:
        async with asyncio.timeout(DEADLINE):
            while not (found := condition(self.notices)):
                self.notices.append(await anext(self._notices))
        return found

    async def next(self, *kinds: type) -> Notice:
        """Return the next notice of these kinds, and drop those before it."""
        self.notices.clear()
        return await self.until(lambda notices: next((n for n in notices if isinstance(n, kinds)), None))

    def text(self, key: str) -> str:
        """The step's text as a watcher sees it."""
        text = ""
        for notice in self.notices:
            if isinstance(notice, RemoteText) and notice.key == key:
                assert notice.offset in (0, len(text))
                text = text[: notice.offset] + (notice.text or "")
        return text

    async def stop(self) -> None:
        await self._notices.aclose()


@asynccontextmanager
async def listening(store: PostgresStore) -> AsyncIterator[Inbox]:
    inbox = Inbox(store)
    await inbox.next(Resync)
    try:
        yield inbox
    finally:
        await inbox.stop()


@asynccontextmanager
async def pair(url: str, far_url: str | None = None) -> AsyncIterator[tuple[PostgresStore, PostgresStore, Inbox]]:
    """A store that sends, one that receives, and the latter's inbox, which already listens."""
    sender, receiver = PostgresStore(url), PostgresStore(far_url or url)
    async with closing_store(sender), closing_store(receiver), listening(receiver) as inbox:
        yield sender, receiver, inbox


async def test_sqlite_has_no_notices(on_sqlite):
    on_sqlite.follow(ID)
    on_sqlite.publish_text(ID, "k", 0, "words", {})
    on_sqlite.unfollow(ID)
    assert [notice async for notice in on_sqlite.notices()] == []


async def test_changes_are_notified_to_every_process(database_url):
    async with pair(database_url) as (sender, _, inbox):
        made = await sender.create(debate(1))
        assert await inbox.next(Changed) == Changed(debate_id=ID, status="pending")
        await sender.claim(made.id, "me", 10, expect=["pending"])
        assert await inbox.next(Changed) == Changed(debate_id=ID, status="running")
        await sender.move(made.id, "stopping", expect=["running"])
        assert await inbox.next(Changed) == Changed(debate_id=ID, status="stopping")
        await sender.guide(made.id, "Look.", by="ann")
        assert await inbox.next(Changed) == Changed(debate_id=ID)
        gate = Gate(debate_id=ID, key="k", kind="approval", question="?")
        await sender.commit(Commit(debate_id=ID, epoch=1, status="waiting", gates=[gate], release=True))
        assert await inbox.next(Changed) == Changed(debate_id=ID, status="waiting")
        await sender.decide(ID, "k", {"choice": "yes"}, by="ann")
        assert await inbox.next(Changed) == Changed(debate_id=ID)
        await sender.claim(ID, "me", 10, expect=["waiting"])
        await sender.commit(Commit(debate_id=ID, epoch=2, status="completed", outcome=OUTCOME, release=True))
        await sender.rate(ID, 5)
        await inbox.until(lambda notices: notices[-3:] == [
            Changed(debate_id=ID, status="running"),
            Changed(debate_id=ID, status="completed"),
            Changed(debate_id=ID),
        ])  # fmt: skip


async def test_refused_changes_are_not_notified(database_url):
    async with pair(database_url) as (sender, _, inbox):
        await sender.create(debate(1))
        assert await sender.move(ID, "stopping", expect=["running"]) is None
        assert await sender.claim(ID, "me", 10, expect=["running"]) is None
        assert await sender.decide(ID, "k", {}, by="ann") is None
        assert await sender.commit(Commit(debate_id=ID, epoch=1, status="failed")) is None
        await sender.create(debate(2))
        await inbox.until(lambda notices: Changed(debate_id=debate(2).id, status="pending") in notices)
        assert inbox.notices[1:] == [
            Changed(debate_id=ID, status="pending"),
            Changed(debate_id=debate(2).id, status="pending"),
        ]


async def test_a_process_does_not_receive_its_own_changes(database_url):
    async with pair(database_url) as (sender, receiver, inbox):
        await receiver.create(debate(1))
        await receiver.claim(ID, "me", 10, expect=["pending"])
        await receiver.commit(Commit(debate_id=ID, epoch=1, status="failed"))
        await sender.create(debate(2))
        assert await inbox.next(Changed) == Changed(debate_id=debate(2).id, status="pending")


async def test_steps_are_notified_only_while_the_debate_is_followed(database_url):
    async with pair(database_url) as (sender, receiver, inbox), listening(sender) as driver:
        for n in (1, 2):
            await sender.create(debate(n))
            await sender.claim(debate(n).id, "me", 10, expect=["pending"])
        receiver.follow(ID)
        # a follower first has to read, as steps may have been notified before it listened
        await inbox.until(lambda notices: Changed(debate_id=ID) in notices)
        assert await driver.next(Followed) == Followed(debate_id=ID)
        inbox.notices.clear()
        for n in (1, 2):
            await sender.commit(Commit(debate_id=debate(n).id, epoch=1, turns=[turn()], events=[Shown(type="TURN")]))
        await sender.move(debate(2).id, "stopping", expect=["running"])
        await inbox.until(lambda notices: Changed(debate_id=debate(2).id, status="stopping") in notices)
        assert inbox.notices == [Changed(debate_id=ID), Changed(debate_id=debate(2).id, status="stopping")]
        receiver.unfollow(ID)


async def test_text_in_flight_reaches_followers_complete_and_in_order(database_url):
    words = ["Ünïcödé ", "你好 ", "\x01\x02 ", '"quoted" \\ ', "half \ud83d ", "x" * 5000] * 4
    async with pair(database_url) as (sender, receiver, inbox), listening(sender) as driver:
        sender.publish_text(ID, "k", 0, "not followed yet", ABOUT)
        receiver.follow(ID)
        await driver.next(Followed)
        at = 0
        for word in words:
            sender.publish_text(ID, "k", at, word, ABOUT)
            at += len(word)
            await asyncio.sleep(0.01)
        sender.publish_text(ID, "other", 0, "beside it", {"seat": "b"})
        whole = "".join(words).replace("\ud83d", "?")
        await inbox.until(lambda notices: inbox.text("k") == whole and inbox.text("other"))
        texts = [notice for notice in inbox.notices if isinstance(notice, RemoteText)]
        assert {notice.about["seat"] for notice in texts} == {"a", "b"}
        assert len(texts) < 50  # 20,000 characters in pieces, not word by word
        sender.publish_text(ID, "k", 0, "a new try", ABOUT)
        await inbox.until(lambda notices: inbox.text("k") == "a new try")
        sender.publish_text(ID, "k", 0, None, ABOUT)
        assert await inbox.next(RemoteText) == RemoteText(debate_id=ID, key="k", offset=0, text=None, about=ABOUT)


async def test_a_gap_in_the_text_is_detected_and_asked_for(database_url, monkeypatch):
    monkeypatch.setattr(notifications, "ASK_SECONDS", 0.0)
    async with pair(database_url) as (sender, receiver, inbox), listening(sender) as driver:
        receiver.follow(ID)
        await driver.next(Followed)
        sender.publish_text(ID, "k", 0, "begin ", ABOUT)
        await inbox.until(lambda notices: inbox.text("k") == "begin ")
        sender.publish_text(ID, "k", 10, "lost its beginning", ABOUT)
        assert await driver.next(Followed) == Followed(debate_id=ID)
        sender.publish_text(ID, "k", 0, "begin all", ABOUT)  # as the driver does when it is asked
        await inbox.until(lambda notices: inbox.text("k") == "begin all")


async def test_a_new_driver_learns_that_the_debate_is_followed(database_url):
    async with pair(database_url) as (sender, receiver, inbox):
        await sender.create(debate(1))
        receiver.follow(ID)
        await inbox.until(lambda notices: Changed(debate_id=ID) in notices)
        # it was not there when `follow` was sent
        async with closing_store(PostgresStore(database_url)) as late, listening(late) as driver:
            await late.claim(ID, "late", 10, expect=["pending"])
            assert await driver.next(Followed) == Followed(debate_id=ID)


async def test_silent_followers_are_forgotten(database_url, monkeypatch):
    class Time:
        now = 1000.0

        def monotonic(self) -> float:
            return self.now

    clock = Time()
    monkeypatch.setattr(notifications, "time", clock)
    monkeypatch.setattr(notifications, "FOLLOWING_SECONDS", 0.05)
    async with pair(database_url) as (sender, receiver, _), listening(sender) as driver:
        receiver.follow(ID)
        await driver.next(Followed)
        assert sender._listener.is_followed(ID)
        clock.now += notifications.FORGET_SECONDS
        assert await driver.next(Followed) == Followed(debate_id=ID)  # from its `following`
        receiver.unfollow(ID)
        async with asyncio.timeout(DEADLINE):
            while sender._listener.is_followed(ID):
                clock.now += notifications.FORGET_SECONDS
                await asyncio.sleep(0.02)


async def test_notices_beyond_the_limit_become_a_resync(database_url, monkeypatch):
    monkeypatch.setattr(notifications, "MAX_NOTICES", 5)
    async with pair(database_url) as (sender, _, inbox):
        for n in range(20):
            await sender.create(debate(n))
        # not read yet: what did not fit has become one `Resync`, followed by what came after it
        async with asyncio.timeout(DEADLINE):
            while Changed(debate_id=debate(19).id, status="pending") not in inbox.notices:
                await inbox.next(Resync, Changed)


async def test_garbage_on_the_channels_is_ignored(database_url):
    async with pair(database_url) as (sender, receiver, inbox):
        receiver.follow(ID)
        await inbox.until(lambda notices: Changed(debate_id=ID) in notices)
        noise = ["text not json", "text []", 'text {"key": 1}', "", "x y z"]
        garbage = [("moot:" + ID, each) for each in noise] + [("moot", each) for each in noise]
        async with sender._pool.connection() as connection:
            await notifications.notify(connection, garbage)
        await sender.create(debate(2))
        await inbox.until(lambda notices: Changed(debate_id=debate(2).id, status="pending") in notices)


async def test_a_listener_reconnects_and_resyncs(database_url):
    async with proxy_to(database_url) as proxy, pair(database_url, proxy.url) as (sender, receiver, inbox):
        receiver.follow(ID)
        await inbox.until(lambda notices: Changed(debate_id=ID) in notices)
        for writer in list(proxy._writers):
            writer.transport.abort()
        await inbox.next(Resync)
        await inbox.until(lambda notices: Changed(debate_id=ID) in notices)  # it listens to that channel again
        await sender.create(debate(1))
        await inbox.until(lambda notices: Changed(debate_id=ID, status="pending") in notices)


@pytest.mark.slow
async def test_a_listener_survives_a_restart(cluster: Cluster, database_to_restart: str):
    async with pair(database_to_restart) as (sender, _, inbox):
        await sender.open()
        await asyncio.to_thread(cluster.restart)
        await inbox.next(Resync)
        await sender.create(debate(1))
        assert await inbox.next(Changed) == Changed(debate_id=ID, status="pending")
