"""Schemas of the routes of responses, for OpenAPI. The shapes are OpenAI's; additions of moot are marked."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from moot.server.chat.schemas import ChatDebate

ResponseStatus = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]


class SummaryText(BaseModel):
    type: Literal["summary_text"]
    text: str = Field(description="the debate: its public transcript")


class OutputText(BaseModel):
    type: Literal["output_text"]
    text: str = Field(description="the outcome")
    annotations: list[Any]
    logprobs: list[Any]


class ResponseItem(BaseModel):
    """A part of the output: first the reasoning, which is the debate, then the message, which is its outcome."""

    id: str
    type: Literal["reasoning", "message"]
    status: Literal["in_progress", "completed"]
    role: Literal["assistant"] | None = Field(None, description="of a message")
    summary: list[SummaryText] | None = Field(None, description="of the reasoning")
    content: list[OutputText] | None = Field(None, description="of a message")


class InputTokens(BaseModel):
    cached_tokens: int
    cache_write_tokens: int


class OutputTokens(BaseModel):
    reasoning_tokens: int


class ResponseUsage(BaseModel):
    """The sum over all calls of the debate."""

    input_tokens: int
    input_tokens_details: InputTokens
    output_tokens: int
    output_tokens_details: OutputTokens
    total_tokens: int


class ResponseFailure(BaseModel):
    code: str
    message: str = Field(description="what happened, and what to do next")


class Incomplete(BaseModel):
    reason: Literal["max_output_tokens"] | None


class Response(BaseModel):
    """A debate as a response. Its id is that of the debate after `resp_`."""

    id: str
    object: Literal["response"]
    created_at: int
    status: ResponseStatus
    background: bool
    error: ResponseFailure | None
    incomplete_details: Incomplete | None
    instructions: str | None
    max_output_tokens: int | None
    metadata: dict[str, Any]
    model: str
    output: list[ResponseItem]
    parallel_tool_calls: bool
    previous_response_id: str | None
    reasoning: dict[str, Any]
    store: bool
    temperature: float | None
    text: dict[str, Any]
    tool_choice: str
    tools: list[Any]
    top_p: float | None
    truncation: str
    usage: ResponseUsage | None
    moot: ChatDebate | None = Field(None, description="moot's own: the debate; a chore has none")


class ResponseDeleted(BaseModel):
    id: str
    object: Literal["response"]
    deleted: bool


STREAMED: dict[str, Any] = {
    "description": "The response. With `stream`, server-sent events in OpenAI's order: `response.created`, "
    "`response.in_progress`, the debate as `response.reasoning_summary_text.delta`, the outcome as "
    "`response.output_text.delta`, and last `response.completed`, `response.incomplete` or `response.failed`",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
