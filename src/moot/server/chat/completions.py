"""Responses in OpenAI's shape: completions, chunks, usage, errors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moot import __version__
from moot.core.types import Debate, Gate, Json, Turn, Usage
from moot.records.transcript import outcome_text
from moot.server.problems import MEDIA_TYPE

PATHS = ("/v1/models", "/v1/chat/")
DEBATE_HEADER = "X-Moot-Debate"

# ASCII: text in flight can end in the middle of a character, which UTF-8 has no form for.
_dumps = json.JSONEncoder(separators=(",", ":")).encode

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


def usage_of(usage: Usage, reasoning: int = 0) -> Json:
    return {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
        "prompt_tokens_details": {"cached_tokens": usage.tokens_cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def usage_of_debate(debate: Debate, turns: Iterable[Turn], answer: str) -> Json:
    """Usage of all calls. Tokens that are not part of the answer count as reasoning."""
    spent, cached, answered = debate.usage, debate.lost.tokens_cached, 0
    for turn in turns:
        cached += turn.tokens_cached
        if turn.kind == "ask" and turn.content.strip() and turn.content.strip() in answer:
            answered += turn.tokens_out
    whole = Usage(tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, tokens_cached=cached)
    return usage_of(whole, max(0, spent.tokens_out - answered))


def answer_of(debate: Debate, gates: Iterable[Gate], *, demonstration: bool) -> tuple[str, str]:
    """Content and finish reason for a debate that is completed or waits for a person."""
    if debate.outcome is not None:
        cut = debate.outcome.ended_by == "max_total_output_tokens"
        return outcome_text(debate.outcome, demonstration=demonstration), "length" if cut else "stop"
    asked = [gate.question for gate in gates if gate.status == "open"]
    how = f"Answer it at /debates/{debate.id} in the dashboard, or with POST /v1/debates/{debate.id}/answer."
    return "\n\n".join([f"**The debate {debate.short} waits for a person.**", *asked, how]), "stop"


class Completion:
    """One answer, as a whole or in chunks."""

    def __init__(self, model: str, debate: Debate | None, *, id: str, created: int) -> None:
        version = f"{debate.format}-{debate.format_version}" if debate else "chore"
        self._about: Json = {
            "id": f"chatcmpl-{id}",
            "created": created,
            "model": model,
            "system_fingerprint": f"moot-{__version__}-{version}",
        }
        self._moot: Json = {} if debate is None else {"moot": {"debate": debate.id, "format": debate.format}}

    def whole(self, content: str, reasoning: str | None, finish: str, usage: Json) -> bytes:
        message: Json = {"role": "assistant", "content": content, "refusal": None}
        if reasoning is not None:
            message["reasoning_content"] = reasoning
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        body = {**self._about, "object": "chat.completion", "choices": [choice], "usage": usage, **self._moot}
        return _dumps(body).encode()

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._chunk({"choices": [choice]})

    def usage(self, usage: Json) -> bytes:
        return self._chunk({"choices": [], "usage": usage})

    def _chunk(self, more: Json) -> bytes:
        return data({**self._about, "object": "chat.completion.chunk", **more, **self._moot})


def data(chunk: Json) -> bytes:
    return f"data: {_dumps(chunk)}\n\n".encode()


def error_of(status: int, message: str, code: str, param: str | None = None) -> Json:
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


class OpenAIErrors:
    """Middleware: problems of the chat paths in OpenAI's shape, those of the guard included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PATHS):
            await self.app(scope, receive, send)
            return
        begun: Message | None = None
        body = b""

        async def translated(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start" and _is_problem(message):
                begun = message
            elif begun is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    error = _translated(begun["status"], json.loads(body))
                    headers = MutableHeaders(scope=begun)
                    headers["content-type"], headers["content-length"] = "application/json", str(len(error))
                    await send(begun)
                    await send({"type": "http.response.body", "body": error})

        await self.app(scope, receive, translated)


def _is_problem(message: Message) -> bool:
    return (MutableHeaders(scope=message).get("content-type") or "").startswith(MEDIA_TYPE)


def _translated(status: int, problem: Json) -> bytes:
    wrong: list[Any] = problem.get("errors") or []
    where = str(wrong[0].get("where", "")).removeprefix("body.") if wrong else None
    code = problem.get("code") or str(problem.get("type", "")).rpartition(":")[2].replace("-", "_")
    return _dumps(error_of(status, str(problem.get("detail", "")), code, problem.get("param") or where)).encode()
