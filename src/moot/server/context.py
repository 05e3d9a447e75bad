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
from moot.server.limits import Limits
from moot.server.live import Channels
from moot.server.probe import Probe
from moot.server.problems import Refused
from moot.server.schemas import SCOPES
from moot.server.tokens import COOKIE, Caller, TokenChecks, find
from moot.server.tokens import caller_of as caller_with

FULL_ID = 36
CHECKED = 0.4  # of a heartbeat: as long between two checks of a stream's token, and as old is what they may find


class ServerContext:
    def __init__(self, app: App, dispatcher: Dispatcher, limits: Limits, *, demands_token: bool) -> None:
        self.app, self.dispatcher, self.limits, self.demands_token = app, dispatcher, limits, demands_token
        self.heartbeat_seconds = app.settings.serve_heartbeat_seconds
        self.store = app.runtime.store
        self.checks = TokenChecks(self.store, self.heartbeat_seconds * CHECKED)
        self.live = Channels(app.runtime)
        self.probe = Probe(self.store)
        self.closing = asyncio.Event()  # set when the server shuts down: streams end then
        self.listening: Counter[str] = Counter()  # how many chats follow a debate, by its id
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, debate_id: str, caller: Caller) -> Debate:
        """The debate with this id, or with an id that begins so, among those that the caller may see. Raises Refused
        when there is none."""
        only = caller.sees(self.app)
        try:
            full = debate_id if len(debate_id) == FULL_ID else await self.app.runtime.find(debate_id, only)
            debate = await self.store.get(full)
            if only is not None and debate.token_id != only:
                raise NoSuchDebate(debate_id)
            return debate
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


def until_revoked(context: ServerContext, caller: Caller, scope: Scope) -> Callable[[], Coroutine[Any, Any, None]]:
    """Make a wait for streams, which outlive the check of their request: it returns when the caller's token is revoked
    or expired, or has lost the scope. For the local user it never does."""

    async def revoked() -> None:
        while True:
            await asyncio.sleep(context.checks.seconds)
            if caller.token is not None:
                now = await context.checks.find(caller.token.hash)
                if now is None or not caller_with(now).may(scope):
                    return

    return revoked


def check_room(context: ServerContext, caller: Caller) -> None:
    """Raises Refused when the server, or the caller's token, has as many streams open as it may have."""
    limits, live = context.limits, context.live
    if live.streams >= limits.streams:
        raise Refused("too-many-streams", f"{limits.streams:,} streams are open, which is the most. Try again later.")
    if caller.identity and live.by_token[caller.identity] >= limits.token_streams:
        raise Refused(
            "too-many-streams",
            f"The token {caller.name!r} has {limits.token_streams:,} streams open, which is the most. Close some.",
        )


def _needed(what: str) -> Refused:
    return Refused(
        "token-needed",
        f"{what} Send `Authorization: Bearer TOKEN`; the operator of this server makes tokens.",
        headers={"WWW-Authenticate": 'Bearer realm="moot"'},
    )
