"""moot in ordinary code: every method waits until it is done. Also where an event loop runs, as in notebooks."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from moot.core.artifacts import Version
from moot.core.types import Json, Status
from moot.formats.format import Effort
from moot.library.handle import AsyncDebate, run_to_rest
from moot.library.loop_thread import LoopThread
from moot.library.matches import Match
from moot.library.plans import Plan
from moot.library.session import AsyncMoot
from moot.library.snapshot import Snapshot
from moot.library.view import DebateView
from moot.reasoning.claims import Ledger
from moot.records.compare import Comparison
from moot.runtime.replay import Proof
from moot.store import KnownLesson

if TYPE_CHECKING:
    from moot.library.opening import Opening

T = TypeVar("T")


class Moot:
    """Made by `with moot.open() as m`. Debates run in a thread of their own."""

    def __init__(self, opening: Callable[[], Opening]) -> None:
        self._opening = opening
        self._opened: tuple[LoopThread, AsyncMoot] | None = None  # None: opened for each call

    def debate(
        self,
        question: str,
        *,
        format: str | None = None,
        effort: Effort | None = None,
        model: str | None = None,
        judge_model: str | None = None,
        checkpoints: bool = True,
        guide: str = "",
        key: str | None = None,
        private: bool = False,
        follows: DebateView | str | None = None,
        **settings: Any,
    ) -> Debate:
        """Debate a question, and wait until it is decided, asks a person something, or fails. `format`: the rules, or a
        preset; by default, what suits the question. `model`: of everyone, `judge_model`: of the judge alone.
        `checkpoints=False`: don't ask a person between rounds. `guide`: what everyone should bear in mind. `key`: an
        idempotency key; the same call with the same key gives the same debate. `private`: on a server with the same
        database, only admins see it. `follows`: a debate with an answer, or its id; every seat is told its question and
        its answer. Further arguments are settings of the format, such as `rounds=3`. Raises InputError before anything
        is written."""
        asked: Json = {"effort": effort, "model": model, "judge_model": judge_model, "checkpoints": checkpoints}

        async def begin(m: AsyncMoot) -> AsyncDebate:
            more: Json = {"key": key, "private": private, "follows": follows}
            return await m.debate(question, format=format, guide=guide, **more, **asked, **settings)

        return Debate(self, self.run(begin))

    def plan(
        self,
        question: str,
        *,
        format: str | None = None,
        effort: Effort | None = None,
        model: str | None = None,
        judge_model: str | None = None,
        checkpoints: bool = True,
        **settings: Any,
    ) -> Plan:
        """What `debate` with the same arguments would begin, and what it would take. Nothing is stored, no model is
        asked."""
        asked: Json = {"effort": effort, "model": model, "judge_model": judge_model, "checkpoints": checkpoints}
        return self.call(lambda m: m.plan(question, format=format, **asked, **settings))

    def get(self, debate_id: str) -> Debate:
        """A stored debate, by its id or the beginning of it."""

        async def work(m: AsyncMoot) -> Snapshot:
            return (await m.get(debate_id)).seen

        return Debate(self, self.call(work))

    def debates(
        self,
        *,
        status: Status | None = None,
        format: str | None = None,
        contains: str | None = None,
        tag: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = False,
        limit: int = 20,
    ) -> list[Debate]:
        """Stored debates, newest first. `archived`: only those in the archive, or None for all."""

        async def work(m: AsyncMoot) -> list[Snapshot]:
            found = await m.debates(
                status=status,
                format=format,
                contains=contains,
                tag=tag,
                pinned=pinned,
                archived=archived,
                limit=limit,
            )
            return [each.seen for each in found]

        return [Debate(self, seen) for seen in self.call(work)]

    def search(self, query: str, limit: int = 10) -> list[Match]:
        """Completed debates that are about something, best first."""
        return self.call(lambda m: m.search(query, limit))

    def lessons(self, query: str = "", limit: int = 20) -> list[KnownLesson]:
        """What debates have learnt: the lessons about something, best first, or without a query the newest."""
        return self.call(lambda m: m.lessons(query, limit))

    def compare(self, one: DebateView | str, two: DebateView | str) -> Comparison:
        """Where two debates part."""
        return self.call(lambda m: m.compare(one, two))

    def run(self, begin: Callable[[AsyncMoot], Coroutine[Any, Any, AsyncDebate]]) -> Snapshot:
        """Wait until the debate that `begin` returns rests. For `Debate`."""

        async def work(m: AsyncMoot) -> Snapshot:
            return (await run_to_rest(await begin(m))).seen

        return self.call(work)

    def call(self, work: Callable[[AsyncMoot], Coroutine[Any, Any, T]]) -> T:
        """Do asynchronous work and wait for it. For `Debate`."""
        if self._opened is None:
            with Moot(self._opening) as opened:  # its own: other threads may call, too
                return opened.call(work)
        thread, session = self._opened
        return thread.call(lambda: work(session))

    def __enter__(self) -> Self:
        opening, thread = self._opening(), LoopThread()

        async def session() -> AsyncMoot:
            return opening.session()

        try:
            self._opened = thread, thread.call(session)
        except BaseException:
            thread.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            (thread, session), self._opened = self._opened, None
            try:
                thread.call(session.close)
            finally:
                thread.close()


class Debate(DebateView):
    """A debate, as it stood when the last call returned. Methods that let it go on wait until it rests again."""

    def __init__(self, moot: Moot, seen: Snapshot) -> None:
        super().__init__(seen)
        self._moot = moot

    def refresh(self) -> Self:
        """Look at the debate again."""
        return self._after(lambda debate: debate.refresh())

    def wait(self) -> Self:
        """Wait until a debate that runs in another process rests."""
        return self._at_rest(lambda debate: debate.refresh())

    def answer(self, words: str = "", text: str = "", *, key: str | None = None) -> Self:
        """Answer what the debate asks, and let it go on. `words`: where it offers choices, one of them or its
        beginning; otherwise the answer itself. `text`: what else is to be said. `key`: which question, if several are
        open."""
        return self._at_rest(lambda debate: debate.answer(words, text, key=key))

    def guide(self, text: str) -> Self:
        """Say something that every participant reads before its next answer."""
        return self._after(lambda debate: debate.guide(text))

    def resume(self) -> Self:
        """Go on with a debate that was stopped, or whose process is gone."""
        return self._at_rest(lambda debate: debate.resume())

    def retry(self) -> Self:
        """Try the open steps of a failed debate again."""
        return self._at_rest(lambda debate: debate.retry())

    def stop(self, *, now: bool = False) -> Self:
        """Stop a debate that runs in another process, after the step in progress."""
        return self._after(lambda debate: debate.stop(now=now))

    def cancel(self) -> Self:
        """End the debate for good, without a verdict."""
        return self._after(lambda debate: debate.cancel())

    def rate(self, rating: int) -> Self:
        """Say how good it was, from 1 (poor) to 5 (very good)."""
        return self._after(lambda debate: debate.rate(rating))

    def label(
        self,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        tags: Iterable[str] | None = None,
    ) -> Self:
        """Rename, pin, archive or tag it, to find it again; what is left out stays as it is. `title=""`: its question
        is its title again. `tags`: all that it is to have."""
        return self._after(lambda debate: debate.label(title=title, pinned=pinned, archived=archived, tags=tags))

    def turned_out(self, right: float | None, note: str = "") -> Self:
        """Record how the decision turned out: 1 or True (right), 0 or False (wrong), or between; None takes it back."""
        return self._after(lambda debate: debate.turned_out(right, note))

    def delete(self) -> None:
        """Delete the debate and everything of it, for good. Its forks stay."""
        self._do(lambda debate: debate.delete())

    def fork(
        self,
        at: str | None = None,
        *,
        guide: str | None = None,
        model: str | None = None,
        judge_model: str | None = None,
        **settings: Any,
    ) -> Debate:
        """Branch off at the step with the key `at`, which is asked anew, with other settings or guidance from there on;
        without `at`, where the debate stands. Waits until the branch rests."""

        async def begin(m: AsyncMoot) -> AsyncDebate:
            parent = await m.get(self.id)
            return await parent.fork(at, guide=guide, model=model, judge_model=judge_model, **settings)

        return Debate(self._moot, self._moot.run(begin))

    def replay(self) -> Proof:
        """Run the rules over the stored turns again, without a model. `.same` says whether the transcript is the same
        byte for byte."""
        return self._do(lambda debate: debate.replay())

    def audit(self) -> Json:
        """Everything that is stored, with every message that was sent to a model."""
        return self._do(lambda debate: debate.audit())

    def versions(self) -> list[Version]:
        """The versions of code that the debate has written, in order."""
        return self._do(lambda debate: debate.versions())

    def claims(self) -> Ledger | None:
        """The claims that were made, and what became of each; None if the debate keeps no ledger."""
        return self._do(lambda debate: debate.claims())

    def compare(self, other: DebateView | str) -> Comparison:
        """Where two debates part."""
        return self._do(lambda debate: debate.compare(other))

    def html(self) -> str:
        """The debate as one file for a browser, which needs nothing else: its answer, its record and what was said."""
        return self._do(lambda debate: debate.html())

    def export(self, path: str | Path) -> None:
        """Write everything of the debate to a file that `moot import` reads back; packed if its name ends with
        `.gz`."""
        self._do(lambda debate: debate.export(path))

    def _do(self, work: Callable[[AsyncDebate], Coroutine[Any, Any, T]]) -> T:
        async def inside(m: AsyncMoot) -> T:
            return await work(await m.get(self.id))

        return self._moot.call(inside)

    def _after(self, work: Callable[[AsyncDebate], Coroutine[Any, Any, AsyncDebate]]) -> Self:
        async def inside(debate: AsyncDebate) -> Snapshot:
            return (await work(debate)).seen

        self._seen = self._do(inside)
        return self

    def _at_rest(self, work: Callable[[AsyncDebate], Coroutine[Any, Any, AsyncDebate]]) -> Self:
        async def begin(m: AsyncMoot) -> AsyncDebate:
            return await work(await m.get(self.id))

        self._seen = self._moot.run(begin)
        return self
