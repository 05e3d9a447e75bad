"""What all routes share: the app, the dispatcher, live streams; and the dependencies that check a caller's token."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Annotated, Any
from weakref import WeakValueDictionary

from fastapi import Depends, Path, Request

from moot.app import App, person
from moot.core.errors import DebateDeleted, NoSuchDebate, WrongStatus
from moot.core.types import Debate, Scope
from moot.server import views
from moot.server.dispatch import Dispatcher
from moot.server.live import Channels
from moot.server.problems import Refused
from moot.server.schemas import SCOPES
from moot.server.tokens import COOKIE, Caller, find

FULL_ID = 36


class ServerContext:
    def __init__(self, app: App, dispatcher: Dispatcher, *, demands_token: bool) -> None:
        self.app, self.dispatcher, self.demands_token = app, dispatcher, demands_token
        self.store = app.runtime.store
        self.live = Channels(app.runtime)
        self.closing = asyncio.Event()  # set when the server shuts down: streams end then
        self.listening: Counter[str] = Counter()  # how many chats follow a debate, by its id
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, debate_id: str) -> Debate:
        """The debate with this id, or with an id that begins so. Raises Refused when there is none."""
        try:
            full = debate_id if len(debate_id) == FULL_ID else await self.app.runtime.find(debate_id)
            return await self.store.get(full)
        except DebateDeleted:
            raise
        except NoSuchDebate:
            raise Refused("unknown-debate", f"There is no debate {debate_id!r}. GET /v1/debates lists them.") from None

    async def started(self, debate: Debate) -> Debate:
        """Start a debate that was just created, unless another process that got the same request already has."""
        if debate.status != "pending":
            return debate
        try:
            return await self.dispatcher.dispatch(debate.id, "start")
        except WrongStatus:
            return await self.store.get(debate.id)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncGenerator[None]:
        """Hold the lock of this name: one holder at a time, in this process."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            yield

    def refusal(self, error: WrongStatus, debate: Debate) -> Refused:
        """The problem to answer with, which lists what can be done instead."""
        return Refused("wrong-status", str(error), actions=views.actions(self.app, debate))


async def context_of(request: Request) -> ServerContext:  # async: FastAPI would call a plain function in a thread
    return request.app.state.context


Context = Annotated[ServerContext, Depends(context_of)]
DebateId = Annotated[str, Path(description="the debate's id, or an unambiguous beginning of it", max_length=64)]


async def caller_of(request: Request, context: Context) -> Caller:
    """The caller by bearer token or session cookie; without one, the local user, where no token is demanded."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind:
        caller = await find(context.store, secret.strip()) if kind.lower() == "bearer" else None
        if caller is None:
            raise _needed("The token is not valid: it was revoked, or never made.")
        return caller
    cookie = request.cookies.get(COOKIE)
    caller = await find(context.store, cookie) if cookie else None
    if caller is not None:
        return caller
    if context.demands_token:
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
                f"The token {caller.name!r} lacks the scope {self.scope!r}. Ask the operator of this server for one "
                "that has it.",
            )
        return caller


Reader = Annotated[Caller, Depends(Needs("read"))]
Runner = Annotated[Caller, Depends(Needs("run"))]
Decider = Annotated[Caller, Depends(Needs("decide"))]
Admin = Annotated[Caller, Depends(Needs("admin"))]


def still_allowed(context: ServerContext, caller: Caller, scope: Scope) -> Callable[[], Coroutine[Any, Any, bool]]:
    """A check for streams, which outlive the check of their request: the token may be revoked meanwhile."""

    async def check() -> bool:
        if caller.token is None:
            return True
        now = await context.store.token(caller.token.hash)
        return now is not None and (scope in now.scopes or "admin" in now.scopes)

    return check


def _needed(what: str) -> Refused:
    return Refused(
        "token-needed",
        f"{what} Send `Authorization: Bearer TOKEN`; the operator of this server makes tokens.",
        headers={"WWW-Authenticate": 'Bearer realm="moot"'},
    )
