"""What all routes share: the app, the dispatcher, live streams; and the dependencies that check a caller's token."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Path, Request
from starlette.types import Scope as ASGIScope

from moot.app import App
from moot.caller import ASGI_CALLER, Caller, local_caller
from moot.client import Client
from moot.core.errors import MootError, WrongStatus
from moot.core.types import Debate, Scope
from moot.dispatch import Dispatcher
from moot.evaluate.viewing import Reports
from moot.server import views
from moot.server.guard import ENDING, LOGIN_PATH
from moot.server.limits import Limits
from moot.server.live import Channels
from moot.server.probe import Probe
from moot.server.problems import Refused, refusal
from moot.tokens import COOKIE, TokenChecks, find
from moot.tokens import caller_of as caller_with

INVALID = "The token is not valid: it was revoked, or never made."
CHECKED = 0.4  # of a heartbeat: as long between two checks of a stream's token, and as old is what they may find


class ServerContext:
    def __init__(self, app: App, dispatcher: Dispatcher, limits: Limits, *, demands_token: bool) -> None:
        self.app, self.dispatcher, self.limits, self.demands_token = app, dispatcher, limits, demands_token
        self.client = Client(app, dispatcher)
        self.heartbeat_seconds = app.settings.serve_heartbeat_seconds
        self.store = app.runtime.store
        self.checks = TokenChecks(self.store, self.heartbeat_seconds * CHECKED)
        self.live = Channels(app.runtime)
        self.probe = Probe(self.store)
        self.reports = Reports()
        self.closing = asyncio.Event()  # set when the server shuts down: streams end then
        self.listening: Counter[str] = Counter()  # how many chats follow a debate, by its id

    async def find(self, debate_id: str, caller: Caller) -> Debate:
        """See `Client.find`."""
        return await self.client.acting_for(caller).find(debate_id)

    def refusal(self, error: WrongStatus, debate: Debate) -> Refused:
        """The problem to answer with, which lists what can be done instead."""
        return Refused("wrong-status", str(error), actions=views.actions(self.app, debate))


async def context_of(request: Request) -> ServerContext:  # async: FastAPI would call a plain function in a thread
    return request.app.state.context


Context = Annotated[ServerContext, Depends(context_of)]
DebateId = Annotated[str, Path(description="the debate's id, or an unambiguous beginning of it", max_length=64)]


async def caller_of(request: Request, context: Context) -> Caller:
    """The caller by bearer token or session cookie; without one, the local user, where no token is demanded. Looked up
    once for a request."""
    if ASGI_CALLER not in request.scope:
        request.scope[ASGI_CALLER] = await _looked_up(request, context)
    return request.scope[ASGI_CALLER]


async def _looked_up(request: Request, context: ServerContext) -> Caller:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind:
        caller = await find(context.store, secret.strip()) if kind.lower() == "bearer" else None
        if caller is None:
            raise token_needed(INVALID)
        return caller
    cookie = request.cookies.get(COOKIE)
    caller = await find(context.store, cookie) if cookie else None
    if caller is not None:
        return caller
    if context.demands_token:
        raise token_needed("This server demands a token.")
    return local_caller()


async def admit(scope: ASGIScope) -> None:
    """Look a caller up before the body of the request is received, where a token is demanded. Raises Refused. A login
    has its token in its body."""
    context: ServerContext = scope["app"].state.context
    if context.demands_token and scope["path"] != LOGIN_PATH:
        try:
            await caller_of(Request(scope), context)
        except MootError as error:
            raise refusal(error) from error


Asks = Annotated[Caller, Depends(caller_of)]


class Needs:
    """A dependency: the caller must have a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope: Scope = scope

    async def __call__(self, caller: Asks) -> Caller:
        caller.need(self.scope)
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


def take_room(asked: ASGIScope, context: ServerContext, caller: Caller) -> None:
    """Count a request as a stream of its caller's until it has ended. Raises Refused when the server, or the caller's
    token, has as many streams open as it may have."""
    limits, live = context.limits, context.live
    if live.streams >= limits.streams:
        raise Refused("too-many-streams", f"{limits.streams:,} streams are open, which is the most. Try again later.")
    if caller.identity and live.by_token[caller.identity] >= limits.token_streams:
        raise Refused(
            "too-many-streams",
            f"The token {caller.name!r} has {limits.token_streams:,} streams open, which is the most. Close some.",
        )
    asked[ENDING].enter_context(live.counted(caller.identity))


def token_needed(what: str) -> Refused:
    return Refused(
        "token-needed",
        f"{what} Send `Authorization: Bearer TOKEN`; the operator of this server makes tokens.",
        headers={"WWW-Authenticate": 'Bearer realm="moot"'},
    )
