"""What the tools do, independent of MCP's types and of the transport."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import aclosing, suppress
from typing import Protocol

from moot import formats
from moot.app import App
from moot.config import masked, reaching, shown
from moot.core.ceilings import lowered
from moot.core.errors import InputError, MootError, NoSuchDebate, WrongStatus
from moot.core.lifecycle import STANDING, DriveVerb, drive_verb, next_step, next_verb
from moot.core.settings import read
from moot.core.types import Debate, Gate, Json, Scope, Status
from moot.formats.format import Effort
from moot.formats.wording import checks_words
from moot.mcp.schemas import (
    DebateList,
    DebateStatus,
    FormatList,
    FormatSetting,
    FormatSummary,
    ListedDebate,
    PastDecision,
    PastDecisions,
    Question,
)
from moot.memory.decisions import headline
from moot.records import transcript
from moot.records.markdown import render
from moot.request import Request, merged
from moot.runtime import idempotency
from moot.runtime.runtime import Update
from moot.runtime.threads import in_thread

ReportProgress = Callable[[float, str], Awaitable[None]]  # steps done, and the latest in words

MOST_SECONDS = 600.0

# The tool for each verb of moot.core.lifecycle, and for other remedies of errors.
_TOOLS: Mapping[str, str] = {
    "answer": "answer_gate, once the user has decided",
    "start": "resume_debate",
    "resume": "resume_debate",
    "retry": "resume_debate",
    "watch": "wait_for_debate, as often as it takes",
    "record": "read_record",
    "list": "list_debates",
}


_NOT_YOURS = (
    "It waits for a person's answer, which this connection may not give. Ask your user to answer it in moot itself, "
    "then call wait_for_debate."
)


class Dispatcher(Protocol):
    """Starts or continues a debate, in this process or by workers."""

    async def dispatch(self, debate_id: str, verb: DriveVerb) -> Debate: ...


class Caller(Protocol):
    """The person or program that calls a tool."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str:
        """The namespace of the caller's idempotency keys."""
        ...

    @property
    def what(self) -> str:
        """What an error calls the caller's credential, at the beginning of a sentence."""
        ...

    def may(self, scope: Scope, /) -> bool: ...

    def sees(self, app: App, /) -> str | None:
        """The token whose debates alone the caller may see; None: everyone's."""
        ...


class LocalCaller:
    """The program that was started by the user of this machine; `scopes` are what that user lets it do."""

    what = "This connection"

    def __init__(self, name: str, scopes: Collection[Scope]) -> None:
        self.name, self.identity, self._scopes = name, "", frozenset(scopes)

    def may(self, scope: Scope, /) -> bool:
        return "admin" in self._scopes or scope in self._scopes

    def sees(self, app: App, /) -> str | None:
        return None if self.may("admin") else app.only_of(self.identity)


class ToolService:
    def __init__(self, app: App, dispatcher: Dispatcher, closing: asyncio.Event) -> None:
        """`closing`: set when the process is about to end, so that calls stop waiting."""
        self.app, self.dispatcher, self.closing = app, dispatcher, closing
        self.store = app.runtime.store

    async def start(
        self,
        caller: Caller,
        question: str,
        format: str | None,
        settings: Json,
        key: str | None = None,
        effort: Effort | None = None,
    ) -> DebateStatus:
        """Start a debate. With an idempotency `key`, a repeated call returns the debate that the first one made."""
        _need(caller, "run")
        found = None if caller.may("admin") else await in_thread(lambda: reaching(settings))
        if found is not None:
            raise InputError(
                f"The setting {found[0]} names the model {masked(found[1])[:80]!r}, which has an address or reads "
                "files; that takes the scope 'admin'. Choose a model of a known provider, or leave it out."
            )
        asked = ["start_debate", question, format, settings, effort]
        preset = self.app.settings.presets.get(format or "")
        if preset is not None:
            format, settings = preset.format, merged(lowered(self.app.ceilings, preset.settings), settings)
        request = Request(topic=question, format=format, settings=settings, effort=effort)
        plan = await in_thread(lambda: self.app.plan(request))

        async def make(debate_id: str) -> Debate:
            remedy = 'start_debate with settings {"recall_decisions": true}'
            return await self.app.create(
                plan, by=caller.name, token_id=caller.identity, debate_id=debate_id, remedy=remedy
            )

        if key is None:
            made = await make(str(uuid.uuid4()))
        else:
            held = await idempotency.reserve(self.store, idempotency.key_name(caller.identity, key), asked)
            made = await idempotency.create_once(self.store, held, make)
        if made.status == "pending":
            try:
                made = await self.dispatcher.dispatch(made.id, "start")
            except WrongStatus:  # a concurrent repetition of the call has started it
                made = await self.store.get(made.id)
        return await self._status(caller, made)

    async def status(self, caller: Caller, debate_id: str) -> DebateStatus:
        return await self._status(caller, await self.find(caller, debate_id))

    async def wait(self, caller: Caller, debate_id: str, seconds: float, report: ReportProgress) -> DebateStatus:
        """Wait until the debate rests, but at most `seconds`."""
        debate = await self.find(caller, debate_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, MOST_SECONDS)):
                await self._follow(debate, report)
        return await self._status(caller, await self.store.get(debate.id))

    async def answer(
        self, caller: Caller, debate_id: str, choice: str | None, text: str, key: str | None
    ) -> DebateStatus:
        _need(caller, "decide")
        debate = await self.find(caller, debate_id)
        words: Json = {"text": text, **({} if choice is None else {"choice": choice})}
        await self.app.runtime.answer(debate.id, words, by=caller.name, key=key)
        with suppress(WrongStatus):  # another process has resumed it
            await self.dispatcher.dispatch(debate.id, "resume")
        return await self._status(caller, await self.store.get(debate.id))

    async def guide(self, caller: Caller, debate_id: str, text: str) -> DebateStatus:
        _need(caller, "decide")
        debate = await self.find(caller, debate_id)
        await self.app.runtime.guide(debate.id, text, by=caller.name)
        return await self._status(caller, await self.store.get(debate.id))

    async def stop(self, caller: Caller, debate_id: str) -> DebateStatus:
        _need(caller, "run")
        return await self._status(caller, await self.app.runtime.stop((await self.find(caller, debate_id)).id))

    async def cancel(self, caller: Caller, debate_id: str) -> DebateStatus:
        _need(caller, "run")
        return await self._status(caller, await self.app.runtime.cancel((await self.find(caller, debate_id)).id))

    async def resume(self, caller: Caller, debate_id: str) -> DebateStatus:
        """Continue a debate that was stopped, that failed, or whose process is gone."""
        _need(caller, "run")
        debate = await self.find(caller, debate_id)
        if not debate.terminal:
            self.app.check(debate)
            await self.app.check_budget(debate.token_id)
        return await self._status(
            caller, await self.dispatcher.dispatch(debate.id, drive_verb(debate.status) or "resume")
        )

    async def page(
        self,
        caller: Caller,
        status: Status | None,
        format: str | None,
        contains: str | None,
        limit: int,
        after: str | None,
    ) -> DebateList:
        if format is not None:
            formats.get(format)
        only = caller.sees(self.app)
        page = await self.store.page(
            status=status, format=format, contains=contains or None, token=only, limit=limit, after=after
        )
        return DebateList(debates=[_item(debate) for debate in page.debates], more=page.next)

    async def search(self, caller: Caller, query: str, limit: int) -> PastDecisions:
        words = " ".join(query.split())
        if not words:
            raise InputError("There is nothing to search for. Give words, or a whole question.")
        found = await self.app.memory.past.search(words, limit, token=caller.sees(self.app))
        return PastDecisions(
            found=[
                PastDecision(
                    id=past.debate.id,
                    question=past.debate.topic,
                    format=past.debate.format,
                    headline=headline(past.debate),
                    score=round(past.score, 4),
                    record=_record(past.debate),
                )
                for past in found.past
            ],
            by=found.by,
            note=found.note,
        )

    async def record(self, caller: Caller, debate_id: str) -> str:
        return render(await self.app.record((await self.find(caller, debate_id)).id))

    async def transcript(self, caller: Caller, debate_id: str) -> str:
        debate = await self.find(caller, debate_id)
        events, wording = await self.app.events(debate.id), formats.wording_of(debate)
        return transcript.render(debate, events, wording, demonstration=self.app.is_demonstration(debate))

    def formats(self) -> FormatList:
        about: list[FormatSummary] = []
        for each in formats.installed().values():
            defaults = read(each.settings, self.app.config.debate(each.name)).model_dump(mode="json")
            settings = [
                FormatSetting(name=name, default=shown(defaults[name]), about=info.description or "")
                for name, info in each.settings.model_fields.items()
            ]
            default = each.name == self.app.default_format
            about.append(
                FormatSummary(
                    name=each.name, purpose=each.purpose, summary=each.summary, default=default, settings=settings
                )
            )
        return FormatList(formats=about, presets=list(self.app.settings.presets))

    def templates(self) -> str:
        known = self.app.memory.library.templates
        return "\n".join(f"- `{each.front.id}`: {each.front.name}. {each.front.summary}" for each in known)

    async def find(self, caller: Caller, debate_id: str) -> Debate:
        """The debate whose id begins so, among those that the caller may see. Raises InputError."""
        try:
            return await self.store.get(await self.app.runtime.find(debate_id, caller.sees(self.app)))
        except NoSuchDebate:
            raise InputError(f"There is no debate {debate_id!r}. list_debates has their ids.") from None

    async def _follow(self, debate: Debate, report: ReportProgress) -> None:
        """Report progress until the debate rests or `closing` is set."""
        wording, steps = formats.wording_of(debate), 0.0
        async with aclosing(self.app.runtime.watch(debate.id)) as updates:
            while (update := await self._next(updates)) is not None and update.debate is None:
                for event in update.events:
                    wording.hear(event)
                    if event.turn is not None:
                        steps += 1
                        await report(steps, f"{wording.caption(event).heading}: {wording.phase(event.turn.phase)}")

    async def _next(self, updates: AsyncGenerator[Update, None]) -> Update | None:
        coming = asyncio.ensure_future(anext(updates, None))
        closing = asyncio.ensure_future(self.closing.wait())
        try:
            await asyncio.wait({coming, closing}, return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else None
        finally:
            closing.cancel()
            coming.cancel()  # a generator can only be closed once it no longer runs
            await asyncio.gather(coming, return_exceptions=True)

    async def _status(self, caller: Caller, debate: Debate) -> DebateStatus:
        return status_of(
            debate,
            await self.store.gates(debate.id) if debate.status == "waiting" else (),
            demonstration=self.app.is_demonstration(debate),
            interrupted=self.app.runtime.is_interrupted(debate),
            may_answer=caller.may("decide"),
        )


def status_of(
    debate: Debate, gates: Iterable[Gate], *, demonstration: bool, interrupted: bool, may_answer: bool = True
) -> DebateStatus:
    outcome = debate.outcome
    return DebateStatus(
        headline=outcome.headline if outcome else None,
        answer=outcome.answer if outcome else None,
        how=(outcome.how or None) if outcome else None,
        checked=(checks_words(outcome.checks) or None) if outcome else None,
        id=debate.id,
        question=debate.topic,
        format=debate.format,
        status=debate.status,
        turns=debate.turn_count,
        rounds=debate.total_rounds,
        asks=[
            Question(key=gate.key, kind=gate.kind, question=gate.question, choices=list(gate.choices))
            for gate in gates
            if gate.status == "open"
        ],
        statement=(outcome.statement or None) if outcome else None,
        winner=outcome.winner if outcome else None,
        demonstration=demonstration,
        error=None if debate.error is None else masked(debate.error.message),
        tokens=debate.usage.tokens_in + debate.usage.tokens_out,
        cost_usd=debate.usage.cost_usd,
        record=_record(debate),
        transcript=f"moot://debates/{debate.id}/transcript",
        next=_next(debate, interrupted=interrupted) if may_answer or debate.status != "waiting" else _NOT_YOURS,
    )


def _need(caller: Caller, scope: Scope) -> None:
    if not caller.may(scope):
        raise InputError(
            f"{caller.what} lacks the scope {scope!r}, so it may not do this. Ask your user: they can do it in moot "
            "itself, or give you that scope where they have set moot up."
        )


def _item(debate: Debate) -> ListedDebate:
    return ListedDebate(
        id=debate.id,
        question=debate.topic,
        format=debate.format,
        status=debate.status,
        headline=debate.outcome.headline if debate.outcome else None,
        created_at=debate.created_at,
    )


def _record(debate: Debate) -> str:
    return f"moot://debates/{debate.id}/record"


def _next(debate: Debate, *, interrupted: bool) -> str:
    tool = _TOOLS.get(next_verb(debate.status, interrupted=interrupted))
    if tool is None:
        return f"{STANDING[debate.status]} Begin another with start_debate."
    return f"{next_step(debate.status, interrupted=interrupted, failure=debate.error)} with {tool}."


def explained(error: MootError) -> str:
    """The text of an error, with the tool that does what it advises."""
    tool = _TOOLS.get(error.remedy)
    return masked(f"{str(error).removesuffix('.')} with {tool}." if tool else str(error))
