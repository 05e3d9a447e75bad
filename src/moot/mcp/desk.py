"""What the tools do, without a word of MCP: whoever asks, over whichever transport."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Literal, Protocol

from moot import formats
from moot.app import App
from moot.config import masked, reaching, shown
from moot.errors import InputError, NoSuchDebate, WrongStatus
from moot.mcp.shapes import (
    Decisions,
    FormatAbout,
    Formats,
    Found,
    Item,
    Listing,
    Question,
    Setting,
    Standing,
)
from moot.memory.decisions import headline
from moot.records import transcript
from moot.records.markdown import render
from moot.records.transcript import Voices
from moot.request import Request, merged
from moot.runtime import once
from moot.runtime.runtime import LIVE, Update
from moot.settings import read
from moot.types import Debate, Event, Json, Status

Verb = Literal["start", "resume", "retry"]
Scope = Literal["read", "run", "decide", "admin"]
Tell = Callable[[float, str], Awaitable[None]]  # how far it is, and what happens

MOST_SECONDS = 600.0


class GoesOn(Protocol):
    """Lets a debate go on: here, or by workers."""

    async def go_on(self, debate_id: str, verb: Verb) -> Debate: ...


class Asker(Protocol):
    """Whoever calls a tool."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str:
        """Whose idempotency keys are meant."""
        ...

    def may(self, scope: Scope, /) -> bool: ...


class Here:
    """Whoever sits at this machine."""

    def __init__(self, name: str) -> None:
        self.name, self.identity = name, ""

    def may(self, scope: Scope, /) -> bool:
        return True


class Desk:
    def __init__(self, app: App, runs: GoesOn, closing: asyncio.Event) -> None:
        """`closing` is set when the process is about to end: nobody waits any longer."""
        self.app, self.runs, self.closing = app, runs, closing
        self.store = app.runtime.store

    async def start(
        self, asker: Asker, question: str, format: str | None, settings: Json, key: str | None = None
    ) -> Standing:
        """With a `key`, a repetition creates nothing: it gives where the debate stands that the first one made."""
        _need(asker, "run")
        found = None if asker.may("admin") else reaching(settings)
        if found is not None:
            raise InputError(
                f"The setting {found[0]} names the model {masked(found[1])[:80]!r}, which has an address or reads "
                "files; that takes a token with the scope 'admin'. Choose a model of a known provider."
            )
        asked = ["start_debate", question, format, settings]
        preset = self.app.settings.presets.get(format or "")
        if preset is not None:
            format, settings = preset.format, merged(preset.settings, settings)
        plan = self.app.plan(Request(topic=question, format=format, settings=settings))

        async def make(debate_id: str) -> Debate:
            return await self.app.create(plan, by=asker.name, debate_id=debate_id)

        if key is None:
            made = await make(str(uuid.uuid4()))
        else:
            held = await once.reserve(self.store, once.key_name(asker.identity, key), asked)
            made = await once.made(self.store, held, make)
        if made.status == "pending":
            try:
                made = await self.runs.go_on(made.id, "start")
            except WrongStatus:  # the same call came twice at once
                made = await self.store.get(made.id)
        return await self._standing(made)

    async def status(self, debate_id: str) -> Standing:
        return await self._standing(await self.find(debate_id))

    async def wait(self, debate_id: str, seconds: float, tell: Tell) -> Standing:
        """Until the debate rests, or the time is over: then it goes on, and can be waited for again."""
        debate = await self.find(debate_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, MOST_SECONDS)):
                await self._follow(debate, tell)
        return await self._standing(await self.store.get(debate.id))

    async def answer(self, asker: Asker, debate_id: str, choice: str | None, text: str, key: str | None) -> Standing:
        _need(asker, "decide")
        debate = await self.find(debate_id)
        words: Json = {"text": text, **({} if choice is None else {"choice": choice})}
        await self.app.runtime.answer(debate.id, words, by=asker.name, key=key)
        with suppress(WrongStatus):  # someone else lets it go on
            await self.runs.go_on(debate.id, "resume")
        return await self._standing(await self.store.get(debate.id))

    async def guide(self, asker: Asker, debate_id: str, text: str) -> Standing:
        _need(asker, "decide")
        debate = await self.find(debate_id)
        await self.app.runtime.guide(debate.id, text, by=asker.name)
        return await self._standing(await self.store.get(debate.id))

    async def stop(self, asker: Asker, debate_id: str) -> Standing:
        _need(asker, "run")
        return await self._standing(await self.app.runtime.stop((await self.find(debate_id)).id))

    async def cancel(self, asker: Asker, debate_id: str) -> Standing:
        _need(asker, "run")
        return await self._standing(await self.app.runtime.cancel((await self.find(debate_id)).id))

    async def resume(self, asker: Asker, debate_id: str) -> Standing:
        """One that was stopped, that failed, or that nobody drives."""
        _need(asker, "run")
        debate = await self.find(debate_id)
        if not debate.terminal:
            self.app.check(debate)
        verbs: dict[Status, Verb] = {"failed": "retry", "pending": "start"}
        return await self._standing(await self.runs.go_on(debate.id, verbs.get(debate.status, "resume")))

    async def page(
        self, status: Status | None, format: str | None, contains: str | None, limit: int, after: str | None
    ) -> Listing:
        if format is not None:
            formats.get(format)
        page = await self.store.page(status=status, format=format, contains=contains or None, limit=limit, after=after)
        return Listing(debates=[_item(debate) for debate in page.debates], more=page.next)

    async def search(self, query: str, limit: int) -> Decisions:
        words = " ".join(query.split())
        if not words:
            raise InputError("What should be searched for? Give words, or a whole question.")
        found = await self.app.memory.past.search(words, limit)
        return Decisions(
            found=[
                Found(
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

    async def record(self, debate_id: str) -> str:
        return render(await self.app.record((await self.find(debate_id)).id))

    async def transcript(self, debate_id: str) -> str:
        debate = await self.find(debate_id)
        events: list[Event] = []
        while page := await self.store.events(debate.id, after=events[-1].seq if events else 0):
            events += page
        return transcript.render(debate, events, demonstration=self.app.is_demonstration(debate))

    def formats(self) -> Formats:
        about: list[FormatAbout] = []
        for each in formats.installed().values():
            defaults = read(each.settings, self.app.config.debate(each.name)).model_dump(mode="json")
            settings = [
                Setting(name=name, default=shown(defaults[name]), about=info.description or "")
                for name, info in each.settings.model_fields.items()
            ]
            default = each.name == self.app.settings.format
            about.append(FormatAbout(name=each.name, summary=each.summary, default=default, settings=settings))
        return Formats(formats=about, presets=list(self.app.settings.presets))

    def templates(self) -> str:
        known = self.app.memory.library.templates
        return "\n".join(f"- `{each.front.id}`: {each.front.name}. {each.front.summary}" for each in known)

    async def find(self, debate_id: str) -> Debate:
        """By its id, or the beginning of it."""
        try:
            return await self.store.get(await self.app.runtime.find(debate_id))
        except NoSuchDebate:
            raise InputError(f"There is no debate {debate_id!r}. list_debates has their ids.") from None

    async def _follow(self, debate: Debate, tell: Tell) -> None:
        """Until the debate rests, or the process is about to end."""
        voices, steps = Voices.of(debate), 0.0
        async with aclosing(self.app.runtime.watch(debate.id)) as updates:
            while (update := await self._next(updates)) is not None and update.debate is None:
                for event in update.events:
                    voices.hear(event)
                    if event.turn is not None:
                        steps += 1
                        turn = event.turn
                        await tell(steps, f"{voices.heading(event.type, turn.seat, turn.round)}: {turn.phase}")

    async def _next(self, updates: AsyncGenerator[Update, None]) -> Update | None:
        coming = asyncio.ensure_future(anext(updates, None))
        closing = asyncio.ensure_future(self.closing.wait())
        try:
            await asyncio.wait({coming, closing}, return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else None
        finally:
            closing.cancel()
            coming.cancel()  # and wait until it is: nobody can close a generator that runs
            await asyncio.gather(coming, return_exceptions=True)

    async def _standing(self, debate: Debate) -> Standing:
        outcome: Json = debate.outcome or {}
        gates = await self.store.gates(debate.id) if debate.status == "waiting" else ()
        asks = [
            Question(key=gate.key, kind=gate.kind, question=gate.question, choices=list(gate.choices))
            for gate in gates
            if gate.status == "open"
        ]
        return Standing(
            id=debate.id,
            question=debate.topic,
            format=debate.format,
            status=debate.status,
            turns=debate.turn_count,
            rounds=debate.total_rounds,
            asks=asks,
            headline=outcome.get("headline"),
            statement=outcome.get("statement") or None,
            winner=outcome.get("winner"),
            demonstration=self.app.is_demonstration(debate),
            error=None if debate.error is None else masked(debate.error.message),
            tokens=debate.usage.tokens_in + debate.usage.tokens_out,
            cost_usd=debate.usage.cost_usd,
            record=_record(debate),
            transcript=f"moot://debates/{debate.id}/transcript",
            next=_next(debate),
        )


def _need(asker: Asker, scope: Scope) -> None:
    if not asker.may(scope):
        raise InputError(
            f"The token {asker.name!r} lacks the scope {scope!r}. Use one that has it: "
            f"moot token create NAME --scope read,{scope}"
        )


def _item(debate: Debate) -> Item:
    return Item(
        id=debate.id,
        question=debate.topic,
        format=debate.format,
        status=debate.status,
        headline=(debate.outcome or {}).get("headline"),
        created_at=debate.created_at,
    )


def _record(debate: Debate) -> str:
    return f"moot://debates/{debate.id}/record"


def _next(debate: Debate) -> str:
    if debate.status in ("pending", *LIVE):
        return "It runs, whether someone waits or not: call wait_for_debate, as often as it takes."
    told: dict[Status, str] = {
        "waiting": "Ask the user what it asks, and give the answer with answer_gate.",
        "stopped": "resume_debate lets it go on; cancel_debate ends it for good.",
        "failed": "resume_debate tries its open steps again; nothing that was said is lost.",
        "completed": "It is decided: read_record has the decision record.",
        "canceled": "It was ended without a verdict. start_debate begins a new one.",
    }
    return told[debate.status]
