"""`Idempotency-Key`: a repeated request creates no second debate and gets the same response."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Header, Response
from pydantic import BaseModel

from moot.client import Client, Once
from moot.core.types import Json

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="any text of your own; the same request with the same key is carried out once",
    ),
]

Answer = Callable[[Once], Awaitable[Response]]


async def once(client: Client, key: str | None, what: str, request: BaseModel, answer: Answer) -> Response:
    """Carry a request out once per key. `answer` creates the debate and makes the response; it may be called again
    after a crash."""
    async with client.once(key, [what, request.model_dump()]) as held:
        if held.response is not None:
            return _replayed(json.loads(held.response))
        response = await answer(held)
        if key is not None:
            await held.keep(_kept(response))
        return response


def _kept(response: Response) -> str:
    headers = {name: response.headers[name] for name in ("location", "etag", "content-type")}
    return json.dumps({"status": response.status_code, "headers": headers, "body": bytes(response.body).decode()})


def _replayed(kept: Json) -> Response:
    return Response(kept["body"], kept["status"], {**kept["headers"], "Idempotency-Replayed": "true"})
