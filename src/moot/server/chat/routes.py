"""`/v1/models` and `/v1/chat/completions`."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request, Response
from starlette.types import Receive, Scope, Send

from moot.app import person
from moot.config import masked
from moot.core.errors import NoSuchDebate, WrongStatus
from moot.core.lifecycle import LIVE, drive_verb
from moot.core.types import CUT, Call, Debate, Json
from moot.core.types import Message as ModelMessage
from moot.formats import wording_of
from moot.planning import Plan
from moot.server import idempotency
from moot.server.chat import schemas
from moot.server.chat.completions import (
    DEBATE_HEADER,
    Completion,
    answer_of,
    data,
    error_of,
    usage_of,
    usage_of_debate,
)
from moot.server.chat.narration import Narrator
from moot.server.chat.request import PREFIX, ChatQuestion, ChatRequest, Message, find_model, models, read_chat
from moot.server.context import Context, Needs, ServerContext, caller_of, check_room, until_revoked
from moot.server.problems import Refused
from moot.server.routes.debates import created, distrust, plan_of
from moot.server.schemas import SCOPES
from moot.server.sse import HEADERS, Events
from moot.server.tokens import Caller

router = APIRouter(tags=["chat"])

CHORE_TOKENS = 300
CHORE_CHARS = 12_000
RETRY_SECONDS = 3600.0  # greatest age of a debate that a retry can mean
RETRY_DEBATES = 100

_BEAT = b": the debate goes on\n\n"
_NO_RETRY = {"X-Should-Retry": "false"}


async def client_of(request: Request, context: Context) -> Caller:
    """The caller. OpenAI's clients always send a key: where no token is demanded, an unknown one is ignored."""
    try:
        return await caller_of(request, context)
    except Refused:
        if context.demands_token:
            raise
        return Caller(name=person(), scopes=frozenset(SCOPES))


class ClientNeeds(Needs):
    async def __call__(self, caller: Annotated[Caller, Depends(client_of)]) -> Caller:
        return await super().__call__(caller)


Reader = Annotated[Caller, Depends(ClientNeeds("read"))]
Runner = Annotated[Caller, Depends(ClientNeeds("run"))]


@router.get(
    "/v1/models",
    operation_id="listModels",
    summary="Every format and every preset, as a model",
    response_model=schemas.ChatModelList,
)
async def list_models(context: Context, caller: Reader) -> Json:
    return {"object": "list", "data": [_model(context, name) for name in models(context.app)]}


@router.get(
    "/v1/models/{name:path}",
    operation_id="getModel",
    summary="One of them",
    response_model=schemas.ChatModel,
    responses=schemas.documented("not-found"),
)
async def get_model(name: str, context: Context, caller: Reader) -> Json:
    find_model(context.app, name)
    return _model(context, name.removeprefix(PREFIX))


def _model(context: ServerContext, name: str) -> Json:
    preset = models(context.app)[name]
    format_ = context.app.formats.get(preset.format or "")
    about = format_.summary if format_ else "The format that suits the question."
    return {
        "id": PREFIX + name,
        "object": "model",
        "created": 0,
        "owned_by": "moot",
        "description": about,
    }


@router.post(
    "/v1/chat/completions",
    operation_id="createChatCompletion",
    summary="Debate the last message of the user",
    response_model=schemas.ChatCompletion,
    responses={
        200: schemas.STREAMED,
        **schemas.documented(
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
        ),
    },
)
async def complete(
    given: ChatRequest,
    request: Request,
    context: Context,
    caller: Runner,
    key: idempotency.Key = None,
    settings: Annotated[
        str | None,
        Header(alias="X-Moot-Settings", max_length=20_000, description="settings of the format, a JSON object"),
    ] = None,
    debate: Annotated[
        str | None,
        Header(alias=DEBATE_HEADER, max_length=64, description="follow this debate, instead of a new one"),
    ] = None,
    retries: Annotated[
        str | None,
        Header(alias="X-Stainless-Retry-Count", max_length=10, description="OpenAI's client retries"),
    ] = None,
) -> Response:
    """A new debate, the one that the same request has begun before, or the one that is named."""
    asked = read_chat(context.app, given, settings, debate)
    await distrust(caller, asked.own)
    if asked.chore:
        return await _chore(context, caller, given, asked)
    check_room(context, caller)
    again = retries is not None and retries.isdecimal() and int(retries) > 0
    found = (
        await _attached(context, caller, asked)
        if asked.attach
        else await _begun(context, caller, given, asked, key, again)
    )
    chat = Chat(context, caller, given, found)
    return ChatStream(chat) if given.stream else await chat.whole(request)


async def _attached(context: ServerContext, caller: Caller, asked: ChatQuestion) -> Debate:
    return await _resumed(context, await context.find(asked.attach or "", caller))


async def _resumed(context: ServerContext, debate: Debate) -> Debate:
    """Let a debate go on that rests."""
    verb = drive_verb(debate.status)
    if verb is not None:
        await context.app.check_budget(debate.token_id)
        with suppress(WrongStatus):  # another request was faster
            return await context.dispatcher.dispatch(debate.id, verb)
    return await context.store.get(debate.id)


async def _begun(
    context: ServerContext, caller: Caller, given: ChatRequest, asked: ChatQuestion, key: str | None, again: bool
) -> Debate:
    """A new debate, or the one that the same request has begun before."""
    plan = await plan_of(context, asked.request)
    if key is None and again:
        before = await _begun_before(context, caller, plan, asked)
        if before is not None:
            return await _resumed(context, before)

    async def make(debate_id: str) -> Debate:
        return await context.app.create(plan, by=caller.name, token_id=caller.identity, debate_id=debate_id)

    async def answer(debate: Debate) -> Response:
        if debate.status == "pending":
            if asked.context and not debate.guided:
                await context.app.runtime.guide(debate.id, asked.context, by=caller.name)
            debate = await context.started(debate)
        context.live.poke()
        return created(context, debate)

    what = f"chat {json.dumps(asked.own, sort_keys=True)}"
    response = await idempotency.once(context, caller, key, what, given, make, answer)
    debate = await context.store.get(response.headers["location"].rpartition("/")[2])
    return await _resumed(context, debate) if "idempotency-replayed" in response.headers else debate


async def _begun_before(context: ServerContext, caller: Caller, plan: Plan, asked: ChatQuestion) -> Debate | None:
    """The debate that an earlier try of the same request has begun: OpenAI's client sends no idempotency key when it
    retries, only a count."""
    page = await context.store.page(format=plan.format.name, token=caller.identity, limit=RETRY_DEBATES)
    for debate in page.debates:
        same = (debate.topic, debate.config, debate.cast, debate.initiated_by) == (
            plan.topic,
            plan.config,
            plan.cast,
            caller.name,
        )
        if same and time.time() - debate.created_at < RETRY_SECONDS and debate.status != "canceled":
            guidance = [gate for gate in await context.store.gates(debate.id) if gate.kind == "guidance"]
            given = str((guidance[0].decision or {}).get("text", "")) if guidance else ""
            if given == asked.context:
                return debate
    return None


async def _chore(context: ServerContext, caller: Caller, given: ChatRequest, asked: ChatQuestion) -> Response:
    """Answer a chat client's own request with one call of the judge's model. Only what it used is stored."""
    chosen = asked.request.settings.get("model_judge")
    spec = context.app.choose("judge", chosen if isinstance(chosen, str) else None, asked.request.format).spec
    call = Call(
        key="chat/chore",
        seat="chat",
        messages=[_message(each) for each in given.messages if each.text.strip()],
        max_tokens=min(CHORE_TOKENS, given.max_completion_tokens or given.max_tokens or CHORE_TOKENS),
    )
    reply = await context.app.call(spec, call, token_id=caller.identity)
    finish = "length" if reply.finish_reason in CUT else "stop"
    completion = Completion(given.model, None, id=uuid.uuid4().hex, created=int(time.time()))
    usage = usage_of(reply.usage)
    if not given.stream:
        return Response(completion.whole(reply.text, None, finish, usage), media_type="application/json")
    chunks = [completion.chunk({"role": "assistant", "content": reply.text}), completion.chunk({}, finish)]
    if _wants_usage(given):
        chunks.append(completion.usage(usage))
    return Response(b"".join([*chunks, _DONE]), headers=HEADERS, media_type="text/event-stream")


def _message(message: Message) -> ModelMessage:
    role = "system" if message.role == "developer" else message.role
    text = message.text if len(message.text) <= CHORE_CHARS else message.text[-CHORE_CHARS:]
    return ModelMessage(role=role if role in ("system", "user", "assistant") else "user", text=text)


def _wants_usage(given: ChatRequest) -> bool:
    return given.stream_options is not None and given.stream_options.include_usage


_DONE = b"data: [DONE]\n\n"


class Chat:
    """One chat client that follows one debate. Use it once."""

    def __init__(self, context: ServerContext, caller: Caller, given: ChatRequest, debate: Debate) -> None:
        self.context, self.given, self.debate = context, given, debate
        self._caller, self.until_revoked = caller, until_revoked(context, caller, "run")
        self.completion = Completion(given.model, debate, id=debate.id, created=int(debate.created_at))
        self.headers = {**HEADERS, DEBATE_HEADER: debate.id, "Location": f"/v1/debates/{debate.id}"}
        self.over = False  # the debate came to rest, or the server shuts down: not the client ended it

    async def whole(self, request: Request) -> Response:
        """Wait for the end of the debate, for the client to disconnect, or for its token to be revoked."""
        collecting = asyncio.ensure_future(self._collected())
        gone = asyncio.ensure_future(_gone(request.receive))
        revoked = asyncio.ensure_future(self.until_revoked())
        try:
            await asyncio.wait({collecting, gone, revoked}, return_when=asyncio.FIRST_COMPLETED)
            if collecting.done():
                return collecting.result()
            if gone.done():
                return Response(status_code=499)  # the client has disconnected
            raise _revoked()
        finally:
            for task in (collecting, gone, revoked):
                task.cancel()
            await asyncio.gather(collecting, gone, revoked, return_exceptions=True)
            await self.left()

    async def _collected(self) -> Response:
        async with aclosing(self.narrated()) as texts:
            reasoning = "".join([text async for text in texts])
        content, finish, usage = await self._end()
        body = self.completion.whole(content, reasoning, finish, usage)
        return Response(body, headers=self.headers, media_type="application/json")

    async def frames(self) -> AsyncGenerator[bytes, None]:
        yield _BEAT
        yield self.completion.chunk({"role": "assistant", "content": ""})
        try:
            async with aclosing(self.narrated()) as texts:
                async for text in texts:
                    yield self.completion.chunk({"reasoning_content": text})
            content, finish, usage = await self._end()
        except Refused as refused:
            yield _last_words(refused)
            return
        yield self.completion.chunk({"content": content})
        yield self.completion.chunk({}, finish)
        if _wants_usage(self.given):
            yield self.completion.usage(usage)
        yield _DONE

    async def narrated(self) -> AsyncGenerator[str, None]:
        """The public transcript, piece by piece, until the debate rests. Raises Refused when the server shuts down."""
        with self.context.live.counted(self._caller.identity):
            async with aclosing(self._narrated()) as texts:
                async for text in texts:
                    yield text

    async def _narrated(self) -> AsyncGenerator[str, None]:
        context, news = self.context, asyncio.Event()
        reader = context.live.join(self.debate, 0, news)
        narrator = Narrator(wording_of(self.debate))
        closing = asyncio.ensure_future(context.closing.wait())
        closing.add_done_callback(lambda _: news.set())
        context.listening[self.debate.id] += 1
        try:
            while True:
                news.clear()
                text = narrator.hear(await reader.take())
                if reader.channel.deleted:
                    self.over = True
                    raise Refused("deleted", f"Debate {self.debate.short} was deleted while it ran.", headers=_NO_RETRY)
                ended = reader.finished(at_rest=True) and await self._rests()
                text += narrator.rest() if ended else ""
                if text:
                    yield text
                if ended:
                    self.over = True
                    return
                if reader.channel.broken is not None or context.closing.is_set():
                    self.over = True
                    raise self._unfinished()
                await news.wait()
        finally:
            closing.cancel()
            context.listening[self.debate.id] -= 1
            await context.live.leave(reader)

    async def _rests(self) -> bool:
        """Whether the stored debate rests: the channel of one that was just moved on may lag behind."""
        return (await self.context.store.get(self.debate.id)).status not in ("pending", *LIVE)

    async def left(self) -> None:
        """Called when the client has disconnected. After the last client, the debate stops, if configured so."""
        alone = _was_last(self.context, self.debate.id)
        if not self.over and alone and self.context.app.settings.chat_on_disconnect == "stop":
            with suppress(WrongStatus, NoSuchDebate):  # it has ended by itself, or was deleted
                await self.context.app.runtime.stop(self.debate.id)

    async def _end(self) -> tuple[str, str, Json]:
        context, debate = self.context, await self.context.store.get(self.debate.id)
        if debate.status not in ("completed", "waiting"):
            why = f" {debate.error.message}" if debate.error is not None else ""
            verb = drive_verb(debate.status)
            advice = f" Go on with it: POST /v1/debates/{debate.id}/{verb}." if verb else ""
            limited = debate.error is not None and debate.error.kind == "limit"
            slug = "model-failed" if debate.status == "failed" else "over-budget" if limited else "wrong-status"
            headers = {**_NO_RETRY, DEBATE_HEADER: debate.id}
            raise Refused(slug, f"Debate {debate.short} is {debate.status}.{why}{advice}", headers=headers)
        gates = await context.store.gates(debate.id)
        content, finish = answer_of(debate, gates, demonstration=context.app.is_demonstration(debate))
        return content, finish, usage_of_debate(debate, await context.store.turns(debate.id), content)

    def _unfinished(self) -> Refused:
        return Refused(
            "store-unavailable",
            f"The server shuts down or can't follow debate {self.debate.id}, which is not lost. Ask for it again with "
            f"the header {DEBATE_HEADER}: {self.debate.id}",
        )


def _was_last(context: ServerContext, debate_id: str) -> bool:
    """Whether no chat follows the debate any more."""
    if context.listening[debate_id] > 0:
        return False
    del context.listening[debate_id]
    return True


def _revoked() -> Refused:
    return Refused("token-needed", "The token was revoked or has expired. Ask the operator of this server for another.")


def _last_words(refused: Refused) -> bytes:
    """What ends a stream that has begun: the problem in OpenAI's shape."""
    status, code = refused.kind.status, refused.kind.slug.replace("-", "_")
    return data(error_of(status, masked(refused.detail), code)) + _DONE


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class ChatStream(Events):
    """The streaming response of a chat."""

    def __init__(self, chat: Chat) -> None:
        super().__init__(
            chat,
            heartbeat_seconds=chat.context.heartbeat_seconds,
            revoked=chat.until_revoked,
            beat=_BEAT,
            farewell=_last_words(_revoked()),
        )
        for name, value in chat.headers.items():
            self.headers[name] = value
        self._chat = chat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._chat.left()
