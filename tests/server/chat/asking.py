"""Asking debates with OpenAI's own client."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from typing import Any

import openai

from tests.server.serving import Served, wait_for

QUESTION = "Redis or PostgreSQL?"


def user(text: str = QUESTION) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


class Asking(openai.OpenAI):
    def ask(self, asked: str | list[dict[str, Any]] = QUESTION, model: str = "moot/classic", **more: Any) -> Any:
        """A chat with a question, or with all its messages."""
        messages: Any = user(asked) if isinstance(asked, str) else asked
        return self.chat.completions.create(model=model, messages=messages, **more)


def client(server: Any, key: str = "unused", **more: Any) -> Asking:
    return Asking(base_url=f"{server.url}/v1", api_key=key, **{"max_retries": 0, **more})


def count(server: Served) -> int:
    found, cursor = 0, ""
    while cursor is not None:
        page = server.get("/v1/debates", params={"limit": 200, **({"cursor": cursor} if cursor else {})}).json()
        found, cursor = found + len(page["items"]), page["next"]
    return found


def sums(server: Served, debate_id: str) -> tuple[int, int, int]:
    debate, turns = server.debate(debate_id), server.get(f"/v1/debates/{debate_id}/turns").json()["items"]
    return debate["tokens_in"], debate["tokens_out"], sum(turn["tokens_cached"] for turn in turns)


def left_when(server: Served, body: dict[str, Any], condition: Callable[[], Any]) -> None:
    """Ask, and go away without the answer when the condition holds."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    wait_for(condition, "what the client leaves after")
    connection.close()


def told(chunks: Any) -> tuple[str, str, list[Any]]:
    """The reasoning, the content and all chunks of a stream."""
    reasoning, content, seen = "", "", []
    for chunk in chunks:
        seen.append(chunk)
        for choice in chunk.choices:
            reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            content += choice.delta.content or ""
    return reasoning, content, seen
