"""`/v1/chat/completions`: the debate is the model's reasoning, its outcome the answer."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from moot import __version__
from moot.client.permission import check_models
from moot.core.types import CUT, Debate, Json
from moot.server import idempotency
from moot.server.chat import chores, schemas
from moot.server.chat.begin import begun
from moot.server.chat.callers import Runner
from moot.server.chat.conversation import Message
from moot.server.chat.errors import dumps, error_of_refusal
from moot.server.chat.follow import BEAT, DEBATE_HEADER, Follower, FollowerStream, Spent, token_ended
from moot.server.chat.shapes import read_shape
from moot.server.chat.wanted import Question, Wanted, read
from moot.server.context import Context, take_room
from moot.server.problems import Refused
from moot.server.sse import HEADERS

router = APIRouter(tags=["chat"])

DONE = b"data: [DONE]\n\n"

Settings = Annotated[
    str | None,
    Header(alias="X-Moot-Settings", max_length=20_000, description="settings of the format, a JSON object"),
]
Attach = Annotated[
    str | None, Header(alias=DEBATE_HEADER, max_length=64, description="follow this debate, instead of a new one")
]
Retry = Annotated[
    str | None, Header(alias="X-Stainless-Retry-Count", max_length=10, description="OpenAI's client retries")
]


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="allow")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """The parameters that are read. Others tune the sampling of one model, and a debate has several."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(min_length=1, max_length=200)
    messages: list[Message] = Field(min_length=1, max_length=10_000, fail_fast=True)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(None, ge=1, le=100_000_000)
    max_completion_tokens: int | None = Field(None, ge=1, le=100_000_000)
    metadata: dict[str, Any] | None = None
    reasoning_effort: str | None = Field(None, max_length=20)
    n: int | None = None
    tools: list[Any] | None = None
    tool_choice: str | dict[str, Any] | None = None
    functions: list[Any] | None = None
    response_format: dict[str, Any] | None = None
    logprobs: bool | None = None
    modalities: Annotated[list[str], Field(fail_fast=True)] | None = None

    def wanted(self, settings: str | None, debate: str | None) -> Wanted:
        """Raises Refused for what a debate has not."""
        if self.n is not None and self.n != 1:
            raise Refused(
                "invalid", "A debate has one outcome: `n` must be 1. Ask again for another debate.", param="n"
            )
        if self.logprobs:
            raise Refused("invalid", "A debate has no log probabilities: leave `logprobs` out.", param="logprobs")
        if self.modalities and self.modalities != ["text"]:
            raise Refused("invalid", "A debate is text: leave `modalities` out.", param="modalities")
        return Wanted(
            model=self.model,
            messages=self.messages,
            stream=bool(self.stream),
            cap=self.max_completion_tokens or self.max_tokens,
            cap_param="max_completion_tokens" if self.max_completion_tokens else "max_tokens",
            effort=self.reasoning_effort,
            shape=read_shape(self.response_format, "response_format"),
            tools=bool(self.tools or self.functions),
            tool_choice=self.tool_choice,
            metadata=self.metadata or {},
            settings=settings,
            attach=debate,
        )

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


@router.post(
    "/v1/chat/completions",
    operation_id="createChatCompletion",
    summary="Debate the last message of the user",
    response_model=schemas.ChatCompletion,
    responses={
        200: schemas.STREAMED,
        **schemas.documented(*schemas.PROBLEMS),
    },
)
async def complete(
    given: ChatRequest,
    request: Request,
    context: Context,
    caller: Runner,
    key: idempotency.Key = None,
    settings: Settings = None,
    debate: Attach = None,
    retries: Retry = None,
) -> Response:
    """A new debate, the one that the same request has begun before, or the one that is named."""
    question = read(context.app, given.wanted(settings, debate))
    client = context.client.acting_for(caller)
    await check_models(client.caller, question.own)
    if question.chore:
        wanted = question.wanted
        reply = await chores.done(client, question.request, wanted.messages, wanted.shape, wanted.cap)
        return _chore(given, reply.text, Spent(usage=reply.usage), cut=reply.finish_reason in CUT)
    take_room(request.scope, context, caller)
    found, place = await begun(context, caller, question, given, key=key, retry=retries)
    chat = Chat(given, question, Follower(context, caller, found, question.wanted.shape, place))
    if given.stream:
        return FollowerStream(chat.follower, chat, farewell=lambda: _last_words(token_ended()))
    return await chat.follower.whole(request, chat.whole)


class Chat:
    """A debate as one completion."""

    def __init__(self, given: ChatRequest, question: Question, follower: Follower) -> None:
        self.given, self.question, self.follower = given, question, follower
        debate = follower.debate
        self.completion = Completion(given.model, debate, id=debate.id, created=int(debate.created_at))

    async def whole(self) -> Response:
        async with aclosing(self.follower.narrated()) as texts:
            reasoning = "".join([text async for text in texts])
        told = await self.follower.told()
        body = self.completion.whole(told.content, reasoning, _finish(told.cut), told.spent)
        return Response(body, headers=self.follower.headers, media_type="application/json")

    async def frames(self) -> AsyncGenerator[bytes, None]:
        yield BEAT
        yield self.completion.chunk({"role": "assistant", "content": ""})
        try:
            async with aclosing(self.follower.narrated()) as texts:
                async for text in texts:
                    yield self.completion.chunk({"reasoning_content": text})
            told = await self.follower.told()
        except Refused as refused:
            yield _last_words(refused)
            return
        yield self.completion.chunk({"content": told.content})
        yield self.completion.chunk({}, _finish(told.cut))
        if self.given.wants_usage:
            yield self.completion.usage(told.spent)
        yield DONE
        self.follower.answered = True


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

    def whole(self, content: str, reasoning: str | None, finish: str, spent: Spent) -> bytes:
        message: Json = {"role": "assistant", "content": content, "refusal": None}
        if reasoning is not None:
            message["reasoning_content"] = reasoning
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        body = {**self._about, "object": "chat.completion", "choices": [choice], "usage": _usage(spent), **self._moot}
        return dumps(body).encode()

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._chunk({"choices": [choice]})

    def usage(self, spent: Spent) -> bytes:
        return self._chunk({"choices": [], "usage": _usage(spent)})

    def _chunk(self, more: Json) -> bytes:
        return _data({**self._about, "object": "chat.completion.chunk", **more, **self._moot})


def _chore(given: ChatRequest, text: str, spent: Spent, *, cut: bool) -> Response:
    completion = Completion(given.model, None, id=uuid.uuid4().hex, created=int(time.time()))
    if not given.stream:
        return Response(completion.whole(text, None, _finish(cut), spent), media_type="application/json")
    chunks = [completion.chunk({"role": "assistant", "content": text}), completion.chunk({}, _finish(cut))]
    if given.wants_usage:
        chunks.append(completion.usage(spent))
    return Response(b"".join([*chunks, DONE]), headers=HEADERS, media_type="text/event-stream")


def _finish(cut: bool) -> str:
    return "length" if cut else "stop"


def _usage(spent: Spent) -> Json:
    usage = spent.usage
    return {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
        "prompt_tokens_details": {"cached_tokens": usage.tokens_cached},
        "completion_tokens_details": {"reasoning_tokens": spent.reasoning},
    }


def _data(chunk: Json) -> bytes:
    return f"data: {dumps(chunk)}\n\n".encode()


def _last_words(refused: Refused) -> bytes:
    """What ends a stream that has begun: the problem in OpenAI's shape."""
    return _data({"error": error_of_refusal(refused)}) + DONE
