"""`/v1/responses`: the debate is the reasoning, its outcome the message. A response is a debate by another name."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, cast

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from moot.client import Client
from moot.client.permission import check_models
from moot.core.types import CUT, Debate, Json
from moot.formats import wording_of
from moot.server import idempotency
from moot.server.chat import chores, response_schemas, schemas
from moot.server.chat.about import about_of
from moot.server.chat.begin import begun
from moot.server.chat.callers import Admin, Reader, Runner
from moot.server.chat.completions import Attach, Retry, Settings
from moot.server.chat.conversation import Message, Parts, messages_of
from moot.server.chat.earlier import Earlier, conversation
from moot.server.chat.errors import dumps, error_of_refusal
from moot.server.chat.follow import BEAT, Follower, FollowerStream, Spent, Told, answer_of, spent_by, token_ended
from moot.server.chat.narration import Narrator
from moot.server.chat.response_body import RESPONSE, Body, EventStream, request_of
from moot.server.chat.response_body import Request as Repeated
from moot.server.chat.shapes import TEXT, Shape, read_shape
from moot.server.chat.wanted import Wanted, read
from moot.server.context import Context, ServerContext, take_room
from moot.server.problems import Refused
from moot.server.sse import HEADERS

router = APIRouter(tags=["chat"])

ResponseId = Annotated[str, Path(description="`resp_` and the id of the debate", max_length=80)]


class TextOptions(BaseModel):
    model_config = ConfigDict(extra="allow")

    format: dict[str, Any] | None = None


class Reasoning(BaseModel):
    model_config = ConfigDict(extra="allow")

    effort: str | None = Field(None, max_length=20)


class ResponseRequest(BaseModel):
    """The parameters that are read. Others tune the sampling of one model, and a debate has several."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(min_length=1, max_length=200)
    input: str | Parts = Field(description="the question, or a conversation that ends with it")
    instructions: str | None = None
    previous_response_id: str | None = Field(None, max_length=80)
    stream: bool | None = False
    background: bool | None = False
    max_output_tokens: int | None = Field(None, ge=1, le=100_000_000)
    metadata: dict[str, Any] | None = None
    reasoning: Reasoning | None = None
    text: TextOptions | None = None
    tools: list[Any] | None = None
    tool_choice: str | dict[str, Any] | None = None
    store: bool | None = None
    conversation: Any = None
    prompt: Any = None

    def messages(self, earlier: Sequence[Message]) -> list[Message]:
        """The conversation. `earlier` are the messages of the debates that the response follows."""
        brief = [Message(role="system", content=self.instructions)] if self.instructions else []
        given = [Message(role="user", content=self.input)] if isinstance(self.input, str) else messages_of(self.input)
        return [*brief, *earlier, *given]

    def wanted(self, earlier: Earlier, settings: str | None, debate: str | None) -> Wanted:
        """Raises Refused for what a debate has not."""
        for name, instead in (("conversation", "the earlier messages, or `previous_response_id`"), ("prompt", "text")):
            if getattr(self, name) is not None:
                raise Refused(
                    "invalid", f"`{name}` refers to something that is not kept here: send {instead}.", param=name
                )
        shape = read_shape(self.text.format if self.text else None, "text.format")
        return Wanted(
            model=self.model,
            messages=self.messages(earlier.messages),
            stream=bool(self.stream),
            cap=self.max_output_tokens,
            cap_param="max_output_tokens",
            effort=self.reasoning.effort if self.reasoning else None,
            shape=shape,
            tools=bool(self.tools),
            tool_choice=self.tool_choice,
            metadata=self.metadata or {},
            settings=settings,
            attach=debate,
            previous=debate_id_of(self.previous_response_id) if self.previous_response_id else None,
            private=earlier.private,
        )

    def repeated(self) -> Repeated:
        """What the response says of its request."""
        return Repeated(
            model=self.model,
            instructions=self.instructions,
            max_output_tokens=self.max_output_tokens,
            metadata=self.metadata or {},
            previous=debate_id_of(self.previous_response_id) if self.previous_response_id else None,
            effort=self.reasoning.effort if self.reasoning else None,
            format=self.text.format if self.text else None,
            background=bool(self.background),
        )


@router.post(
    "/v1/responses",
    operation_id="createResponse",
    summary="Debate the last message of the user, or what follows an earlier response",
    response_model=response_schemas.Response,
    responses={200: response_schemas.STREAMED, **schemas.documented(*schemas.PROBLEMS)},
)
async def create(
    given: ResponseRequest,
    request: Request,
    context: Context,
    caller: Runner,
    key: idempotency.Key = None,
    settings: Settings = None,
    debate: Attach = None,
    retries: Retry = None,
) -> Response:
    """A new debate, the one that the same request has begun before, or the one that is named. With `background`, the
    answer comes at once, and the debate goes on."""
    client = context.client.acting_for(caller)
    previous = given.previous_response_id
    earlier = await conversation(client, debate_id_of(previous)) if previous else Earlier()
    question = read(context.app, given.wanted(earlier, settings, debate))
    await check_models(client.caller, question.own)
    shape = question.wanted.shape
    if question.chore:
        wanted = question.wanted
        reply = await chores.done(client, question.request, wanted.messages, shape, wanted.cap)
        told = Told(content=reply.text, cut=reply.finish_reason in CUT, spent=Spent(usage=reply.usage))
        return _chore(given, told)
    take_room(request.scope, context, caller)
    found, place = await begun(context, caller, question, given, key=key, retry=retries)
    body = Body(given.repeated(), id=found.id, created=int(found.created_at), debate=found)
    if given.background and not given.stream:
        if place is not None:
            await place.leave(context.store, answered=True)
        return Response(dumps(body.so_far(found)), media_type="application/json")
    follower = Follower(context, caller, found, shape, place, stops=not given.background)
    if given.stream:
        stream = ResponseStream(follower, body)
        return FollowerStream(follower, stream, farewell=lambda: stream.last_words(token_ended()))
    return await follower.whole(request, lambda: _whole(follower, body))


@router.get(
    "/v1/responses/{response_id}",
    operation_id="getResponse",
    summary="A response, as its debate stands",
    response_model=response_schemas.Response,
    responses=schemas.documented("unknown-debate", "deleted", "ambiguous-id", "invalid"),
)
async def get(response_id: ResponseId, context: Context, caller: Reader, stream: bool = False) -> Response:
    """Every debate can be had as a response, whatever it was begun with."""
    if stream:
        raise Refused(
            "invalid",
            "A response that was begun can't be streamed here: ask for it now and then, or follow its debate with "
            "GET /v1/debates/{id}/events.",
            param="stream",
        )
    client = context.client.acting_for(caller)
    debate = await client.find(debate_id_of(response_id))
    return Response(dumps(await _as_it_stands(context, client, debate)), media_type="application/json")


@router.post(
    "/v1/responses/{response_id}/cancel",
    operation_id="cancelResponse",
    summary="End a response's debate for good, without a verdict",
    response_model=response_schemas.Response,
    responses=schemas.documented("unknown-debate", "deleted", "ambiguous-id", "wrong-status"),
)
async def cancel(response_id: ResponseId, context: Context, caller: Runner) -> Response:
    client = context.client.acting_for(caller)
    debate = await client.cancel(await client.find(debate_id_of(response_id)))
    context.live.poke()
    return Response(dumps(await _as_it_stands(context, client, debate)), media_type="application/json")


@router.delete(
    "/v1/responses/{response_id}",
    operation_id="deleteResponse",
    summary="Delete a response's debate and everything of it, for good",
    response_model=response_schemas.ResponseDeleted,
    responses=schemas.documented("unknown-debate", "deleted", "ambiguous-id"),
)
async def delete(response_id: ResponseId, context: Context, caller: Admin) -> Json:
    client = context.client.acting_for(caller)
    debate = await client.find(debate_id_of(response_id))
    await client.delete(debate.id)
    context.live.poke()
    return {"id": RESPONSE + debate.id, "object": "response", "deleted": True}


class ResponseStream:
    """A debate as the events of one response."""

    def __init__(self, follower: Follower, body: Body) -> None:
        self.follower, self._events = follower, EventStream(body)

    async def frames(self) -> AsyncGenerator[bytes, None]:
        yield BEAT
        for frame in self._events.begin():
            yield frame
        try:
            async with aclosing(self.follower.narrated()) as texts:
                async for text in texts:
                    for frame in self._events.think(text):
                        yield frame
        except Refused as refused:
            yield self.last_words(refused)
            return
        try:
            told = await self.follower.told()
        except Refused as refused:
            yield self._events.fail(error_of_refusal(refused)["message"])
            return
        for frame in self._events.end(told):
            yield frame
        self.follower.answered = True

    def last_words(self, refused: Refused) -> bytes:
        return self._events.error(error_of_refusal(refused))


def debate_id_of(response_id: str) -> str:
    """Raises Refused when it is no id of a response."""
    if not response_id.startswith(RESPONSE) or response_id == RESPONSE:
        raise Refused("unknown-debate", f"There is no response {response_id!r}: an id is `resp_` and that of a debate.")
    return response_id.removeprefix(RESPONSE)


async def _whole(follower: Follower, body: Body) -> Response:
    async with aclosing(follower.narrated()) as texts:
        reasoning = "".join([text async for text in texts])
    answered = body.answered(reasoning, await follower.told())
    return Response(dumps(answered), headers=follower.headers, media_type="application/json")


async def _as_it_stands(context: ServerContext, client: Client, debate: Debate) -> Json:
    request = request_of(debate)
    body = Body(request, id=debate.id, created=int(debate.created_at), debate=debate)
    if debate.status == "failed":
        return body.failed(debate.error.message if debate.error else "A step failed.")
    if debate.status not in ("completed", "waiting"):
        return body.so_far(debate)
    narrator = Narrator(wording_of(debate))
    reasoning = narrator.hear(await client.events(debate)) + narrator.rest()
    try:
        content = answer_of(
            debate,
            await client.gates(debate),
            _shape_of(debate),
            demonstration=context.app.is_demonstration(debate),
        )
    except Refused as refused:
        return body.failed(refused.detail)
    cut = debate.outcome is not None and debate.outcome.ended_by == "max_total_output_tokens"
    spent = spent_by(debate, await context.store.turns(debate.id), content)
    return body.answered(reasoning, Told(content=content, cut=cut, spent=spent))


def _shape_of(debate: Debate) -> Shape:
    kind = about_of(debate).shape
    if kind == "schema":
        return Shape(kind="schema", schema=cast(Json, debate.config.get("answer_schema")))
    return Shape(kind="outcome") if kind == "outcome" else TEXT


def _chore(given: ResponseRequest, told: Told) -> Response:
    body = Body(given.repeated(), id=uuid.uuid4().hex, created=int(time.time()), debate=None)
    if not given.stream:
        return Response(dumps(body.answered("", told)), media_type="application/json")
    events = EventStream(body)
    return Response(b"".join([*events.begin(), *events.end(told)]), headers=HEADERS, media_type="text/event-stream")
