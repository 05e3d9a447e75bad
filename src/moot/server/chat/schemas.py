"""Schemas of the chat routes, for OpenAPI. The shapes are OpenAI's; additions of moot are marked."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from moot.formats import DEFAULT
from moot.server.problems import KINDS


class ChatModel(BaseModel):
    """A format or a preset, as a model."""

    id: str = Field(examples=[f"moot/{DEFAULT}"])
    object: Literal["model"]
    created: int
    owned_by: str
    description: str = Field(description="moot's own: what the format is for")


class ChatModelList(BaseModel):
    object: Literal["list"]
    data: list[ChatModel]


class PromptTokens(BaseModel):
    cached_tokens: int


class CompletionTokens(BaseModel):
    reasoning_tokens: int


class ChatUsage(BaseModel):
    """The sum over all calls of the debate."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokens
    completion_tokens_details: CompletionTokens


class ChatAnswer(BaseModel):
    role: Literal["assistant"]
    content: str = Field(description="the outcome")
    refusal: str | None = Field(description="always null: a debate gives an answer, or says why it has none")
    reasoning_content: str = Field("", description="the debate; a chore has none")


class ChatChoice(BaseModel):
    index: Literal[0]
    message: ChatAnswer
    logprobs: dict[str, Any] | None = Field(description="always null: a debate has none")
    finish_reason: Literal["stop", "length"]


class ChatDebate(BaseModel):
    """moot's own: the debate that the answer comes from."""

    debate: str
    format: str


class ChatCompletion(BaseModel):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    system_fingerprint: str
    choices: list[ChatChoice]
    usage: ChatUsage
    moot: ChatDebate | None = Field(None, description="a chore has none")


class ChatProblem(BaseModel):
    message: str = Field(description="what happened, and what to do next")
    type: str
    param: str | None
    code: str = Field(description="the slug of moot's problem, with underscores")


class ChatError(BaseModel):
    """Why a request was refused, as OpenAI's clients know it."""

    error: ChatProblem


# Of every request that may begin a debate.
PROBLEMS = (
    "not-found",
    "unknown-debate",
    "deleted",
    "ambiguous-id",
    "wrong-status",
    "rules-changed",
    "invalid",
    "unknown-name",
    "unknown-model",
    "key-reused",
    "model-failed",
    "too-many-streams",
    "over-budget",
)

STREAMED: dict[str, Any] = {
    "description": "The answer. With `stream`, server-sent events: chunks as OpenAI's, the debate in "
    "`reasoning_content`, the outcome in `content`, then `[DONE]`",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


def documented(*slugs: str) -> dict[int | str, dict[str, Any]]:
    """For the `responses` of a route: problems of these types, in OpenAI's shape."""
    found: dict[int | str, list[str]] = {}
    for kind in KINDS:
        if kind.slug in slugs:
            found.setdefault(kind.status, []).append(f"{kind.title} (`{kind.slug.replace('-', '_')}`)")
    return {status: {"description": ". ".join(titles), "model": ChatError} for status, titles in found.items()}
