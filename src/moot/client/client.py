"""The client: every use case of moot, for one caller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from moot import formats
from moot.app import App
from moot.caller import Caller, local_caller
from moot.client import creating, documents
from moot.client.creating import RECALL
from moot.client.following import after, informed
from moot.client.lessons import Lessons
from moot.client.once import Once
from moot.client.permission import check_folders, check_models, check_owner
from moot.client.presets import expanded
from moot.client.reading import FULL_ID, MOST_FOUND, MOST_LISTED, check_limit, opened
from moot.client.shares import Shares
from moot.client.transfer import Transfer
from moot.core.artifacts import Version, as_measured_last
from moot.core.errors import (
    AbilityMissing,
    AmbiguousId,
    DebateDeleted,
    InputError,
    NoSuchDebate,
    StepNeeded,
    WrongStatus,
)
from moot.core.lifecycle import DriveVerb, drive_verb
from moot.core.settings import check_size, folders_in
from moot.core.types import Call, Debate, Event, Gate, Json, Reply, Scope, Status, Usage
from moot.dispatch import Dispatcher, LocalDispatcher
from moot.estimate import Estimate, estimated
from moot.formats.wording import Wording
from moot.memory.embedder_session import BY_WORDS
from moot.memory.past import SearchResult
from moot.memory.paying import Payer
from moot.planning import Plan
from moot.reasoning.claims import Ledger
from moot.records import transcript
from moot.records.compare import Comparison
from moot.records.record import Record
from moot.request import Request
from moot.runtime import idempotency
from moot.runtime.labels import read_tag, read_tags, read_title
from moot.runtime.owner import is_dead
from moot.runtime.replay import Proof
from moot.runtime.retention import purge
from moot.runtime.runtime import Update
from moot.runtime.spending import call_once, check_budget
from moot.runtime.tally import Tallied
from moot.runtime.threads import in_thread
from moot.store import Labels, Page, Store, Tombstone, Viewer
from moot.tools.git import check_repository

DEAD_CHECK = 2.0  # seconds between two checks that the process of a debate lives


class Client:
    """The use cases, each once, for one caller; `acting_for` gives a view for another. Every way in goes through it.

    A method that changes a debate takes it as `find` has returned it. `seen`: raise WrongStatus if the debate is no
    longer in that version. What the caller may not do raises ScopeMissing.
    """

    def __init__(self, app: App, dispatcher: Dispatcher | None = None, caller: Caller | None = None) -> None:
        """`dispatcher`: where debates run; by default in this process. `caller`: by default the user of this
        machine."""
        self.app, self.caller = app, caller or local_caller()
        self._dispatcher = dispatcher
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def acting_for(self, caller: Caller) -> Client:
        """A view of this client for another caller."""
        view = Client.__new__(Client)
        view.app, view.caller, view._dispatcher, view._locks = self.app, caller, self._dispatcher, self._locks
        return view

    @property
    def dispatcher(self) -> Dispatcher:
        if self._dispatcher is None:
            self._dispatcher = LocalDispatcher(self.app.runtime, resume=False)
        return self._dispatcher

    @property
    def _drives_here(self) -> bool:
        return self._dispatcher is None or self._dispatcher.here

    @property
    def store(self) -> Store:
        return self.app.runtime.store

    @property
    def viewer(self) -> Viewer | None:
        """Which debates the caller may see; None: all of them."""
        return self.caller.viewer(self.app.settings)

    @property
    def lessons(self) -> Lessons:
        return Lessons(self.app, self.caller)

    @property
    def shares(self) -> Shares:
        return Shares(self.app, self.caller)

    @property
    def transfer(self) -> Transfer:
        return Transfer(self.app, self.caller)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncGenerator[None]:
        """Hold the lock of this name: one holder at a time, among all views of this client."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            yield

    async def plan(self, request: Request, *, given: Json | None = None, here: bool = True) -> Plan:
        """Check and complete a request, whose format may be a preset; nothing is stored. `given`: those of its
        settings that come from the caller, when it has others. `here`: False if it is to be handed to workers, even
        where this process could drive it. Raises InputError; AbilityMissing if this process would drive the debate and
        can't."""
        self.caller.need("run")
        check_size(request.settings)
        await check_models(self.caller, request.settings if given is None else given)
        request = expanded(self.app, request)
        earlier = None if request.follows is None else await self.find(request.follows)
        if earlier is not None:
            request = after(self.app, request, earlier)
        # In a thread: reading the price list, or looking for Ollama, takes a while the first time.
        made = await in_thread(lambda: self.app.plan(request))
        check_folders(self.caller, made.format, request.settings if given is None else given)
        for folder in folders_in(made.format.settings, made.config).values():
            await check_repository(self.app.repositories_folder, Path(folder))
        if here and self._drives_here:
            await self.app.check_able(made.format)
        return made if earlier is None else await informed(self.app, made, earlier)

    async def estimate(self, plan: Plan) -> Estimate:
        """What the debate would take at full length. No model is asked."""
        return await estimated(self.app, plan)

    async def call(self, spec: str, call: Call) -> Reply:
        """Call a model outside of any debate; what it used is booked for the caller. Raises OverBudget."""
        self.caller.need("run")
        return await call_once(
            self.store, self.app.models, self.app.ceilings, spec, call, token_id=self.caller.identity
        )

    @asynccontextmanager
    async def once(self, key: str | None, asked: object) -> AsyncGenerator[Once]:
        """Carry a request that creates a debate out once per idempotency key, if it has one. `asked`: the whole
        request, as JSON. Raises KeyReused if the key belongs to another request."""
        await self.app.open()
        if key is None:
            yield Once(store=self.store)
            return
        name = idempotency.key_name(self.caller.identity, key)
        async with self.alone(name):
            yield Once(store=self.store, held=await idempotency.reserve(self.store, name, asked))

    async def create(
        self, plan: Plan, *, once: Once | None = None, start: bool = True, guidance: str = "", remedy: str = RECALL
    ) -> Debate:
        """Store a new debate and let it run. `guidance` reaches every seat from the beginning. `remedy` says how the
        debaters learn of an earlier decision, in the words of the way in. Raises OverBudget."""
        self.caller.need("run")
        await self.app.open()

        async def make(debate_id: str) -> Debate:
            caller = self.caller
            try:
                return await creating.create(
                    self.app, plan, by=caller.name, token_id=caller.identity, debate_id=debate_id, remedy=remedy
                )
            except (NoSuchDebate, AmbiguousId) as error:  # of a debate that a `replay:` model names
                raise InputError(str(error), remedy=error.remedy) from None

        debate = await (once or Once(store=self.store)).made(make)
        said = "\n\n".join(filter(None, (plan.background, guidance)))
        if said and debate.status == "pending" and not debate.guided:
            await self.app.runtime.guide(debate.id, said, by=self.caller.name)
        return await self._started(debate) if start else debate

    async def fork(
        self,
        parent: Debate,
        at: str | None = None,
        changes: Mapping[str, Any] | None = None,
        *,
        guidance: str | None = None,
        once: Once | None = None,
        start: bool = True,
        evaluation: str = "",
    ) -> Debate:
        """Branch a debate off at a step, with other settings or guidance from there on, and let it run. `evaluation`:
        what it is made for; then it is found by its id alone, neither in lists nor in memory. Raises
        StepNeeded if the debate is complete and `at` is None; AbilityMissing if this process would drive the fork and
        can't."""
        self.caller.need("run")
        await check_models(self.caller, dict(changes or {}))
        check_folders(self.caller, formats.get(parent.format), changes or {})

        async def make(fork_id: str) -> Debate:
            if at is None and parent.outcome is not None:
                raise StepNeeded(debate=parent.short, step=(await self.store.turns(parent.id))[-1].key)
            if start and self._drives_here:
                await self.app.check_able(formats.get(parent.format))
            return await creating.fork(
                self.app,
                parent.id,
                at,
                changes or {},
                guidance=guidance,
                by=self.caller.name,
                token_id=self.caller.identity,
                fork_id=fork_id,
                evaluation=evaluation,
            )

        debate = await (once or Once(store=self.store)).made(make)
        return await self._started(debate) if start else debate

    async def go_on(self, debate: Debate, verb: DriveVerb | None = None, *, seen: Debate | None = None) -> Debate:
        """Let a debate run that has not begun, was stopped, failed, or lost its process. `verb`: by default the one
        that its status calls for."""
        await self.check_ready(debate)
        return await self.dispatcher.dispatch(debate.id, verb or drive_verb(debate.status) or "resume", seen=seen)

    async def check_ready(self, debate: Debate) -> None:
        """Refuse now what would fail at the first step: raises InputError if a model can't be used, OverBudget if the
        budget of the debate's token is used up."""
        self.caller.need("run")
        if not debate.terminal:
            self.app.check(debate)
            await check_budget(self.store, self.app.ceilings, debate.token_id)

    async def hand_over(self, debate: Debate) -> Debate:
        """Let workers run a debate. Raises InputError if the database has no queue."""
        self.caller.need("run")
        return await self.app.hand_over(debate)

    async def keep_running(self, debate: Debate) -> Debate:
        """Let a debate go on if it rests and can go on by itself; otherwise leave it as it is."""
        if drive_verb(debate.status) is not None:
            with suppress(WrongStatus):  # another request was faster
                return await self.go_on(debate)
        return await self.store.get(debate.id)

    async def answer(
        self,
        debate: Debate,
        choice: str | None = None,
        text: str = "",
        *,
        key: str | None = None,
        seen: Debate | None = None,
        go_on: bool = True,
    ) -> Gate:
        """Answer what a debate asks a person, and let it go on. `key`: which question, when several are open."""
        self.caller.need("decide")
        words: Json = {"text": text, **({} if choice is None else {"choice": choice})}
        decided = await self.app.runtime.gates.answer(debate.id, words, by=self.caller.name, key=key, seen=seen)
        if go_on:
            # Another process has resumed it, or only another can.
            with suppress(WrongStatus, AbilityMissing):
                await self.dispatcher.dispatch(debate.id, "resume")
        return decided

    async def guide(self, debate: Debate, text: str, *, seen: Debate | None = None) -> Gate:
        """Say something to every seat, with the next step that it is asked."""
        self.caller.need("decide")
        return await self.app.runtime.guide(debate.id, text, by=self.caller.name, seen=seen)

    async def stop(self, debate: Debate, *, now: bool = False, seen: Debate | None = None) -> Debate:
        """Stop a debate after the step in progress, which is cut off with `now`. It can be resumed."""
        self.caller.need("run")
        return await self.app.runtime.stop(debate.id, now=now, seen=seen)

    async def cancel(self, debate: Debate, *, seen: Debate | None = None) -> Debate:
        """End a debate for good, without a verdict."""
        self.caller.need("run")
        return await self.app.runtime.cancel(debate.id, seen=seen)

    async def rate(self, debate: Debate, rating: int, *, seen: Debate | None = None) -> Debate:
        """Say how good a completed debate was, from 1 (poor) to 5 (very good). The last rating counts."""
        self.caller.need("decide")
        return await self.app.runtime.rate(debate.id, rating, seen=seen)

    async def turned_out(
        self, debate: Debate, right: float | None, note: str = "", *, seen: Debate | None = None
    ) -> Debate:
        """Record how the decision of a completed debate turned out: 1 (right), 0 (wrong) or between. The last one
        counts; None takes it back."""
        self.caller.need("decide")
        return await self.app.runtime.turned_out(debate.id, right, note, by=self.caller.name, seen=seen)

    async def quarantine(self, debate: Debate, on: bool = True, *, seen: Debate | None = None) -> Debate:
        """Keep the decision of a completed debate out of new ones, or let it back in."""
        self.caller.need("decide")
        return await self.app.runtime.quarantine(debate.id, by=self.caller.name if on else None, seen=seen)

    async def set_private(self, debate: Debate, private: bool = True, *, seen: Debate | None = None) -> Debate:
        """Show a debate to no one but its own token and admins, or to every caller. Raises ScopeMissing if it is
        another token's and the caller is no admin."""
        self.caller.need("run")
        check_owner(self.caller, debate)
        return await self.app.runtime.set_private(debate.id, private, seen=seen)

    async def label(
        self,
        debate: Debate,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        tags: Iterable[str] | None = None,
        seen: Debate | None = None,
    ) -> Debate:
        """Rename, pin, tag or archive a debate; what is left out stays as it is. `title`: empty for its question.
        `tags`: all that it is to have."""
        self.caller.need("run")
        labels = Labels(
            title=None if title is None else read_title(title),
            pinned=pinned,
            archived=archived,
            tags=None if tags is None else read_tags(tags),
        )
        return await self.app.runtime.label(debate.id, labels, seen=seen)

    async def delete(self, debate_id: str, *, seen: Debate | None = None) -> Tombstone:
        """Delete a debate and everything of it, in any status. Its forks stay. By its full id, since a debate whose row
        is damaged can't be found but can be deleted."""
        self.caller.need("admin")
        return await self.app.runtime.delete(debate_id, by=self.caller.name, seen=seen)

    def purge(self, before: float, statuses: Sequence[Status]) -> AsyncGenerator[Tombstone, None]:
        """Delete debates that have not changed since `before`, the oldest first."""
        self.caller.need("admin")
        return purge(self.app.runtime, before, by=self.caller.name, statuses=statuses)

    async def find(self, debate_id: str, scope: Scope = "read") -> Debate:
        """The debate with this id, or with an id that begins so, among those that the caller may see. `scope`: what
        will be done with it needs it. Never creates a database. Raises NoSuchDebate or AmbiguousId."""
        self.caller.need(scope)
        viewer = self.viewer
        if not await opened(self.app):
            raise NoSuchDebate(debate_id)
        given = debate_id.strip().lower()
        debate = await self.store.get(given if len(given) == FULL_ID else await self.app.runtime.find(given, viewer))
        if viewer is not None and not viewer.sees(debate):
            raise NoSuchDebate(debate_id)
        return debate

    async def parent_id(self, debate_id: str) -> str:
        """The full id of a debate, which may have been deleted: its forks and follow-ups are still there."""
        try:
            return (await self.find(debate_id)).id
        except DebateDeleted as deleted:
            return deleted.debate_id

    async def interrupted(self) -> frozenset[str]:
        """Ids of debates whose process is gone. One that was handed to the workers waits for its turn instead."""
        if not await opened(self.app):
            return frozenset()
        gone = await self.store.abandoned(is_dead)
        return frozenset(debate.id for debate in gone if not self.store.shared or debate.owner is not None)

    async def page(
        self,
        *,
        status: Status | None = None,
        format: str | None = None,
        contains: str | None = None,
        parent: str | None = None,
        follows: str | None = None,
        tag: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = False,
        evaluation: str | None = "",
        limit: int = 20,
        after: str | None = None,
    ) -> Page:
        """Debates, newest first. `parent`: only its forks. `follows`: only those asked after it. `archived`: only those
        in the archive, or None for all. `evaluation`: only the cells of this evaluation; empty: only debates that are
        no cells; None: both. `after`: `next` of the page before."""
        self.caller.need("read")
        check_limit(limit, MOST_LISTED)
        if format is not None and format not in formats.installed():
            formats.get(format)  # raises UnknownName
        if not await opened(self.app):
            return Page(debates=())
        return await self.store.page(
            status=status,
            format=format,
            contains=contains or None,
            parent=parent,
            follows=follows,
            tag=None if tag is None else read_tag(tag),
            pinned=pinned,
            archived=archived,
            evaluation=evaluation,
            viewer=self.viewer,
            limit=limit,
            after=after,
        )

    async def open_gate(self, debate: Debate, key: str | None = None) -> Gate:
        """The question that a debate asks now. Raises WrongStatus if there is none, InputError if there are several and
        `key` does not say which."""
        self.caller.need("read")
        return await self.app.runtime.gates.open(debate.id, key)

    async def expire(self) -> None:
        """Settle questions whose time is over. A server does so by itself."""
        if await opened(self.app):
            await self.app.runtime.gates.expire()

    async def gates(self, debate: Debate | None = None) -> Sequence[Gate]:
        """What a debate asks and has asked people; without one, what all debates ask now."""
        self.caller.need("read")
        if not await opened(self.app):
            return []
        if debate is not None:
            return await self.store.gates(debate.id)
        found, viewer = await self.store.gates(), self.viewer
        if viewer is None:
            return found
        return [gate for gate in found if viewer.sees(await self.store.get(gate.debate_id))]

    async def search(self, query: str, limit: int = 10) -> SearchResult:
        """Completed debates that are about something, best first."""
        self.caller.need("read")
        check_limit(limit, MOST_FOUND)
        words = " ".join(query.split())
        if not words:
            raise InputError("There is nothing to search for. Give words, or a whole question.")
        if not await opened(self.app):
            return SearchResult(past=(), by=BY_WORDS, usage=Usage())
        return await self.app.memory.past.search(
            words, limit, viewer=self.viewer, payer=Payer(token_id=self.caller.identity)
        )

    async def versions(self, debate: Debate) -> Sequence[Version]:
        """The versions of code that a debate has written, in order, with the figures that were measured last."""
        self.caller.need("read")
        return as_measured_last(await self.store.versions(debate.id), debate.outcome)

    async def version(self, debate: Debate, number: int) -> Version:
        """One version of code. Raises InputError if there is none with this number."""
        found = await self.versions(debate)
        for each in found:
            if each.number == number:
                return each
        known = f"It has {len(found)}." if found else "It has none."
        raise InputError(f"Debate {debate.short} has no version {number}. {known}")

    def watch(self, debate: Debate, after: int = 0) -> AsyncGenerator[Update, None]:
        """Updates from event `after` on until the debate rests, wherever it runs."""
        return self.app.runtime.watch(debate.id, after)

    async def follow(self, debate: Debate, after: int = 0) -> AsyncGenerator[Update, None]:
        """As `watch`, but it ends as well when the debate's process is gone: the debate in the last update is then
        still running."""
        loop, looked = asyncio.get_running_loop(), 0.0
        async with aclosing(self.watch(debate, after)) as updates:
            async for update in updates:
                yield update
                if self.app.runtime.drives(debate.id) or self.store.shared or loop.time() - looked < DEAD_CHECK:
                    continue  # on a shared store a worker takes it over
                looked = loop.time()
                for gone in await self.store.abandoned(is_dead):
                    if gone.id == debate.id:
                        yield Update(events=(), flights={}, debate=gone)
                        return

    async def events(self, debate: Debate) -> list[Event]:
        """Every stored event of a debate."""
        return await documents.events(self.app, debate.id)

    async def record(self, debate: Debate) -> Record:
        """The decision record. Raises WrongStatus if the debate is not completed."""
        return await documents.record(self.app, debate.id)

    async def transcript(self, debate: Debate) -> str:
        """What was said so far, without private thoughts, in Markdown."""
        events, wording = await self.events(debate), formats.wording_of(debate)
        return transcript.render(debate, events, wording, demonstration=self.app.is_demonstration(debate))

    async def html(self, debate: Debate) -> str:
        """The debate as one file for a browser, which needs nothing else: its answer, its record and what was said,
        without private thoughts and without where its models are reached."""
        return await documents.page(self.app, debate.id)

    async def audit(self, debate: Debate, step: str | None = None) -> Json:
        """Everything stored of a debate, or of one step of it, with every message that was sent to a model."""
        return await documents.audit(self.app, debate.id, step)

    async def replay(self, debate: Debate) -> Proof:
        """Run the rules over the stored turns again, and compare the transcripts."""
        return await documents.prove(self.app, debate.id)

    async def compare(self, one: Debate, two: Debate) -> Comparison:
        """Compare two debates step by step."""
        return await documents.compare(self.app, one.id, two.id)

    async def claims(self, debate: Debate) -> Ledger | None:
        """The claims of a debate so far, or None if it keeps no ledger."""
        return await documents.ledger(self.app, debate.id)

    async def tally(self, debate: Debate, method: str | None = None) -> Tallied:
        """Count the votes of a debate again from its turns, and by another `method` as well. Raises InputError if it
        has none."""
        return await documents.tally(self.app, debate.id, method)

    async def trace(self, debate: Debate) -> Json | None:
        """The format's own account of a debate so far, or None if the format has none."""
        return await documents.trace(self.app, debate.id)

    async def learn(self, wording: Wording, debate: Debate) -> None:
        """Update a wording from the stored events of an unfinished debate; a finished one's outcome has all names."""
        await documents.learn(self.app, wording, debate)

    def is_demonstration(self, debate: Debate) -> bool:
        """Whether a demonstration model had a part in the verdict."""
        return self.app.is_demonstration(debate)

    async def _started(self, debate: Debate) -> Debate:
        """Start a debate that was just created, unless another process that got the same request already has."""
        if debate.status != "pending":
            return debate
        try:
            return await self.dispatcher.dispatch(debate.id, "start")
        except WrongStatus:
            return await self.store.get(debate.id)
