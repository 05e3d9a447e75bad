"""Conversations: the question in them, and what was said before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from moot.core.types import Json
from moot.reasoning.conversation import context
from moot.reasoning.fence import one_line, shorten
from moot.server.problems import Refused

MAX_CALL_CHARS = 500
_TEXTS = ("text", "input_text", "output_text", "refusal")

# One wrong part is enough to refuse a request: errors for thousands of them would take long to make.
Parts = Annotated[list[Json], Field(fail_fast=True)]
Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: Role
    content: str | Parts | None = None
    tool_calls: Parts | None = None

    @property
    def text(self) -> str:
        calls = [_call(cast(Json, call.get("function") or {})) for call in self.tool_calls or ()]
        return "\n".join(filter(None, [self._content, *calls]))

    @property
    def _content(self) -> str:
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        for part in self.content:
            if part.get("type") not in _TEXTS:
                kind = str(part.get("type"))[:40]
                raise Refused("invalid", f"Debates are about words: content of the type {kind!r} can't be read.")
        return "\n".join(str(part.get("text") or part.get("refusal") or "") for part in self.content)

    @property
    def instructs(self) -> bool:
        return self.role in ("system", "developer")


def messages_of(items: Sequence[Json]) -> list[Message]:
    """The items of a response's input as messages. Those without words, such as reasoning, are left out. Raises
    Refused."""
    made: list[Message] = []
    for item in items:
        match item.get("type", "message"):
            case "message" if item.get("role") in ("system", "developer", "user", "assistant"):
                content = item.get("content")
                made.append(Message(role=item["role"], content=_content(content)))
            case "message":
                raise Refused("invalid", "A message needs a `role`: 'user', 'assistant', 'system' or 'developer'.")
            case "function_call":
                made.append(Message(role="assistant", tool_calls=[{"function": item}]))
            case "function_call_output":
                output = item.get("output")
                made.append(Message(role="tool", content=_content(output)))
            case _:
                pass
    return made


def context_of(before: Sequence[Message]) -> str:
    """The system prompt and the newest of the earlier messages that fit, fenced."""
    system = "\n\n".join(each.text for each in before if each.instructs)
    return context(system, [(each.role, each.text) for each in before if not each.instructs])


def earlier_question(before: Sequence[Message]) -> str:
    """What the user had said last before the question; empty if nothing."""
    return next((each.text for each in reversed(before) if each.role == "user" and each.text.strip()), "")


def _content(given: Any) -> str | list[Json] | None:
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, list) and all(isinstance(part, dict) for part in cast("list[Any]", given)):
        return cast("list[Json]", given)
    raise Refused("invalid", "The `content` of a message must be text, or a list of parts with a `type`.")


def _call(function: Json) -> str:
    name, arguments = one_line(str(function.get("name", "")), 80), one_line(str(function.get("arguments", "")))
    return f"[called {name} with {shorten(arguments, MAX_CALL_CHARS)}]"
