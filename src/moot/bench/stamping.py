"""Text that says when it was sent, in pieces, at the pace of a quick model. A process of its own, in two parts:

- `/sse` is a bare Starlette app with server-sent events: the least that a stream to a browser costs.
- `/v1/chat/completions` is a provider as OpenAI's clients know it, for moot to ask.

    python -m moot.bench.stamping"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from random import Random

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from moot.server.serving import address_of, listen

_SEEDS = iter(range(1_000_000))


async def pieces(count: int, per_second: float) -> AsyncGenerator[str]:
    """Uneven, as from a model: in step with anyone's clock they would always wait equally long."""
    chance = Random(next(_SEEDS))
    for _ in range(count):
        await asyncio.sleep(chance.uniform(0.5, 1.5) / per_second)
        yield f"{time.monotonic_ns()} "


def stamps(text: str) -> list[int]:
    """Nanoseconds, of pieces that are there as a whole; none in what other models write."""
    return [int(each) for each in text[: text.rfind(" ") + 1].split()] if text[:1].isdigit() else []


async def sse(request: Request) -> Response:
    count, per_second = int(request.query_params["chunks"]), float(request.query_params["pace"])

    async def told() -> AsyncGenerator[bytes]:
        async for piece in pieces(count, per_second):
            yield f"event: delta\ndata: {json.dumps({'text': piece})}\n\n".encode()
        yield b"event: end\ndata: {}\n\n"

    return StreamingResponse(told(), media_type="text/event-stream")


async def complete(request: Request) -> Response:
    """The model's name says how much and how fast: `400x50` is 400 pieces, 50 a second."""
    asked = await request.json()
    count, _, pace = asked["model"].partition("x")
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}
    usage = {"prompt_tokens": 100, "completion_tokens": int(count), "total_tokens": 100 + int(count)}

    def event(*choices: object, **more: object) -> bytes:
        return f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n".encode()

    async def told() -> AsyncGenerator[bytes]:
        async for piece in pieces(int(count), float(pace)):
            yield event({"index": 0, "delta": {"content": piece}})
        yield event({"index": 0, "delta": {}, "finish_reason": "stop"})
        yield event(usage=usage)
        yield b"data: [DONE]\n\n"

    return StreamingResponse(told(), media_type="text/event-stream")


async def models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": []})


def main() -> None:
    bound = listen("127.0.0.1", 0)
    print(f"listens on {address_of(bound, '127.0.0.1')}", flush=True)
    routes = [
        Route("/sse", sse),
        Route("/v1/models", models),
        Route("/v1/chat/completions", complete, methods=["POST"]),
    ]
    config = uvicorn.Config(Starlette(routes=routes), log_level="warning", access_log=False, loop="asyncio")
    server = uvicorn.Server(config)
    asyncio.run(server.serve(sockets=[bound]))


if __name__ == "__main__":
    main()
