"""Notices between processes, over LISTEN and NOTIFY on two kinds of channels:

moot        heard by every process: `changed ID STATUS`, `changed ID`, `follow ID`, `following ID`
moot:ID     heard by those that follow the debate: `changed`, and `text JSON`

Steps and text in flight are only notified while another process follows the debate, so that driving one without
followers costs no notification. A follower sends `follow`, and then `following` from time to time; a driver forgets
followers that fall silent. Notifications can be lost, so nothing depends on one: they only save a process from polling.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any

from moot.core.types import Json
from moot.store import Changed, Followed, Notice, RemoteText, Resync
from moot.store.columns import dumps
from moot.store.postgres.connections import Connection, Pool, sql

EVERYONE = "moot"
FOLLOWING_SECONDS = 10.0  # how often a follower repeats that it follows
FORGET_SECONDS = 30.0  # after which a silent follower is forgotten
ASK_SECONDS = 1.0  # between two requests for text that was missed
COLLECT_SECONDS = 0.05  # for which text is collected before it is sent
MAX_PIECE = 1200  # characters of text in a notification: at most 6 bytes each, and PostgreSQL takes 8,000
MAX_UNSENT = 200_000  # characters that wait to be sent; past that they are dropped, and followers ask again
MAX_NOTICES = 10_000  # that wait for the reader; past that they become one `Resync`
FIRST_WAIT, LONGEST_WAIT = 0.05, 5.0  # back-off between tries to connect, in seconds


class Listener:
    """A connection that listens. It reconnects by itself, and then yields `Resync`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._queue: asyncio.Queue[Notice] = asyncio.Queue(MAX_NOTICES)
        self._follows: set[str] = set()  # debates followed here
        self._to_ask: set[str] = set()  # those to send `follow` for
        self._asked: dict[str, float] = {}  # when that was last done
        self._received: dict[tuple[str, str], int] = {}  # length of each step's text so far
        self._followed: dict[str, float] = {}  # debates followed elsewhere, and until when
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def is_followed(self, debate_id: str) -> bool:
        """Whether another process follows the debate."""
        until = self._followed.get(debate_id)
        return until is not None and time.monotonic() < until

    def follow(self, debate_id: str) -> None:
        self._follows.add(debate_id)
        self._ask(debate_id)

    def unfollow(self, debate_id: str) -> None:
        self._follows.discard(debate_id)
        self._asked.pop(debate_id, None)
        self._received = {key: size for key, size in self._received.items() if key[0] != debate_id}
        self._wake.set()

    async def notices(self) -> AsyncGenerator[Notice]:
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="moot-listener")
        while True:
            yield await self._queue.get()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _listen(self) -> None:
        wait = FIRST_WAIT
        while True:
            connection: Connection | None = None
            try:
                connection = await self._pool.dedicated()
                await self._listen_on(connection)
            except Exception:
                pass  # the server is gone, or takes no LISTEN: readers poll meanwhile
            finally:
                if connection is not None:
                    self._pool.discard(connection)
            wait = FIRST_WAIT if connection is not None else min(2 * wait, LONGEST_WAIT)
            await asyncio.sleep(wait)

    async def _listen_on(self, connection: Connection) -> None:
        """Returns when the connection is closed."""
        connection.add_termination_listener(lambda _: self._wake.set())
        await connection.add_listener(EVERYONE, self._receive)
        listening: set[str] = set()
        self._to_ask |= self._follows
        self._put(Resync())
        while not connection.is_closed():
            for debate_id in listening - self._follows:
                await connection.remove_listener(channel(debate_id), self._receive)
            for debate_id in self._follows - listening:
                await connection.add_listener(channel(debate_id), self._receive)
                self._put(Changed(debate_id=debate_id))  # for what was notified before we listened
            listening = set(self._follows)
            to_ask, self._to_ask = self._to_ask & self._follows, set()
            await notify(connection, [(EVERYONE, f"follow {debate_id}") for debate_id in to_ask])
            try:
                async with asyncio.timeout(FOLLOWING_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                await connection.execute("select 1")  # raises when the connection is dead
                await notify(connection, [(EVERYONE, f"following {debate_id}") for debate_id in listening])
            self._wake.clear()

    def _receive(self, _: Any, pid: int, where: str, payload: str) -> None:
        if pid in self._pool.pids:
            return  # our own
        verb, _, rest = payload.partition(" ")
        if where != EVERYONE:
            debate_id = where.removeprefix(f"{EVERYONE}:")
            if verb == "text":
                with suppress(ValueError, KeyError, TypeError):  # anyone may notify this channel
                    self._receive_text(debate_id, json.loads(rest))
            else:
                self._put(Changed(debate_id=debate_id))
            return
        debate_id, _, status = rest.partition(" ")
        if verb == "changed":
            if debate_id in self._follows:
                self._ask(debate_id)  # it may have a new driver, who does not know yet
            self._put(Changed(debate_id=debate_id, status=status or None))  # pyright: ignore[reportArgumentType]
        elif verb in ("follow", "following"):
            now = time.monotonic()
            new = not self.is_followed(debate_id)
            self._followed = {each: until for each, until in self._followed.items() if until > now}
            self._followed[debate_id] = now + FORGET_SECONDS
            if new or verb == "follow":
                self._put(Followed(debate_id=debate_id))

    def _receive_text(self, debate_id: str, piece: Json) -> None:
        key, offset, text = piece["key"], piece["offset"], piece["text"]
        if text is None:
            self._received.pop((debate_id, key), None)
        elif offset and offset != self._received.get((debate_id, key)):
            if time.monotonic() - self._asked.get(debate_id, 0.0) > ASK_SECONDS:
                self._ask(debate_id)  # a piece is missing: have the text sent from its start
            return
        else:
            self._received[debate_id, key] = offset + len(text)
        self._put(RemoteText(debate_id=debate_id, key=key, offset=offset, text=text, about=piece["about"]))

    def _ask(self, debate_id: str) -> None:
        self._asked[debate_id] = time.monotonic()
        self._to_ask.add(debate_id)
        self._wake.set()

    def _put(self, notice: Notice) -> None:
        if self._queue.full():
            while not self._queue.empty():
                self._queue.get_nowait()
            notice = Resync()
        self._queue.put_nowait(notice)


class TextPublisher:
    """Sends text in flight to followers in batches. Best effort: what can't be sent is dropped, and asked for again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._unsent: dict[tuple[str, str], list[Json]] = {}
        self._size = 0
        self._task: asyncio.Task[None] | None = None

    def publish(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        pieces = self._unsent.setdefault((debate_id, key), [])
        last = pieces[-1] if pieces else None
        if text and last is not None and last["text"] and last["offset"] + len(last["text"]) == offset:
            last["text"] += text
        elif text is None or offset == 0:
            pieces[:] = [{"key": key, "offset": offset, "text": text, "about": about}]
        else:
            pieces.append({"key": key, "offset": offset, "text": text, "about": about})
        self._size += len(text or "")
        if self._size > MAX_UNSENT:
            self._unsent.clear()
            self._size = 0
        if self._task is None:
            self._task = asyncio.create_task(self._send(), name="moot-publisher")

    async def close(self) -> None:
        if self._task is not None:
            await self._task

    async def _send(self) -> None:
        try:
            while True:
                await asyncio.sleep(COLLECT_SECONDS)
                if not self._unsent:
                    return
                unsent, self._unsent, self._size = self._unsent, {}, 0
                notifications = [
                    (channel(debate_id), payload)
                    for (debate_id, _), pieces in unsent.items()
                    for piece in pieces
                    for payload in _payloads(piece)
                ]
                try:
                    async with self._pool.connection() as connection:
                        await notify(connection, notifications)
                except Exception:
                    pass  # followers notice the gap, and ask again
        finally:
            self._task = None


def channel(debate_id: str) -> str:
    return f"{EVERYONE}:{debate_id}"[:63]


async def notify(connection: Connection, notifications: list[tuple[str, str]]) -> None:
    """Send (channel, payload) pairs."""
    if notifications:
        channels, payloads = zip(*notifications, strict=True)
        await sql("notify").on(connection, {"channels": channels, "payloads": payloads})


def _payloads(piece: Json) -> list[str]:
    text, offset = piece["text"], piece["offset"]
    if text is None:
        return [f"text {dumps(piece)}"]
    # A stream may end within a character: a lone surrogate can't be sent.
    text = text.encode("utf-8", "replace").decode()
    parts = range(0, max(len(text), 1), MAX_PIECE)
    return [f"text {dumps({**piece, 'offset': offset + at, 'text': text[at : at + MAX_PIECE]})}" for at in parts]
