"""`Idempotency-Key`: a request that creates a debate, sent again, creates none and gets the same response."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Header, Response
from pydantic import BaseModel

from moot.runtime import once as first
from moot.runtime.once import KeyReused, Make
from moot.server.house import House
from moot.server.problems import Refused
from moot.server.tokens import Caller
from moot.types import Debate, Json

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
    house: House, caller: Caller, key: str | None, what: str, asked: BaseModel, make: Make, answer: Answer
) -> Response:
    """`make` creates the debate under the id it is given; `answer` goes on from there, and may be called again."""
    if key is None:
        return await answer(await make(str(uuid.uuid4())))
    name = first.key_name(caller.identity, key)
    async with house.alone(name):
        try:
            held = await first.reserve(house.store, name, [what, asked.model_dump()])
        except KeyReused as error:
            raise Refused("key-reused", str(error)) from None
        if held.response is not None:
            return _again(json.loads(held.response))
        response = await answer(await first.made(house.store, held, make))
        await house.store.answer_reservation(name, _kept(response))
        return response


def _kept(response: Response) -> str:
    headers = {name: response.headers[name] for name in ("location", "etag", "content-type")}
    return json.dumps({"status": response.status_code, "headers": headers, "body": bytes(response.body).decode()})


def _again(kept: Json) -> Response:
    return Response(kept["body"], kept["status"], {**kept["headers"], "Idempotency-Replayed": "true"})
