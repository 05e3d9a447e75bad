"""`/v1/models` and `/v1/chat/completions`."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from starlette.types import Receive, Scope, Send

from moot.app import Plan, person
from moot.config import masked
from moot.errors import WrongStatus
from moot.runtime.runtime import LIVE
from moot.server import repeats
from moot.server.chat import shapes
from moot.server.chat.asked import PREFIX, Asked, ChatRequest, Message, find_model, models, read_chat
from moot.server.chat.replies import (
    DEBATE_HEADER,
    Wording,
    answer_of,
    data,
    error_of,
    usage_of,
    usage_of_debate,
)
from moot.server.chat.telling import Telling
from moot.server.going import Verb
from moot.server.house import Here, House, Needs, caller_of, still_allowed
from moot.server.problems import Refused
from moot.server.routes.debates import created, distrust
from moot.server.routes.transcript import check_room
from moot.server.schemas import SCOPES
from moot.server.sse import HEADERS, HEARTBEAT_SECONDS, Events
from moot.server.tokens import Caller
from moot.types import Call, Debate, Json, Status
from moot.types import Message as Told

router = APIRouter(tags=["chat"])

CHORE_TOKENS = 300
CHORE_CHARS = 12_000
RETRY_SECONDS = 3600.0  # a client that tries again means a debate that is no older
RETRY_DEBATES = 100

_BEAT = b": the debate goes on\n\n"
_GOES_ON: dict[Status, Verb] = {"pending": "start", "stopped": "resume", "failed": "retry"}
_NO_RETRY = {"X-Should-Retry": "false"}


async def client_of(request: Request, house: Here) -> Caller:
    """These clients always send a key. Where none is needed, one that is not known does no harm."""
    try:
        return await caller_of(request, house)
    except Refused:
        if house.demands_token:
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
    response_model=shapes.ChatModelList,
)
async def list_models(house: Here, caller: Reader) -> Json:
    return {"object": "list", "data": [_model(house, name) for name in models(house.app)]}


@router.get(
    "/v1/models/{name:path}",
    operation_id="getModel",
    summary="One of them",
    response_model=shapes.ChatModel,
    responses=shapes.documented("not-found"),
)
async def get_model(name: str, house: Here, caller: Reader) -> Json:
    find_model(house.app, name)
    return _model(house, name.removeprefix(PREFIX))


def _model(house: House, name: str) -> Json:
    wanted = models(house.app)[name]
    about = house.app.formats[wanted.format or ""].summary
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
    response_model=shapes.ChatCompletion,
    responses={
        200: shapes.STREAMED,
        **shapes.documented(
            "not-found",
            "unknown-debate",
            "ambiguous-id",
            "wrong-status",
            "rules-changed",
            "invalid",
            "unknown-name",
            "unknown-model",
            "key-reused",
            "model-failed",
            "too-many-streams",
        ),
    },
)
async def complete(
    given: ChatRequest,
    request: Request,
    house: Here,
    caller: Runner,
    key: repeats.Key = None,
    settings: Annotated[
        str | None,
        Header(alias="X-Moot-Settings", max_length=20_000, description="settings of the format, a JSON object"),
    ] = None,
    debate: Annotated[
        str | None,
        Header(alias=DEBATE_HEADER, max_length=64, description="listen to this debate, instead of a new one"),
    ] = None,
    retries: Annotated[
        str | None, Header(alias="X-Stainless-Retry-Count", max_length=10, description="OpenAI's client tries again")
    ] = None,
) -> Response:
    """A new debate, the one that the same request has begun before, or the one that is named."""
    asked = read_chat(house.app, given, settings, debate)
    distrust(caller, asked.own)
    if asked.chore:
        return await _chore(house, given, asked)
    check_room(house)
    again = retries is not None and retries.isdecimal() and int(retries) > 0
    found = await _attached(house, asked) if asked.attach else await _begun(house, caller, given, asked, key, again)
    told = Chat(house, caller, given, found)
    return Streamed(told) if given.stream else await told.whole(request)


async def _attached(house: House, asked: Asked) -> Debate:
    """Listen to a debate that is there; one that rests goes on."""
    return await _gone_on(house, await house.find(asked.attach or ""))


async def _gone_on(house: House, debate: Debate) -> Debate:
    verb = _GOES_ON.get(debate.status)
    if verb is not None:
        with suppress(WrongStatus):  # someone else was faster
            return await house.runs.go_on(debate.id, verb)
    return await house.store.get(debate.id)


async def _begun(
    house: House, caller: Caller, given: ChatRequest, asked: Asked, key: str | None, again: bool
) -> Debate:
    """A new debate, or the one that the same request has begun before."""
    plan = house.app.plan(asked.wanted)
    if key is None and again:
        before = await _before(house, caller, plan, asked)
        if before is not None:
            return await _gone_on(house, before)

    async def make(debate_id: str) -> Debate:
        return await house.app.create(plan, by=caller.name, debate_id=debate_id)

    async def answer(debate: Debate) -> Response:
        if debate.status == "pending":
            if asked.context and not debate.guided:
                await house.app.runtime.guide(debate.id, asked.context, by=caller.name)
            debate = await house.started(debate)
        house.live.poke()
        return created(house, debate)

    what = f"chat {json.dumps(asked.own, sort_keys=True)}"
    response = await repeats.once(house, caller, key, what, given, make, answer)
    debate = await house.store.get(response.headers["location"].rpartition("/")[2])
    return await _gone_on(house, debate) if "idempotency-replayed" in response.headers else debate


async def _before(house: House, caller: Caller, plan: Plan, asked: Asked) -> Debate | None:
    """OpenAI's client tries again when a connection fails, and says so; it sends no key of its own."""
    page = await house.store.page(format=plan.format.name, limit=RETRY_DEBATES)
    for debate in page.debates:
        same = (debate.topic, debate.config, debate.cast, debate.initiated_by) == (
            plan.topic,
            plan.config,
            plan.cast,
            caller.name,
        )
        if same and time.time() - debate.created_at < RETRY_SECONDS and debate.status != "canceled":
            told = [gate for gate in await house.store.gates(debate.id) if gate.kind == "guidance"]
            said = str((told[0].decision or {}).get("text", "")) if told else ""
            if said == asked.context:
                return debate
    return None


async def _chore(house: House, given: ChatRequest, asked: Asked) -> Response:
    """One call of the judge's model. Nothing is stored."""
    chosen = asked.wanted.settings.get("model_judge")
    spec = house.app.choose("judge", chosen if isinstance(chosen, str) else None, asked.wanted.format).spec
    call = Call(
        key="chat/chore",
        seat="chat",
        messages=[_told(each) for each in given.messages if each.text.strip()],
        max_tokens=min(CHORE_TOKENS, given.max_completion_tokens or given.max_tokens or CHORE_TOKENS),
    )
    reply = await house.app.models.open(spec)(call, lambda _: None)
    finish = "length" if reply.finish_reason == "length" else "stop"
    wording = Wording(given.model, None, id=uuid.uuid4().hex, created=int(time.time()))
    usage = usage_of(reply.usage)
    if not given.stream:
        return Response(wording.whole(reply.text, None, finish, usage), media_type="application/json")
    pieces = [wording.piece({"role": "assistant", "content": reply.text}), wording.piece({}, finish)]
    if _wants_usage(given):
        pieces.append(wording.spent(usage))
    return Response(b"".join([*pieces, _DONE]), headers=HEADERS, media_type="text/event-stream")


def _told(message: Message) -> Told:
    role = "system" if message.role == "developer" else message.role
    text = message.text if len(message.text) <= CHORE_CHARS else message.text[-CHORE_CHARS:]
    return Told(role=role if role in ("system", "user", "assistant") else "user", text=text)


def _wants_usage(given: ChatRequest) -> bool:
    return given.stream_options is not None and given.stream_options.include_usage


_DONE = b"data: [DONE]\n\n"


class Chat:
    """One client that listens to one debate. Use it once."""

    def __init__(self, house: House, caller: Caller, given: ChatRequest, debate: Debate) -> None:
        self.house, self.given, self.debate = house, given, debate
        self._caller = caller
        self.wording = Wording(given.model, debate, id=debate.id, created=int(debate.created_at))
        self.headers = {**HEADERS, DEBATE_HEADER: debate.id, "Location": f"/v1/debates/{debate.id}"}
        self.over = False  # the debate came to rest, or the server ends: the client has not just gone away

    async def whole(self, request: Request) -> Response:
        """Waits for the end, or for the client to go away."""
        telling = asyncio.ensure_future(self._collected())
        gone = asyncio.ensure_future(_gone(request.receive))
        try:
            await asyncio.wait({telling, gone}, return_when=asyncio.FIRST_COMPLETED)
            if telling.done():
                return telling.result()
            return Response(status_code=499)  # nobody reads it
        finally:
            for task in (telling, gone):
                task.cancel()
            await asyncio.gather(telling, gone, return_exceptions=True)
            await self.left()

    async def _collected(self) -> Response:
        async with aclosing(self.told()) as told:
            reasoning = "".join([text async for text in told if text is not None])
        content, finish, usage = await self._end()
        body = self.wording.whole(content, reasoning, finish, usage)
        return Response(body, headers=self.headers, media_type="application/json")

    async def frames(self) -> AsyncGenerator[bytes, None]:
        yield _BEAT
        yield self.wording.piece({"role": "assistant", "content": ""})
        try:
            async with aclosing(self.told()) as told:
                async for text in told:
                    yield _BEAT if text is None else self.wording.piece({"reasoning_content": text})
            content, finish, usage = await self._end()
        except Refused as refused:
            status, code = refused.kind.status, refused.kind.slug.replace("-", "_")
            yield data(error_of(status, masked(refused.detail), code)) + _DONE
            return
        yield self.wording.piece({"content": content})
        yield self.wording.piece({}, finish)
        if _wants_usage(self.given):
            yield self.wording.spent(usage)
        yield _DONE

    async def told(self) -> AsyncGenerator[str | None, None]:
        """What is said, until the debate rests. None: nothing for a while. Raises Refused when nothing will come."""
        house, news = self.house, asyncio.Event()
        reader = house.live.join(self.debate, 0, news)
        telling = Telling(self.debate)
        allowed = still_allowed(house, self._caller, "run")
        closing = asyncio.ensure_future(house.closing.wait())
        house.live.streams += 1
        house.listening[self.debate.id] += 1
        try:
            while True:
                news.clear()
                text = telling.hear(await reader.take())
                ended = reader.finished(at_rest=True) and await self._rests()
                text += telling.rest() if ended else ""
                if text:
                    yield text
                if ended:
                    self.over = True
                    return
                if reader.channel.broken is not None or house.closing.is_set():
                    self.over = True
                    raise self._unfinished()
                if not await _news(news, closing):
                    if not await allowed():
                        raise Refused("token-needed", "The token was revoked.")
                    yield None
        finally:
            house.live.streams -= 1
            closing.cancel()
            house.listening[self.debate.id] -= 1
            await house.live.leave(reader)

    async def _rests(self) -> bool:
        """A debate that has just been moved on may still look as if it rested."""
        return (await self.house.store.get(self.debate.id)).status not in ("pending", *LIVE)

    async def left(self) -> None:
        """The client is gone. When it was the last one, the debate does as it is configured."""
        alone = _forgotten(self.house, self.debate.id)
        if not self.over and alone and self.house.app.settings.chat_on_disconnect == "stop":
            with suppress(WrongStatus):  # it has ended by itself
                await self.house.app.runtime.stop(self.debate.id)

    async def _end(self) -> tuple[str, str, Json]:
        house, debate = self.house, await self.house.store.get(self.debate.id)
        if debate.status not in ("completed", "waiting"):
            why = f" {debate.error.message}" if debate.error is not None else ""
            verb = {"failed": "retry", "stopped": "resume"}.get(debate.status)
            advice = f" Go on with it: POST /v1/debates/{debate.id}/{verb}." if verb else ""
            slug = "model-failed" if debate.status == "failed" else "wrong-status"
            headers = {**_NO_RETRY, DEBATE_HEADER: debate.id}
            raise Refused(slug, f"Debate {debate.short} is {debate.status}.{why}{advice}", headers=headers)
        gates = await house.store.gates(debate.id)
        content, finish = answer_of(debate, gates, demonstration=house.app.is_demonstration(debate))
        return content, finish, usage_of_debate(debate, await house.store.turns(debate.id), content)

    def _unfinished(self) -> Refused:
        return Refused(
            "store-unavailable",
            f"The server ends or can't follow debate {self.debate.id}, which is not lost. Ask for it again with the "
            f"header {DEBATE_HEADER}: {self.debate.id}",
        )


def _forgotten(house: House, debate_id: str) -> bool:
    """Whether nobody listens to the debate as a chat any more."""
    if house.listening[debate_id] > 0:
        return False
    del house.listening[debate_id]
    return True


async def _news(news: asyncio.Event, closing: asyncio.Future[Any]) -> bool:
    """False when nothing came for as long as a heart rests."""
    waiting = asyncio.ensure_future(news.wait())
    try:
        done, _ = await asyncio.wait({waiting, closing}, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        waiting.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Streamed(Events):
    """The response around a chat; when the client goes away, the debate is told."""

    def __init__(self, chat: Chat) -> None:
        super().__init__(chat)
        for name, value in chat.headers.items():
            self.headers[name] = value
        self._chat = chat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._chat.left()
