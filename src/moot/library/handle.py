"""A debate to work with, in asynchronous code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from moot import formats
from moot.client import Client
from moot.client.answering import read_words
from moot.client.exporting import file_of, write_file
from moot.client.shorthand import settings_of
from moot.core import types
from moot.core.artifacts import Version
from moot.core.errors import MootError
from moot.core.lifecycle import DriveVerb
from moot.core.types import Json
from moot.library.events import Event
from moot.library.snapshot import METHODS, Snapshot
from moot.library.view import DebateView
from moot.reasoning.claims import Ledger
from moot.records.compare import Comparison
from moot.runtime.replay import Proof


class AsyncDebate(DebateView):
    """A debate. `async for event in debate` gives its events until it rests; `await debate.wait()` only waits.

    What it shows is as of the last look; every method looks again.
    """

    def __init__(self, client: Client, seen: Snapshot) -> None:
        super().__init__(seen)
        self._client = client
        self._heard = 0  # the newest event that was iterated over

    def __aiter__(self) -> AsyncIterator[Event]:
        return self.events(after=self._heard)

    async def events(self, after: int = 0) -> AsyncGenerator[Event, None]:
        """The events after the number `after`, as they happen, until the debate rests."""
        wording = formats.wording_of(self._seen.debate)
        async with aclosing(self._updates(after)) as all_events:
            async for event in all_events:
                self._heard = max(self._heard, event.seq)
                yield Event.of(event, self._seen.debate, wording)

    async def wait(self) -> Self:
        """Wait until the debate rests: it is decided, waits for an answer, was stopped, or failed."""
        newest = self._seen.events[-1].seq if self._seen.events else 0
        async with aclosing(self._updates(newest)) as all_events:
            async for _ in all_events:
                pass
        return self

    async def refresh(self) -> Self:
        """Look at the debate again."""
        with _noted():
            debate = await self._client.find(self.id)
        self._seen = await Snapshot.taken(self._client, debate)
        return self

    async def answer(self, words: str = "", text: str = "", *, key: str | None = None) -> Self:
        """Answer what the debate asks, and let it go on. `words`: where it offers choices, one of them or its
        beginning; otherwise the answer itself. `text`: what else is to be said. `key`: which question, if several are
        open."""
        with _noted():
            gate = await self._client.open_gate(self._seen.debate, key)
            given = read_words(gate, words)
            said = " ".join(filter(None, [given.text, text]))
            await self._client.answer(self._seen.debate, given.choice, said, key=gate.key)
        return await self.refresh()

    async def guide(self, text: str) -> Self:
        """Say something that every participant reads before its next answer."""
        with _noted():
            await self._client.guide(self._seen.debate, text)
        return await self.refresh()

    async def start(self) -> Self:
        """Begin a debate that was created with `start=False`."""
        return await self._go_on("start")

    async def resume(self) -> Self:
        """Go on with a debate that was stopped, or whose process is gone."""
        return await self._go_on("resume")

    async def retry(self) -> Self:
        """Try the open steps of a failed debate again."""
        return await self._go_on("retry")

    async def stop(self, *, now: bool = False) -> Self:
        """Stop after the step in progress, which is cut off with `now`. It can be resumed."""
        with _noted():
            await self._client.stop(self._seen.debate, now=now)
        return await self.refresh()

    async def cancel(self) -> Self:
        """End the debate for good, without a verdict."""
        with _noted():
            await self._client.cancel(self._seen.debate)
        return await self.refresh()

    async def rate(self, rating: int) -> Self:
        """Say how good it was, from 1 (poor) to 5 (very good)."""
        with _noted():
            await self._client.rate(self._seen.debate, rating)
        return await self.refresh()

    async def label(
        self,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        tags: Iterable[str] | None = None,
    ) -> Self:
        """Rename, pin, archive or tag it, to find it again; what is left out stays as it is. `title=""`: its question
        is its title again. `tags`: all that it is to have."""
        with _noted():
            await self._client.label(self._seen.debate, title=title, pinned=pinned, archived=archived, tags=tags)
        return await self.refresh()

    async def turned_out(self, right: float | None, note: str = "") -> Self:
        """Record how the decision turned out: 1 or True (right), 0 or False (wrong), or between; None takes it back."""
        with _noted():
            await self._client.turned_out(self._seen.debate, None if right is None else float(right), note)
        return await self.refresh()

    async def delete(self) -> None:
        """Delete the debate and everything of it, for good. Its forks stay."""
        with _noted():
            await self._client.delete(self.id)

    async def fork(
        self,
        at: str | None = None,
        *,
        guide: str | None = None,
        model: str | None = None,
        judge_model: str | None = None,
        start: bool = True,
        **settings: Any,
    ) -> AsyncDebate:
        """Branch off at the step with the key `at`, which is asked anew, with other settings or guidance from there on;
        without `at`, where the debate stands. The branch begins at once."""
        with _noted():
            changes = settings_of(self._client.app, self.format, settings, model=model, judge_model=judge_model)
            made = await self._client.fork(self._seen.debate, at, changes, guidance=guide, start=start)
        return await AsyncDebate.of(self._client, made)

    async def replay(self) -> Proof:
        """Run the rules over the stored turns again, without a model. `.same` says whether the transcript is the same
        byte for byte."""
        with _noted():
            return await self._client.replay(self._seen.debate)

    async def audit(self) -> Json:
        """Everything that is stored, with every message that was sent to a model."""
        with _noted():
            return await self._client.audit(self._seen.debate)

    async def versions(self) -> list[Version]:
        """The versions of code that the debate has written, in order."""
        with _noted():
            return list(await self._client.versions(self._seen.debate))

    async def claims(self) -> Ledger | None:
        """The claims that were made, and what became of each; None if the debate keeps no ledger."""
        with _noted():
            return await self._client.claims(self._seen.debate)

    async def compare(self, other: DebateView | str) -> Comparison:
        """Where two debates part."""
        with _noted():
            two = await self._client.find(other if isinstance(other, str) else other.id)
            return await self._client.compare(self._seen.debate, two)

    async def html(self) -> str:
        """The debate as one file for a browser, which needs nothing else: its answer, its record and what was said."""
        with _noted():
            return await self._client.html(self._seen.debate)

    async def export(self, path: str | Path) -> None:
        """Write everything of the debate to a file that `moot import` reads back; packed if its name ends with
        `.gz`."""
        with _noted():
            await write_file(self._client.transfer.export([self._seen.debate]), file_of(path))

    @classmethod
    async def of(cls, client: Client, debate: types.Debate) -> Self:
        return cls(client, await Snapshot.taken(client, debate))

    async def _go_on(self, verb: DriveVerb) -> Self:
        with _noted():
            await self._client.go_on(await self._client.find(self.id, "run"), verb)
        return await self.refresh()

    async def _updates(self, after: int) -> AsyncGenerator[types.Event, None]:
        """Events as they happen, kept in what the handle shows, until the debate rests."""
        await self.refresh()
        newest = self._seen.events[-1].seq if self._seen.events else 0
        for event in self._seen.events:
            if event.seq > after:
                yield event
        if not self.running:
            return
        async with aclosing(self._client.follow(self._seen.debate, max(after, newest))) as updates:
            async for update in updates:
                if update.events:
                    self._seen = self._seen.heard(update.events, await self._client.store.get(self.id))
                for event in update.events:
                    yield event
        await self.refresh()


async def run_to_rest(debate: AsyncDebate) -> AsyncDebate:
    """Wait for a debate, which is stopped if the wait is canceled."""
    try:
        return await debate.wait()
    except asyncio.CancelledError:
        with suppress(MootError):  # it has just ended by itself
            await debate.stop(now=True)
        raise


@contextmanager
def _noted() -> Generator[None]:
    """Add to an error, as a note, the method that does what it advises."""
    try:
        yield
    except MootError as error:
        method = METHODS.get(error.remedy)
        if method is not None or error.remedy in ("start", "resume", "retry"):
            error.add_note(f"With Python: debate.{method or f'{error.remedy}()'}")
        raise
