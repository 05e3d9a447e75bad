"""Remote models, through pydantic-ai's direct API. It is imported at the first call, as that takes 1.5 s."""

from __future__ import annotations

import asyncio
import importlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from moot.core.errors import ModelOverloaded, ModelUnavailable, StreamBrokeOff
from moot.core.types import INCOMPLETE, Answer, Call, Hear, Message, Reply, Usage
from moot.models import providers
from moot.models.answer_size import ENCODINGS, capped
from moot.models.providers import Api, Endpoint
from moot.models.remote_errors import rejects_schema, translate
from moot.models.sampling import taken
from moot.models.usage import counted, partial_usage, telling_chars

if TYPE_CHECKING:
    import ssl

    import httpx2
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model as Wire
    from pydantic_ai.models import ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

_LIBRARY_NAMES = {"stop": "stop_sequences"}  # sampling settings that pydantic-ai calls otherwise


class RemoteModel:
    """A model behind an HTTP API. Each event loop has connections of its own; close them with `close`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Wire, httpx2.AsyncClient]] = WeakKeyDictionary()
        self._native: bool | None = None  # False once the server has refused a JSON schema

    async def __call__(self, call: Call, hear: Hear, /) -> Reply:
        if self.endpoint.key_required and not self.endpoint.key:
            name = self.endpoint.name
            advice = f"Set {self.endpoint.key_variable}, or choose another model."
            raise ModelUnavailable(f"{name} needs a key. {advice}", model=name)
        wire = await self._wire()
        native = call.json_shape is not None and self._native is not False and _takes_schema(wire)
        try:
            return await self._ask(wire, call, hear, native=native)
        except Exception as error:
            if not native or not rejects_schema(error):
                raise
            self._native = False
            return await self._ask(wire, call, hear, native=False)

    async def close(self) -> None:
        opened = self._open.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened[1].aclose()

    async def _wire(self) -> Wire:
        loop = asyncio.get_running_loop()
        opened = self._open.get(loop)
        if opened is None:
            # In threads: importing the library and reading certificates would block the event loop.
            await asyncio.to_thread(prepare, api_of(self.endpoint))
            try:
                made = await asyncio.to_thread(connect, self.endpoint)
            except Exception as error:
                raise translate(error, self.endpoint, used=None) from None
            opened = self._open.setdefault(loop, made)
            if opened is not made:  # another call connected first
                await made[1].aclose()
        return opened[0]

    async def _ask(self, wire: Wire, call: Call, hear: Hear, *, native: bool) -> Reply:
        from pydantic_ai.direct import model_request_stream

        said = _Received(hear)
        messages = list(call.messages)
        if call.json_shape is not None and not native:
            messages = _with_schema(messages, call.json_shape)
        try:
            async with model_request_stream(
                wire,
                _messages(messages),
                model_settings=_settings(call, self.endpoint, wire),
                model_request_parameters=_parameters(call, native=native, json_mode=self._native is not False),
            ) as stream:
                await said.listen(stream)
                return _complete(_reply(call, self.endpoint, stream, said), said)
        except (asyncio.CancelledError, ModelOverloaded):
            raise
        except Exception as error:
            if native and not said.chars and rejects_schema(error):
                raise
            # `from None`: the library's own error can contain the key.
            raise translate(error, self.endpoint, used=partial_usage(messages, said.chars)) from None


class _Received:
    """The text, size and first-token time of one streamed answer."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._began = time.perf_counter()
        self._parts: list[str] = []
        self.chars = 0  # with thinking, which is billed too
        self.thought_chars = 0
        self.first_token_ms: int | None = None

    @property
    def text(self) -> str:
        return "".join(self._parts)

    async def listen(self, stream: StreamedResponse) -> None:
        from pydantic_ai.messages import (
            PartDeltaEvent,
            PartStartEvent,
            TextPart,
            TextPartDelta,
            ThinkingPart,
            ThinkingPartDelta,
        )

        async for event in stream:
            match event:
                case PartStartEvent(part=TextPart(content=text)):
                    self._add(text)
                case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                    self._add(text)
                case PartStartEvent(part=ThinkingPart(content=thought)):
                    self._think(thought)
                case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=thought)):
                    self._think(thought or "")
                case _:
                    pass

    def _think(self, thought: str) -> None:
        self.chars += len(thought)
        self.thought_chars += len(thought)

    def _add(self, text: str) -> None:
        if not text:
            return
        if self.first_token_ms is None:
            self.first_token_ms = round((time.perf_counter() - self._began) * 1000)
        self.chars += len(text)
        self._parts.append(text)
        self._hear(text)


@lru_cache(maxsize=2)
def certificates(*, trust_env: bool) -> ssl.SSLContext:
    """Those to trust, read once: that takes longer than all else of a new client."""
    import httpx2

    return httpx2.create_ssl_context(trust_env=trust_env)


def connect(endpoint: Endpoint) -> tuple[Wire, httpx2.AsyncClient]:
    """Return pydantic-ai's model for an endpoint, and the HTTP client it uses."""
    import httpx2
    from pydantic_ai.models import get_user_agent

    http = httpx2.AsyncClient(
        # `with_timeout` limits whole calls; this keeps a dead address from using up all of that time.
        timeout=httpx2.Timeout(None, connect=10),
        limits=httpx2.Limits(max_connections=None),  # `with_slots` limits concurrency
        headers={"User-Agent": get_user_agent(), "Accept-Encoding": ENCODINGS},
        event_hooks={"response": [capped(endpoint.name)]},
        verify=certificates(trust_env=not endpoint.loopback),
        # A proxy from the environment can't reach ports of this machine.
        trust_env=not endpoint.loopback,
    )
    api = api_of(endpoint)
    return api.wire(api, endpoint, http), http


def api_of(endpoint: Endpoint) -> Api:
    api = providers.find(endpoint.provider).api
    assert api is not None
    return api


@lru_cache(maxsize=64)
def profile_of(endpoint: Endpoint) -> Mapping[str, Any]:
    """Return what pydantic-ai knows about a model. Opens no connection. Errors are left to the call."""
    try:
        wire, _ = connect(endpoint)
    except Exception:
        return {}
    return wire.profile


def _takes_schema(wire: Wire) -> bool:
    return bool(wire.profile.get("supports_json_schema_output", False))


def _messages(messages: Sequence[Message]) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    made: list[ModelMessage] = []
    for message in messages:
        match message.role:
            case "system":
                made.append(ModelRequest(parts=[SystemPromptPart(content=message.text)]))
            case "user":
                made.append(ModelRequest(parts=[UserPromptPart(content=message.text)]))
            case "assistant":
                made.append(ModelResponse(parts=[TextPart(content=message.text)]))
    return made


def _with_schema(messages: Sequence[Message], returns: type[Answer]) -> list[Message]:
    """Ask for JSON at the end of the last user message. What comes before it stays in the provider's prompt cache."""
    schema = json.dumps(returns.model_json_schema(), ensure_ascii=False)
    ask = f"\n\nAnswer with one JSON object that matches this JSON schema, and with nothing else:\n{schema}"
    made = list(messages)
    for place in range(len(made) - 1, -1, -1):
        if made[place].role == "user":
            made[place] = replace(made[place], text=made[place].text + ask)
            return made
    return [*made, Message(role="user", text=ask.strip())]


def _parameters(call: Call, *, native: bool, json_mode: bool) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    shape = call.json_shape
    if shape is None or not (native or json_mode):
        return ModelRequestParameters()
    schema = OutputObjectDefinition(
        json_schema=shape.model_json_schema(), name=shape.__name__, description=shape.__doc__
    )
    # `prompted` without a template: JSON mode where supported, with the instructions of `_with_schema`.
    return ModelRequestParameters(
        output_mode="native" if native else "prompted",
        output_object=schema,
        prompted_output_template=None if native else False,
    )


def _settings(call: Call, endpoint: Endpoint, wire: Wire) -> ModelSettings:
    from pydantic_ai.settings import ModelSettings

    settings: dict[str, Any] = {
        "max_tokens": call.max_tokens,
        "max_retries": 0,
        # Thinking counts against `max_tokens`, and could use up a statement's few hundred before its first word.
        "thinking": False,
    }
    provider, api = providers.find(endpoint.provider), api_of(endpoint)
    extra = {**api.think_least(endpoint.model), **dict(endpoint.extra)}
    typed = ModelSettings.__annotations__.keys() - wire.unsupported_settings
    for name, value in taken(call.sampling, provider, wire.profile).items():
        setting = _LIBRARY_NAMES.get(name, name)
        # OpenAI-compatible servers take more than pydantic-ai has settings for, such as `min_p`.
        if name in api.renamed or setting not in typed:
            extra[api.renamed.get(name, name)] = value
        else:
            settings[setting] = value
    if api.leave_out:
        from openai import Omit

        extra |= {name: Omit() for name in api.leave_out}
    if extra:
        settings["extra_body"] = extra
    return cast("ModelSettings", {**settings, **api.settings})


def _reply(call: Call, endpoint: Endpoint, stream: StreamedResponse, said: _Received) -> Reply:
    used = stream.usage
    # Limits count what a provider reports, so it must be possible: some report nothing, or nonsense.
    tokens_in, guessed_in = counted(used.input_tokens, sum(telling_chars(each.text) for each in call.messages))
    tokens_out, guessed_out = counted(used.output_tokens, telling_chars(said.text) + said.thought_chars)
    return Reply(
        text=said.text,
        model=stream.model_name or endpoint.model,
        provider=endpoint.provider,
        usage=Usage(
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tokens_cached=min(tokens_in, max(0, used.cache_read_tokens)),
            tokens_stored=min(tokens_in, max(0, used.cache_write_tokens)),
            cost_usd=None,
            estimated=guessed_in or guessed_out,
        ),
        finish_reason=_finish_reason(stream),
        first_token_ms=said.first_token_ms,
    )


def _finish_reason(stream: StreamedResponse) -> str:
    """The normalized reason, or the provider's own word, or INCOMPLETE if the stream ended without one."""
    given = (stream.provider_details or {}).get("finish_reason")
    # pydantic-ai assumes "stop" where an OpenAI-compatible server gave no reason; only a refusal has one of its own.
    if given is None and stream.finish_reason != "content_filter":
        return INCOMPLETE
    return stream.finish_reason or str(given)


def _complete(reply: Reply, said: _Received) -> Reply:
    """Return the reply. Raises StreamBrokeOff if it has no finish reason, ModelOverloaded if nothing came at all."""
    if reply.finish_reason != INCOMPLETE:
        return reply
    if not said.chars:
        raise ModelOverloaded(f"{reply.model} ended its answer before the first word.", model=reply.model)
    raise StreamBrokeOff(f"{reply.model} broke off: its answer ended without a finish reason.", reply=reply)


def prepare(api: Api) -> None:
    """Import what a call needs, which takes seconds. Errors are left to the call, which explains them."""
    with suppress(ImportError):
        for module in ("pydantic_ai.direct", *api.modules):
            importlib.import_module(module)
