"""The newest debates, for readers of the list.

Those who see others' debates share one look at the database for what is not private, and each token has one of its own
for what is: private debates of others take no place in the list.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from moot.core.types import Debate
from moot.runtime.runtime import Runtime
from moot.store import Viewer

log = logging.getLogger("moot.server")

LIST_SECONDS = 0.5  # how often to poll the newest debates
NEWEST = 50


@dataclass(frozen=True, kw_only=True)  # hashable: readers with the same look share it
class Look:
    """Which debates are looked for: those that `viewer` sees, and with `private` only private ones or only others."""

    viewer: Viewer | None = None
    private: bool | None = None


def looks_of(viewer: Viewer | None) -> list[Look]:
    """The looks that together find what a viewer sees."""
    if viewer is None or not viewer.shared:
        return [Look(viewer=viewer)]
    own = [] if viewer.token is None else [Look(viewer=Viewer(token=viewer.token, shared=False), private=True)]
    return [Look(private=False), *own]


class Newest:
    """Follows the newest debates of one look: each debate is sent again when it has changed."""

    def __init__(self, runtime: Runtime, look: Look) -> None:
        self.runtime, self.look = runtime, look
        self.readers: set[asyncio.Event] = set()
        self.debates: dict[str, Debate] = {}
        self.encoded: dict[tuple[str, str], tuple[Debate, bytes]] = {}  # by kind and id
        self._poke = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self._task = asyncio.create_task(self._run(), name="newest-debates")

    def poke(self) -> None:
        """Look now instead of at the next poll."""
        self._poke.set()

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def read(self) -> None:
        page = await self.runtime.store.page(
            limit=NEWEST, viewer=self.look.viewer, private=self.look.private, evaluation=""
        )
        found, before = {debate.id: debate for debate in reversed(page.debates)}, self.debates
        if found != before:
            # The same object where nothing has changed: what was encoded of it is used again, for new readers, too.
            self.debates = {name: before[name] if before.get(name) == each else each for name, each in found.items()}
            for key in [key for key in self.encoded if key[1] not in found]:
                del self.encoded[key]
            for reader in self.readers:
                reader.set()

    async def _run(self) -> None:
        while True:
            try:
                await self.read()
            except Exception as error:  # the next look may succeed
                log.warning("the list of debates can't be read: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(LIST_SECONDS):
                    await self._poke.wait()
            self._poke.clear()


class ListReader:
    """One connection's view of the newest debates."""

    def __init__(self, parts: Sequence[Newest], news: asyncio.Event, viewer: Viewer | None) -> None:
        self.parts, self.news, self._viewer = parts, news, viewer
        self._sent: dict[str, Debate] = {}
        for part in parts:
            part.readers.add(news)

    def leave(self) -> None:
        for part in self.parts:
            part.readers.discard(self.news)

    def take(self) -> list[Debate]:
        """The debates that changed since the last call, oldest first: a client that puts each on top ends with the
        newest there."""
        viewer = self._viewer
        found = {each.id: each for part in self.parts for each in part.debates.values()}
        seen = [each for each in found.values() if viewer is None or viewer.sees(each)]
        newest = sorted(seen, key=lambda each: (each.created_at, each.id))[-NEWEST:]
        new = [debate for debate in newest if self._sent.get(debate.id) != debate]
        self._sent = {each.id: each for each in newest}
        return new

    def encoded(self, debate: Debate, kind: str, encode: Callable[[Debate], bytes]) -> bytes:
        """Encode a debate of the list once for all connections."""
        for part in self.parts:
            if part.debates.get(debate.id) is debate:
                known = part.encoded.get((kind, debate.id))
                if known is None or known[0] is not debate:
                    known = part.encoded[kind, debate.id] = debate, encode(debate)
                return known[1]
        return encode(debate)
