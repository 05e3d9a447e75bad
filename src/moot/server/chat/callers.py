"""Who calls: as for other routes, except that OpenAI's clients always send a key."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from moot.caller import Caller, local_caller
from moot.server.context import Context, Needs, caller_of
from moot.server.problems import Refused


async def client_of(request: Request, context: Context) -> Caller:
    """The caller. Where no token is demanded, a key that is none is ignored."""
    try:
        return await caller_of(request, context)
    except Refused:
        if context.demands_token:
            raise
        return local_caller()


class ClientNeeds(Needs):
    async def __call__(self, caller: Annotated[Caller, Depends(client_of)]) -> Caller:
        return await super().__call__(caller)


Reader = Annotated[Caller, Depends(ClientNeeds("read"))]
Runner = Annotated[Caller, Depends(ClientNeeds("run"))]
Admin = Annotated[Caller, Depends(ClientNeeds("admin"))]
