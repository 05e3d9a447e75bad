"""`Idempotency-Key`: a request that creates a debate, sent again, creates none and gets the same response.

The key is written down with the id of the debate to come before that is made. So if the process dies in between, the
repetition finds either nothing, and makes it under that very id, or the debate, and says so."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated

from fastapi import Header, Response
from pydantic import BaseModel

from moot.errors import NoSuchDebate, StoreError
from moot.server.house import House
from moot.server.problems import Refused
from moot.server.tokens import Caller
from moot.store import Reservation
from moot.types import Debate, Json

KEEP_SECONDS = 7 * 86_400

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="any text of your own; the same request with the same key is carried out once",
    ),
]

Make = Callable[[str], Awaitable[Debate]]
Answer = Callable[[Debate], Awaitable[Response]]


async def once(
    house: House, caller: Caller, key: str | None, what: str, asked: BaseModel, make: Make, answer: Answer
) -> Response:
    """`make` creates the debate under the id it is given; `answer` goes on from there, and may be called again."""
    if key is None:
        return await answer(await make(str(uuid.uuid4())))
    whose = caller.token.parent or caller.token.id if caller.token else ""
    name = hashlib.sha256(json.dumps([whose, key]).encode()).hexdigest()
    wanted = hashlib.sha256(json.dumps([what, asked.model_dump()], sort_keys=True).encode()).hexdigest()
    async with house.alone(name):
        mine = Reservation(key=name, hash=wanted, debate_id=str(uuid.uuid4()))
        held = await house.store.reserve(mine, KEEP_SECONDS)
        if held.hash != wanted:
            raise Refused(
                "key-reused", "This Idempotency-Key belongs to another request. Use a new key for a new request."
            )
        if held.response is not None:
            return _again(json.loads(held.response))
        debate = await _made(house, held.debate_id) or await _make(house, held.debate_id, make)
        response = await answer(debate)
        await house.store.answer_reservation(name, _kept(response))
        return response


async def _made(house: House, debate_id: str) -> Debate | None:
    with suppress(NoSuchDebate):
        return await house.store.get(debate_id)
    return None


async def _make(house: House, debate_id: str, make: Make) -> Debate:
    try:
        return await make(debate_id)
    except StoreError:
        made = await _made(house, debate_id)  # another process has got the same request, and was faster
        if made is None:
            raise
        return made


def _kept(response: Response) -> str:
    headers = {name: response.headers[name] for name in ("location", "etag", "content-type")}
    return json.dumps({"status": response.status_code, "headers": headers, "body": bytes(response.body).decode()})


def _again(kept: Json) -> Response:
    return Response(kept["body"], kept["status"], {**kept["headers"], "Idempotency-Replayed": "true"})
