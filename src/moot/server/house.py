"""What all routes share: the app, who lets debates go on, who watches, and how they get at them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Annotated, Any
from weakref import WeakValueDictionary

from fastapi import Depends, Path, Request

from moot.app import App, person
from moot.errors import NoSuchDebate, WrongStatus
from moot.server import views
from moot.server.going import Runs
from moot.server.live import Live
from moot.server.problems import Refused
from moot.server.schemas import SCOPES, Scope
from moot.server.tokens import COOKIE, Caller, find
from moot.types import Debate

FULL_ID = 36


class House:
    def __init__(self, app: App, runs: Runs, *, demands_token: bool) -> None:
        self.app, self.runs, self.demands_token = app, runs, demands_token
        self.store = app.runtime.store
        self.live = Live(app.runtime)
        self.closing = asyncio.Event()  # set when the server is told to end: streams end then
        self.listening: Counter[str] = Counter()  # chats that follow a debate, by its id
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, debate_id: str) -> Debate:
        """By its id, or the beginning of it."""
        try:
            full = debate_id if len(debate_id) == FULL_ID else await self.app.runtime.find(debate_id)
            return await self.store.get(full)
        except NoSuchDebate:
            raise Refused("unknown-debate", f"There is no debate {debate_id!r}. GET /v1/debates lists them.") from None

    async def started(self, debate: Debate) -> Debate:
        """One that was just made. Whoever sent the same request to another process may have been faster."""
        if debate.status != "pending":
            return debate
        try:
            return await self.runs.go_on(debate.id, "start")
        except WrongStatus:
            return await self.store.get(debate.id)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncGenerator[None]:
        """One at a time for each name, in this process."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            yield

    def refusal(self, error: WrongStatus, debate: Debate) -> Refused:
        """With what can be done instead."""
        return Refused("wrong-status", str(error), actions=views.actions(self.app, debate))


async def house_of(request: Request) -> House:  # not a plain function: each request would wait for a thread to call it
    return request.app.state.house


Here = Annotated[House, Depends(house_of)]
DebateId = Annotated[str, Path(description="the debate's id, or an unambiguous beginning of it", max_length=64)]


async def caller_of(request: Request, house: Here) -> Caller:
    """Whoever has a valid token or session; without one, whoever sits at this machine, where that is enough."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind:
        caller = await find(house.store, secret.strip()) if kind.lower() == "bearer" else None
        if caller is None:
            raise _needed("The token is not valid: it was revoked, or never made.")
        return caller
    cookie = request.cookies.get(COOKIE)
    caller = await find(house.store, cookie) if cookie else None
    if caller is not None:
        return caller
    if house.demands_token:
        raise _needed("This server demands a token.")
    return Caller(name=person(), scopes=frozenset(SCOPES))


Asks = Annotated[Caller, Depends(caller_of)]


class Needs:
    """A dependency: the caller must have a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope: Scope = scope

    async def __call__(self, caller: Asks) -> Caller:
        if not caller.may(self.scope):
            raise Refused(
                "scope-missing",
                f"The token {caller.name!r} lacks the scope {self.scope!r}. Make one that has it: "
                f"moot token create NAME --scope {self.scope}",
            )
        return caller


Reader = Annotated[Caller, Depends(Needs("read"))]
Runner = Annotated[Caller, Depends(Needs("run"))]
Decider = Annotated[Caller, Depends(Needs("decide"))]
Admin = Annotated[Caller, Depends(Needs("admin"))]


def still_allowed(house: House, caller: Caller, scope: Scope) -> Callable[[], Coroutine[Any, Any, bool]]:
    """For what lasts longer than a request: a token can be revoked meanwhile."""

    async def check() -> bool:
        if caller.token is None:
            return True
        now = await house.store.token(caller.token.hash)
        return now is not None and (scope in now.scopes or "admin" in now.scopes)

    return check


def _needed(what: str) -> Refused:
    return Refused(
        "token-needed",
        f"{what} Send `Authorization: Bearer TOKEN`; make one with: moot token create NAME --scope read,run,decide",
        headers={"WWW-Authenticate": 'Bearer realm="moot"'},
    )
