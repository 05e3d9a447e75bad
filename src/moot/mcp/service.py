"""What the tools do, independent of MCP's types and of the transport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress

from moot import formats
from moot.caller import Caller
from moot.client import Client
from moot.client.presets import named
from moot.config import masked, shown
from moot.core.errors import InputError, MootError, StoreError, UnknownName
from moot.core.lifecycle import STANDING, next_step, next_verb
from moot.core.settings import read
from moot.core.types import Debate, Gate, Json, Status, TurnedOut
from moot.estimate import steps_of
from moot.formats.format import Effort
from moot.formats.wording import checks_words
from moot.mcp.schemas import (
    DebateList,
    DebateState,
    DebateStatus,
    FormatList,
    ListedDebate,
    PastDecision,
    PastDecisions,
    Question,
)
from moot.mcp.versions import version_in_markdown
from moot.memory.decisions import headline
from moot.reasoning.fence import one_line
from moot.records.markdown import render
from moot.request import Request
from moot.runtime.runtime import Update

ReportProgress = Callable[[float, float | None, str], Awaitable[None]]  # steps done, of how many, the latest in words

MOST_SECONDS = 600.0
MOST_KNOWN = 1500  # characters of a list of names that an error adds
MOST_TOTALS = 1000  # debates whose number of steps is kept

# The tool for each verb of moot.core.lifecycle, and for other remedies of errors.
_TOOLS: Mapping[str, str] = {
    "answer": "answer_gate, once the user has decided",
    "start": "resume_debate",
    "resume": "resume_debate",
    "retry": "resume_debate",
    "watch": "wait_for_debate, as often as it takes",
    "record": "read_record",
    "list": "list_debates",
    "model": "the settings of start_debate",
}


_NOT_YOURS = (
    "It waits for a person's answer, which this connection may not give. Ask your user to answer it in moot itself, "
    "then call wait_for_debate."
)


_ASK_FOR_SCOPE = "Ask your user: they can do it in moot itself, or give you that scope where they have set moot up."


class ToolService:
    def __init__(self, client: Client, closing: asyncio.Event) -> None:
        """`closing`: set when the process is about to end, so that calls stop waiting."""
        self.client, self.app, self.closing = client, client.app, closing
        self.store = client.store
        self._totals: dict[str, asyncio.Future[int | None]] = {}

    @property
    def names(self) -> list[str]:
        """What start_debate takes as `format`."""
        return list(named(self.app))

    @property
    def format_names(self) -> list[str]:
        return list(formats.installed())

    async def start(
        self,
        caller: Caller,
        question: str,
        format: str | None,
        settings: Json,
        key: str | None = None,
        effort: Effort | None = None,
        *,
        private: bool = False,
        follows: str | None = None,
    ) -> DebateState:
        """Start a debate. With an idempotency `key`, a repeated call returns the debate that the first one made."""
        client = self.client.acting_for(caller)
        plan = await client.plan(
            Request(topic=question, format=format, settings=settings, effort=effort, private=private, follows=follows)
        )
        asked = ["start_debate", question, format, settings, effort, private, follows]
        async with client.once(key, asked) as once:
            made = await client.create(plan, once=once, remedy='start_debate with settings {"recall_decisions": true}')
        return self._state(caller, made)

    async def status(self, caller: Caller, debate_id: str) -> DebateStatus:
        return await self._status(caller, await self.find(caller, debate_id))

    async def wait(self, caller: Caller, debate_id: str, seconds: float, report: ReportProgress) -> DebateStatus:
        """Wait until the debate rests, but at most `seconds`."""
        debate = await self.find(caller, debate_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, MOST_SECONDS)):
                await self._follow(caller, debate, report)
        return await self._status(caller, await self.find(caller, debate.id))

    async def answer(
        self, caller: Caller, debate_id: str, choice: str | None, text: str, key: str | None
    ) -> DebateState:
        client = self.client.acting_for(caller)
        debate = await client.find(debate_id, "decide")
        if debate.status == "waiting":
            _check_answer(await client.gates(debate), choice, text, key)
        await client.answer(debate, choice, text, key=key)
        return self._state(caller, await self.store.get(debate.id))

    async def guide(self, caller: Caller, debate_id: str, text: str) -> DebateState:
        client = self.client.acting_for(caller)
        debate = await client.find(debate_id, "decide")
        await client.guide(debate, text)
        return self._state(caller, await self.store.get(debate.id))

    async def stop(self, caller: Caller, debate_id: str) -> DebateState:
        client = self.client.acting_for(caller)
        return self._state(caller, await client.stop(await client.find(debate_id, "run")))

    async def cancel(self, caller: Caller, debate_id: str) -> DebateState:
        client = self.client.acting_for(caller)
        return self._state(caller, await client.cancel(await client.find(debate_id, "run")))

    async def resume(self, caller: Caller, debate_id: str) -> DebateState:
        """Continue a debate that was stopped, that failed, or whose process is gone."""
        client = self.client.acting_for(caller)
        return self._state(caller, await client.go_on(await client.find(debate_id, "run")))

    async def label(
        self,
        caller: Caller,
        debate_id: str,
        title: str | None,
        pinned: bool | None,
        archived: bool | None,
        tags: Sequence[str] | None,
    ) -> str:
        """Change labels of a debate; return those that it has now."""
        client = self.client.acting_for(caller)
        debate = await client.find(debate_id, "run")
        now = await client.label(debate, title=title, pinned=pinned, archived=archived, tags=tags)
        labels = [f"tags {', '.join(now.tags)}"] if now.tags else []
        labels += [name for name in ("pinned", "archived") if getattr(now, name)]
        return f"“{one_line(now.name)}” has {', '.join(labels) or 'no labels'}."

    async def page(
        self,
        caller: Caller,
        status: Status | None,
        format: str | None,
        contains: str | None,
        tag: str | None,
        limit: int,
        after: str | None,
    ) -> DebateList:
        client = self.client.acting_for(caller)
        page = await client.page(status=status, format=format, contains=contains, tag=tag, limit=limit, after=after)
        return DebateList(debates=[_item(debate) for debate in page.debates], next=page.next)

    async def search(self, caller: Caller, query: str, limit: int) -> PastDecisions:
        found = await self.client.acting_for(caller).search(query, limit)
        return PastDecisions(
            found=[
                PastDecision(
                    id=past.debate.id,
                    question=past.debate.topic,
                    format=past.debate.format,
                    headline=headline(past.debate),
                    score=round(past.score, 4),
                )
                for past in found.past
            ],
            by=found.by,
            note=found.note,
        )

    async def record(self, caller: Caller, debate_id: str) -> str:
        client = self.client.acting_for(caller)
        return render(await client.record(await client.find(debate_id)))

    async def transcript(self, caller: Caller, debate_id: str) -> str:
        client = self.client.acting_for(caller)
        return await client.transcript(await client.find(debate_id))

    async def versions(self, caller: Caller, debate_id: str) -> str:
        client = self.client.acting_for(caller)
        debate = await client.find(debate_id)
        found = await client.versions(debate)
        return "\n\n".join(version_in_markdown(debate, each) for each in found) or "It has written no code.\n"

    def formats(self, name: str | None = None) -> FormatList:
        """The formats; with the settings of the one that is named."""
        listed = FormatList(
            formats={each.name: each.purpose for each in formats.installed().values()},
            default=self.app.default_format,
            presets={name: preset.format for name, preset in self.app.settings.presets.items()},
        )
        if name is None:
            return listed
        chosen = formats.get(name)
        defaults = read(chosen.settings, self.app.config.debate(name)).model_dump(mode="json")
        settings = {
            each: f"{info.description or ''} (default: {json.dumps(shown(defaults[each]))})".strip()
            for each, info in chosen.settings.model_fields.items()
        }
        return listed.model_copy(update={"summary": chosen.summary, "settings": settings})

    def templates(self) -> str:
        known = self.app.memory.library.templates
        return "\n".join(f"- `{each.front.id}`: {each.front.name}. {each.front.summary}" for each in known)

    async def find(self, caller: Caller, debate_id: str) -> Debate:
        return await self.client.acting_for(caller).find(debate_id)

    async def _follow(self, caller: Caller, debate: Debate, report: ReportProgress) -> None:
        """Report progress until the debate rests or `closing` is set. Raises NoSuchDebate as soon as the caller may no
        longer see it."""
        wording, total = formats.wording_of(debate), await self._steps(debate)
        async with aclosing(self.client.watch(debate)) as updates:
            while (update := await self._next(updates)) is not None and update.debate is None:
                if any(event.turn is not None for event in update.events):
                    await self.find(caller, debate.id)
                for event in update.events:
                    wording.hear(event)
                    if event.turn is not None:
                        done = event.turn.seq
                        words = f"{wording.caption(event).heading}: {wording.phase(event.turn.phase)}"
                        await report(done, None if total is None else max(done, total), words)

    async def _steps(self, debate: Debate) -> int | None:
        """How many steps the debate has at full length. Counted once, also when a caller gives up waiting."""
        if debate.id not in self._totals:
            if len(self._totals) >= MOST_TOTALS:
                del self._totals[next(iter(self._totals))]
            self._totals[debate.id] = asyncio.ensure_future(steps_of(self.app, debate))
        return await asyncio.shield(self._totals[debate.id])

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

    def _state(self, caller: Caller, debate: Debate) -> DebateState:
        return DebateState(
            id=debate.id,
            format=debate.format,
            status=debate.status,
            next=_next(debate, interrupted=self.app.runtime.is_interrupted(debate), may_answer=caller.may("decide")),
        )

    async def _status(self, caller: Caller, debate: Debate) -> DebateStatus:
        gates = await self.store.gates(debate.id) if debate.status == "waiting" else ()
        return status_of(self._state(caller, debate), debate, gates, demonstration=self.app.is_demonstration(debate))


def status_of(state: DebateState, debate: Debate, gates: Iterable[Gate], *, demonstration: bool) -> DebateStatus:
    """What a tool says of a debate: its state, and all that came of it."""
    outcome = debate.outcome
    return DebateStatus(
        **state.model_dump(),
        question=debate.topic,
        headline=outcome.headline if outcome else None,
        answer=outcome.answer if outcome else None,
        how=(outcome.how or None) if outcome else None,
        checked=(checks_words(outcome.checks) or None) if outcome else None,
        statement=(outcome.statement or None) if outcome else None,
        winner=outcome.winner if outcome else None,
        turned_out=None if debate.turned_out is None else _turned_out(debate.turned_out),
        demonstration=demonstration,
        asks=[
            Question(
                key=gate.key,
                kind=gate.kind,
                question=gate.question,
                choices=list(gate.choices),
                artifacts=gate.artifacts or None,
            )
            for gate in gates
            if gate.status == "open"
        ],
        error=None if debate.error is None else masked(debate.error.message),
        turns=debate.turn_count,
        tokens=debate.usage.tokens_in + debate.usage.tokens_out,
        cost_usd=debate.usage.cost_usd,
        transcript=f"moot://debates/{debate.id}/transcript",
    )


def _turned_out(told: TurnedOut) -> str:
    return f"{told.words}: {told.note}" if told.note else told.words


def _item(debate: Debate) -> ListedDebate:
    return ListedDebate(
        id=debate.id,
        question=debate.topic,
        format=debate.format,
        status=debate.status,
        headline=debate.outcome.headline if debate.outcome else None,
        created_at=debate.created_at,
    )


def _check_answer(gates: Iterable[Gate], choice: str | None, text: str, key: str | None) -> None:
    """Refuse an answer that says nothing, or nothing that the question takes."""
    asked = [gate for gate in gates if gate.status == "open" and key in (None, gate.key)]
    if len(asked) != 1:
        return
    gate, question = asked[0], " ".join(asked[0].question.split())[:300]
    if gate.choices and (choice or "").lower() not in [each.lower() for each in gate.choices]:
        given = "is missing" if choice is None else f"is {choice[:100]!r}"
        takes = f"It must be one of: {', '.join(gate.choices)}."
        raise InputError(f"The `choice` {given}. {takes} Ask your user: {question}")
    if not gate.choices and choice is None and not text.strip():
        raise InputError(f"The `text` is missing; if your user has nothing to add, say that. Ask them: {question}")


def _next(debate: Debate, *, interrupted: bool, may_answer: bool = True) -> str:
    if debate.status == "waiting" and not may_answer:
        return _NOT_YOURS
    tool = _TOOLS.get(next_verb(debate.status, interrupted=interrupted))
    if tool is None:
        return f"{STANDING[debate.status]} Begin another with start_debate."
    return f"{next_step(debate.status, interrupted=interrupted, failure=debate.error)} with {tool}."


def explained(error: MootError) -> str:
    """The text of an error, with the tool that does what it advises, or with the names there are."""
    if error.remedy == "scope":
        return f"{error} {_ASK_FOR_SCOPE}"
    if isinstance(error, StoreError):
        return masked(f"{error} Tell your user, and call it again later: nothing was lost.")
    tool = _TOOLS.get(error.remedy)
    text = f"{str(error).removesuffix('.')} with {tool}." if tool else str(error)
    if isinstance(error, UnknownName) and "Known: " not in text:
        known = ", ".join(error.known)
        text += f" Known: {known}." if 0 < len(known) <= MOST_KNOWN else ""
    return masked(text)
