"""Calls, fake models and listeners for tests of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from moot.core.types import Answer, Call, Hear, Message, Model, Reply, Usage


class Score(Answer):
    reasoning: str
    score: int = Field(ge=1, le=10)
    winner: Literal["a", "b"]


GOOD = '{"reasoning": "Fair.", "score": 7, "winner": "a"}'
OTHER = '{"reasoning": "Fair.", "score": 3, "winner": "b"}'


def call(text: str = "Say yes.", *, key: str = "1/say/a", seat: str = "a", **more: Any) -> Call:
    messages = more.pop("messages", (Message(role="user", text=text),))
    return Call(key=key, seat=seat, messages=messages, **{"max_tokens": 100, **more})


class Listener:
    """Records streamed text. `text` is what the last attempt wrote."""

    def __init__(self) -> None:
        self.heard: list[str | None] = []

    def __call__(self, text: str | None, /) -> None:
        self.heard.append(text)

    @property
    def text(self) -> str:
        start = len(self.heard) - self.heard[::-1].index(None) if None in self.heard else 0
        return "".join(piece or "" for piece in self.heard[start:])


def fake(*steps: str | Reply | Exception | Callable[[Call, Hear], Any]) -> tuple[Model, list[Call]]:
    """Return a model that takes one step per call and repeats the last, and the list of calls it gets."""
    calls: list[Call] = []

    async def model(call: Call, hear: Hear) -> Reply:
        calls.append(call)
        step = steps[min(len(calls), len(steps)) - 1]
        if isinstance(step, Exception):
            raise step
        if isinstance(step, str):
            hear(step)
            step = Reply(text=step, model="fake", provider="fake", usage=Usage(tokens_in=10, tokens_out=5))
        if callable(step):
            return await step(call, hear)
        return step

    return model, calls
