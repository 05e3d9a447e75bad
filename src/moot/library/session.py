"""moot in asynchronous code: debates that run in this process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from moot.client import Client
from moot.client.shorthand import settings_of
from moot.core.errors import InputError
from moot.core.types import Json, Status
from moot.formats.format import Effort
from moot.library.handle import AsyncDebate
from moot.library.matches import Match
from moot.library.plans import Plan
from moot.library.view import DebateView
from moot.records.compare import Comparison
from moot.request import Request, read_effort
from moot.store import KnownLesson


class AsyncMoot:
    """Made by `async with moot.open() as m`. Debates run in this process, beside other code, as long as it is open; one
    that still runs then is stopped, and can be resumed."""

    def __init__(self, client: Client) -> None:
        self.client = client  # the use cases below this library, for those who need more

    async def debate(
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
        start: bool = True,
        **settings: Any,
    ) -> AsyncDebate:
        """Begin a debate; it does not wait for its end. `format`: the rules, or a preset; by default, what suits the
        question. `model`: of everyone, `judge_model`: of the judge alone. `checkpoints=False`: don't ask a person
        between rounds. `guide`: what everyone should bear in mind. `key`: an idempotency key; the same call with the
        same key gives the same debate. `private`: on a server with the same database, only admins see it. `follows`: a
        debate with an answer, or its id; every seat is told its question and its answer. Further arguments are settings
        of the format, such as `rounds=3`. Raises InputError before anything is written."""
        asked: Json = {"effort": effort, "model": model, "judge_model": judge_model, "checkpoints": checkpoints}
        request = self._request(question, format, settings, **asked)
        if private not in (True, False):
            raise InputError("`private` must be True or False.")
        after = follows.id if isinstance(follows, DebateView) else follows
        plan = await self.client.plan(replace(request, private=private, follows=after))
        whole = ["debate", question, format, effort, request.settings, guide, private, after]
        async with self.client.once(key, whole) as once:
            made = await self.client.create(
                plan, once=once, start=start, guidance=guide, remedy="recall_decisions=True"
            )
        return await AsyncDebate.of(self.client, made)

    async def plan(
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
        plan = await self.client.plan(self._request(question, format, settings, **asked))
        return Plan.of(plan, await self.client.estimate(plan))

    async def get(self, debate_id: str) -> AsyncDebate:
        """A stored debate, by its id or the beginning of it."""
        return await AsyncDebate.of(self.client, await self.client.find(debate_id))

    async def debates(
        self,
        *,
        status: Status | None = None,
        format: str | None = None,
        contains: str | None = None,
        tag: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = False,
        limit: int = 20,
    ) -> list[AsyncDebate]:
        """Stored debates, newest first. `archived`: only those in the archive, or None for all."""
        page = await self.client.page(
            status=status, format=format, contains=contains, tag=tag, pinned=pinned, archived=archived, limit=limit
        )
        return list(await asyncio.gather(*(AsyncDebate.of(self.client, debate) for debate in page.debates)))

    async def search(self, query: str, limit: int = 10) -> list[Match]:
        """Completed debates that are about something, best first."""
        return [Match.of(past) for past in (await self.client.search(query, limit)).past]

    async def lessons(self, query: str = "", limit: int = 20) -> list[KnownLesson]:
        """What debates have learnt: the lessons about something, best first, or without a query the newest."""
        return [known for known, _ in (await self.client.lessons.search(query, limit)).found]

    async def compare(self, one: DebateView | str, two: DebateView | str) -> Comparison:
        """Where two debates part."""
        found = [await self.client.find(each if isinstance(each, str) else each.id) for each in (one, two)]
        return await self.client.compare(*found)

    async def close(self) -> None:
        """Called by `async with`."""
        await self.client.app.close()

    def _request(
        self,
        question: str,
        format: str | None,
        settings: Json,
        *,
        effort: str | None,
        model: str | None,
        judge_model: str | None,
        checkpoints: bool,
    ) -> Request:
        chosen = settings_of(
            self.client.app, format, settings, model=model, judge_model=judge_model, checkpoints=checkpoints
        )
        return Request(topic=question, format=format, settings=chosen, effort=read_effort(effort))
