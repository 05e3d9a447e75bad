"""Sources of timestamped text at the pace of a fast model, run as a separate process: `python -m perf.chunk_source`.

- `/sse` is a bare Starlette app with server-sent events, the reference for a stream to a browser.
- `/v1/chat/completions` is an OpenAI-compatible provider for moot to call."""

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


async def chunks(count: int, per_second: float) -> AsyncGenerator[str]:
    """Yield chunks that each hold the time at which they were sent, in monotonic nanoseconds.

    Intervals vary: at a fixed pace, chunks would stay in step with the server's send window.
    """
    random = Random(next(_SEEDS))
    for _ in range(count):
        await asyncio.sleep(random.uniform(0.5, 1.5) / per_second)
        yield f"{time.monotonic_ns()} "


def timestamps(text: str) -> list[int]:
    """Parse the complete chunks at the start of `text`. Empty for text from another model."""
    return [int(each) for each in text[: text.rfind(" ") + 1].split()] if text[:1].isdigit() else []


async def sse(request: Request) -> Response:
    count, per_second = int(request.query_params["chunks"]), float(request.query_params["pace"])

    async def events() -> AsyncGenerator[bytes]:
        async for chunk in chunks(count, per_second):
            yield f"event: delta\ndata: {json.dumps({'text': chunk})}\n\n".encode()
        yield b"event: end\ndata: {}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


async def complete(request: Request) -> Response:
    """Stream a completion. The model's name sets its length and pace: `400x50` is 400 chunks at 50 per second."""
    body = await request.json()
    count, _, pace = body["model"].partition("x")
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    usage = {"prompt_tokens": 100, "completion_tokens": int(count), "total_tokens": 100 + int(count)}

    def event(*choices: object, **more: object) -> bytes:
        return f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n".encode()

    async def events() -> AsyncGenerator[bytes]:
        async for chunk in chunks(int(count), float(pace)):
            yield event({"index": 0, "delta": {"content": chunk}})
        yield event({"index": 0, "delta": {}, "finish_reason": "stop"})
        yield event(usage=usage)
        yield b"data: [DONE]\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


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
    asyncio.run(uvicorn.Server(config).serve(sockets=[bound]))


if __name__ == "__main__":
    main()
