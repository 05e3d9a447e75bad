"""Sessions: log a browser in and out with a token."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request, Response

from moot import __version__, tokens
from moot.caller import Caller
from moot.core.ceilings import debate_usd
from moot.core.types import SCOPES, Scope
from moot.server import bodies, schemas
from moot.server.context import Asks, Context, ServerContext
from moot.server.problems import Refused, documented
from moot.server.views import filled
from moot.tokens import COOKIE, SESSION_SECONDS

router = APIRouter(tags=["session"])


@router.get(
    "/v1/session",
    operation_id="getSession",
    summary="The caller's name and scopes",
    response_model=schemas.Me,
    responses=documented("token-needed"),
)
async def me(context: Context, caller: Asks) -> schemas.Me:
    """Also what the caller has used today, and whether this server demands a token."""
    return await _me(context, caller)


@router.post(
    "/v1/session",
    operation_id="login",
    summary="Log a browser in: exchange a token for a session cookie",
    response_model=schemas.Me,
    responses=documented("token-needed", "invalid"),
)
async def login(given: bodies.Login, request: Request, response: Response, context: Context) -> schemas.Me:
    """The cookie can't be read by scripts and is not sent from other sites. It ends after twelve hours, with the token,
    or with `DELETE /v1/session`."""
    caller = await tokens.find(context.store, given.token.strip())
    if caller is None or caller.token is None or caller.token.parent is not None:
        raise Refused("token-needed", "This token is not valid. Ask the operator of this server for another one.")
    secret = await tokens.open_session(context.store, caller.token, time.time())
    response.set_cookie(
        COOKIE,
        secret,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return await _me(context, caller)


@router.delete(
    "/v1/session",
    operation_id="logout",
    summary="Log a browser out",
    status_code=204,
)
async def logout(request: Request, response: Response, context: Context) -> None:
    """Ends the session of the cookie that is sent, if there is one. The token that it was made with stays valid."""
    secret = request.cookies.get(COOKIE)
    caller = await tokens.find(context.store, secret) if secret else None
    if caller is not None and caller.token is not None and caller.token.parent is not None:
        await context.store.drop_token(caller.token.id)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


async def _me(context: ServerContext, caller: Caller) -> schemas.Me:
    viewer = caller.viewer(context.app.settings)
    scopes: list[Scope] = [scope for scope in SCOPES if caller.may(scope)]
    return schemas.Me(
        name=caller.name,
        scopes=scopes,
        token_needed=context.demands_token,
        private=not (viewer is None or viewer.shared),
        expires_at=None if caller.token is None else caller.token.expires_at,
        budget=await _budget(context, caller),
        version=__version__,
    )


async def _budget(context: ServerContext, caller: Caller) -> schemas.Budget:
    today, ceilings = await context.store.today(caller.identity), context.app.ceilings
    left_usd, left_tokens = today.left(ceilings)
    return filled(
        schemas.Budget,
        today.caller,
        left_usd=left_usd,
        left_tokens=left_tokens,
        debate_usd=debate_usd(ceilings),
        debate_tokens=ceilings.debate_tokens,
        opens_at=today.opens_at,
    )
