"""What processes tell one another through LISTEN and NOTIFY, on two kinds of channels:

moot        every process hears it: `changed ID STATUS`, `changed ID`, `wanted ID`, `still ID`
moot:ID     whoever follows that debate hears it: `changed`, and `said JSON`

A step's commit and text in flight are only told while someone elsewhere wants them: with nobody there, driving a debate
costs no notification. Whoever follows says `wanted`, and `still` from time to time; whoever drives forgets those who
fell silent. A notification can be missed, so nothing depends on one: it only says where to look sooner.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any

from moot.store import Changed, Missed, Notice, Said, Wanted
from moot.store.postgres.link import Link, Links, sql
from moot.store.rows import dumps
from moot.types import Json

EVERYONE = "moot"
STILL_SECONDS = 10.0  # how often a follower repeats that it is there
FORGET_SECONDS = 30.0  # after which a silent follower is thought gone
ASK_SECONDS = 1.0  # within which nobody asks again for text that went past
SAY_SECONDS = 0.05  # text is collected this long
PIECE = 1200  # characters of text in a notification: at most 6 bytes each, and PostgreSQL takes 8,000
MAX_UNSAID = 200_000  # characters that wait at most; past that they are dropped, and followers ask again
BACKLOG = 10_000
FIRST_WAIT, LONGEST_WAIT = 0.05, 5.0


class Ear:
    """A connection that only listens. It comes back by itself, and then says `Missed`."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._queue: asyncio.Queue[Notice] = asyncio.Queue(BACKLOG)
        self._follows: set[str] = set()
        self._asks: set[str] = set()  # to be said `wanted` for, once we listen
        self._heard: dict[tuple[str, str], int] = {}  # how much of each step's text has come
        self._asked: dict[str, float] = {}  # when, the last time
        self._wanted: dict[str, float] = {}  # by debate, until when
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wanted(self, debate_id: str) -> bool:
        """Whether someone elsewhere follows it."""
        until = self._wanted.get(debate_id)
        return until is not None and time.monotonic() < until

    def follow(self, debate_id: str) -> None:
        self._follows.add(debate_id)
        self._ask(debate_id)

    def unfollow(self, debate_id: str) -> None:
        self._follows.discard(debate_id)
        self._asked.pop(debate_id, None)
        self._heard = {key: size for key, size in self._heard.items() if key[0] != debate_id}
        self._changed.set()

    async def notices(self) -> AsyncGenerator[Notice]:
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="moot-ear")
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
            link: Link | None = None
            try:
                link = await self._links.new()
                await self._attend(link)
            except Exception:
                pass  # the server is gone, or takes no LISTEN: whoever needs to know looks for themselves meanwhile
            finally:
                if link is not None:
                    self._links.drop(link)
            wait = FIRST_WAIT if link is not None else min(2 * wait, LONGEST_WAIT)
            await asyncio.sleep(wait)

    async def _attend(self, link: Link) -> None:
        """Until the connection ends."""
        link.add_termination_listener(lambda _: self._changed.set())
        await link.add_listener(EVERYONE, self._hear)
        listening: set[str] = set()
        self._asks |= self._follows
        self._put(Missed())
        while not link.is_closed():
            for debate_id in listening - self._follows:
                await link.remove_listener(channel(debate_id), self._hear)
            for debate_id in self._follows - listening:
                await link.add_listener(channel(debate_id), self._hear)
                self._put(Changed(debate_id=debate_id))  # what came before we listened
            listening = set(self._follows)
            asks, self._asks = self._asks & self._follows, set()
            await _notify(link, [(EVERYONE, f"wanted {debate_id}") for debate_id in asks])
            try:
                async with asyncio.timeout(STILL_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                await link.execute("select 1")  # is it still there?
                await _notify(link, [(EVERYONE, f"still {debate_id}") for debate_id in listening])
            self._changed.clear()

    def _hear(self, _: Any, pid: int, where: str, payload: str) -> None:
        if pid in self._links.pids:
            return  # that was us
        verb, _, rest = payload.partition(" ")
        if where != EVERYONE:
            debate_id = where.removeprefix(f"{EVERYONE}:")
            if verb == "said":
                with suppress(ValueError, KeyError, TypeError):  # anyone may notify this channel
                    self._said(debate_id, json.loads(rest))
            else:
                self._put(Changed(debate_id=debate_id))
            return
        debate_id, _, status = rest.partition(" ")
        if verb == "changed":
            if debate_id in self._follows:
                self._ask(debate_id)  # someone new may drive it
            self._put(Changed(debate_id=debate_id, status=status or None))  # pyright: ignore[reportArgumentType]
        elif verb in ("wanted", "still"):
            now = time.monotonic()
            new = not self.wanted(debate_id)
            self._wanted = {each: until for each, until in self._wanted.items() if until > now}
            self._wanted[debate_id] = now + FORGET_SECONDS
            if new or verb == "wanted":
                self._put(Wanted(debate_id=debate_id))

    def _said(self, debate_id: str, told: Json) -> None:
        key, offset, text = told["key"], told["offset"], told["text"]
        if text is None:
            self._heard.pop((debate_id, key), None)
        elif offset and offset != self._heard.get((debate_id, key)):
            if time.monotonic() - self._asked.get(debate_id, 0.0) > ASK_SECONDS:
                self._ask(debate_id)  # some of it went past us
            return
        else:
            self._heard[debate_id, key] = offset + len(text)
        self._put(Said(debate_id=debate_id, key=key, offset=offset, text=text, about=told["about"]))

    def _ask(self, debate_id: str) -> None:
        self._asked[debate_id] = time.monotonic()
        self._asks.add(debate_id)
        self._changed.set()

    def _put(self, notice: Notice) -> None:
        if self._queue.full():
            while not self._queue.empty():
                self._queue.get_nowait()
            notice = Missed()
        self._queue.put_nowait(notice)


class Mouth:
    """Says text in flight to those who follow, a little at a time. What can't be said now is not said."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._unsaid: dict[tuple[str, str], list[Json]] = {}
        self._size = 0
        self._task: asyncio.Task[None] | None = None

    def say(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        pieces = self._unsaid.setdefault((debate_id, key), [])
        last = pieces[-1] if pieces else None
        if text and last is not None and last["text"] and last["offset"] + len(last["text"]) == offset:
            last["text"] += text
        elif text is None or offset == 0:
            pieces[:] = [{"key": key, "offset": offset, "text": text, "about": about}]
        else:
            pieces.append({"key": key, "offset": offset, "text": text, "about": about})
        self._size += len(text or "")
        if self._size > MAX_UNSAID:
            self._unsaid.clear()
            self._size = 0
        if self._task is None:
            self._task = asyncio.create_task(self._speak(), name="moot-mouth")

    async def close(self) -> None:
        if self._task is not None:
            await self._task

    async def _speak(self) -> None:
        try:
            while True:
                await asyncio.sleep(SAY_SECONDS)
                if not self._unsaid:
                    return
                unsaid, self._unsaid, self._size = self._unsaid, {}, 0
                told = [
                    (channel(debate_id), payload)
                    for (debate_id, _), pieces in unsaid.items()
                    for piece in pieces
                    for payload in _payloads(piece)
                ]
                try:
                    async with self._links.one() as link:
                        await _notify(link, told)
                except Exception:
                    pass  # followers see the gap, and ask again
        finally:
            self._task = None


def channel(debate_id: str) -> str:
    return f"{EVERYONE}:{debate_id}"[:63]


async def _notify(link: Link, told: list[tuple[str, str]]) -> None:
    if told:
        channels, payloads = zip(*told, strict=True)
        await sql("notify").on(link, {"channels": channels, "payloads": payloads})


def _payloads(piece: Json) -> list[str]:
    text, offset = piece["text"], piece["offset"]
    if text is None:
        return [f"said {dumps(piece)}"]
    # Half a character, which a stream may end with, can't be sent.
    text = text.encode("utf-8", "replace").decode()
    parts = range(0, max(len(text), 1), PIECE)
    return [f"said {dumps({**piece, 'offset': offset + at, 'text': text[at : at + PIECE]})}" for at in parts]
