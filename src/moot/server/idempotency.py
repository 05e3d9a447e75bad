"""`Idempotency-Key`: a repeated request creates no second debate and gets the same response."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Header, Response
from pydantic import BaseModel

from moot.core.types import Debate, Json
from moot.runtime import idempotency as reservations
from moot.runtime.idempotency import KeyReused, Make
from moot.server.context import ServerContext
from moot.server.problems import Refused
from moot.server.tokens import Caller

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="any text of your own; the same request with the same key is carried out once",
    ),
]

Answer = Callable[[Debate], Awaitable[Response]]


async def once(
    context: ServerContext, caller: Caller, key: str | None, what: str, request: BaseModel, make: Make, answer: Answer
) -> Response:
    """Carry a request out once per key. `make` creates the debate under the id it is given; `answer` makes the
    response, and may be called again after a crash."""
    if key is None:
        return await answer(await make(str(uuid.uuid4())))
    name = reservations.key_name(caller.identity, key)
    async with context.alone(name):
        try:
            held = await reservations.reserve(context.store, name, [what, request.model_dump()])
        except KeyReused as error:
            raise Refused("key-reused", str(error)) from None
        if held.response is not None:
            return _replayed(json.loads(held.response))
        response = await answer(await reservations.create_once(context.store, held, make))
        await context.store.answer_key(name, _kept(response))
        return response


def _kept(response: Response) -> str:
    headers = {name: response.headers[name] for name in ("location", "etag", "content-type")}
    return json.dumps({"status": response.status_code, "headers": headers, "body": bytes(response.body).decode()})


def _replayed(kept: Json) -> Response:
    return Response(kept["body"], kept["status"], {**kept["headers"], "Idempotency-Replayed": "true"})
