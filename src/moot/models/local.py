"""The embedded model: SmolLM2 in this process, behind a loopback server that only this process has the key to."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import os
import secrets
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from moot.errors import ModelOverloaded, ModelUnavailable
from moot.models.provider import Endpoint, Remote
from moot.models.spec import LOCAL_MODEL
from moot.models.weights import SMOLLM2, Progress, fetch
from moot.models.wrappers import with_timeout
from moot.types import Call, Hear, Message, Model, Reply

SLOTS = 2
# The model could take 8192, but reads only about 90 tokens a second on one core: a longer prompt would use up the time
# for a call before the first word.
PROMPT_TOKENS = 1536
ANSWER_TOKENS = 2048

_SEED = 20_240_917
_PROMPT_CACHE_MIB = 256
_OVERHEAD = 8  # tokens that the chat template puts around a message
_MARGIN = 64
_CUT = "\n[… the middle is left out here, the text is too long for the embedded model …]\n"

Count = Callable[[str], Awaitable[int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    url: str
    key: str


class _Server:
    """At most one in a process; several threads may ask for it at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Any = None
        self.address: Address | None = None

    def start(self, weights: Path) -> Address:
        with self._lock:
            if self.address is None:
                key = secrets.token_urlsafe(32)
                self._running = _launch(weights, key)
                self.address = Address(url=f"{self._running.listening_address}/v1", key=key)
                atexit.register(self.stop)
            return self.address

    def stop(self) -> None:
        with self._lock:
            self.address = None
            # Dropping the last reference stops its threads.
            self._running = None


SERVER = _Server()


def local_model(
    folder: Path,
    *,
    timeout: float,
    progress: Progress | None = None,
    opened: Callable[[Remote], None] | None = None,
    prompt_tokens: int = PROMPT_TOKENS,
) -> Model:
    """The first call fetches the weights into `folder` and starts the server; `timeout` is for what follows."""
    remotes: dict[Address, Remote] = {}

    async def local(call: Call, hear: Hear) -> Reply:
        address = SERVER.address or await _ready(folder, progress)
        remote = remotes.get(address)
        if remote is None:
            extra = (("seed", _SEED), ("cache_prompt", True))
            endpoint = Endpoint(provider="local", model=LOCAL_MODEL, url=address.url, key=address.key, extra=extra)
            remote = remotes[address] = Remote(endpoint)
            if opened is not None:
                opened(remote)
        messages = await fit(call.messages, prompt_tokens - _MARGIN, _counter(address))
        fitted = replace(call, messages=messages, max_tokens=min(call.max_tokens, ANSWER_TOKENS))
        reply = await with_timeout(remote, timeout)(fitted, hear)
        return replace(reply, model=SMOLLM2.name.split(".")[0])

    return local


async def fit(messages: Sequence[Message], room: int, count: Count) -> list[Message]:
    """The messages, in at most `room` tokens: the oldest exchanges go first, then the middle of what is too long."""
    kept = list(messages)
    # No tokenizer makes more tokens than there are bytes, so most prompts need not be counted.
    if sum(len(message.text.encode()) + _OVERHEAD for message in kept) <= room:
        return kept
    system = [m for m in kept[:1] if m.role == "system"]
    rest = kept[len(system) :]
    sizes = [await count(m.text) + _OVERHEAD for m in rest]
    if system:
        # Instructions come first, but must leave half of the room to what they are about.
        allowed = room // 2 if rest else room
        system = [await _shorten(system[0], allowed, count)]
        room -= await count(system[0].text) + _OVERHEAD
    while len(rest) > 1 and sum(sizes) > room:
        # An exchange is a question and its answer; an answer without its question would confuse.
        gone = 2 if len(rest) > 2 and rest[1].role == "assistant" else 1
        rest, sizes = rest[gone:], sizes[gone:]
    if rest and sum(sizes) > room:
        rest = [await _shorten(rest[-1], room, count)]
    return system + rest


async def _shorten(message: Message, room: int, count: Count) -> Message:
    text = message.text
    size = await count(text) + _OVERHEAD
    if size <= room:
        return message
    keep = len(text)
    while size > room and keep > 1:
        keep = max(1, min(keep * 9 // 10, int(keep * (room - _OVERHEAD) / size)))
        # The end of a prompt says what to do; the beginning says what it is.
        head = keep // 2
        text = message.text[:head] + _CUT + message.text[len(message.text) - (keep - head) :]
        size = await count(text) + _OVERHEAD
    return replace(message, text=text)


async def _ready(folder: Path, progress: Progress | None) -> Address:
    loop = asyncio.get_running_loop()
    abandon = threading.Event()

    def report(done: int, total: int) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody looks any more
            loop.call_soon_threadsafe(progress or _ignore, done, total)

    try:
        weights = await asyncio.to_thread(fetch, folder, SMOLLM2, report, abandon)
        return await asyncio.to_thread(SERVER.start, weights)
    except asyncio.CancelledError:
        abandon.set()
        raise


def _launch(weights: Path, key: str) -> Any:
    try:
        llama: Any = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise ModelUnavailable(
            f"The embedded model needs the package xllamacpp, which this system lacks ({error}). "
            "Run `pip install xllamacpp`, or choose another model."
        ) from None
    params = llama.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {LOCAL_MODEL}
    params.port = 0
    params.api_keys = [key]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 0
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * (PROMPT_TOKENS + ANSWER_TOKENS)
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    # Its threads spin while they wait: with one for each core everything else would starve.
    threads = max(1, (os.cpu_count() or 1) - 1)
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    # Writing was faster without it in most of a few noisy runs on two AVX2 cores; reading a prompt was not.
    params.flash_attn_type = llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # With the usual 16-bit floats the answer depended on what was cached and on what ran beside it; with these it did
    # not, so that one seed gives one answer. Seen on an AVX2 processor; others may have other arithmetic.
    params.cache_type_k = params.cache_type_v = llama.ggml_type.GGML_TYPE_BF16
    params.sampling.seed = _SEED
    params.sampling.temp = 0.6
    params.sampling.penalty_repeat = 1.1
    try:
        return llama.Server(params)
    except Exception as error:
        raise ModelUnavailable(
            f"The embedded model could not start: {error}. It needs about 500 MB of memory; "
            f"if {weights} may be damaged, delete it and it is fetched again."
        ) from None


def _counter(address: Address) -> Count:
    async def count(text: str) -> int:
        import httpx2

        url = f"{address.url.removesuffix('/v1')}/tokenize"
        headers = {"Authorization": f"Bearer {address.key}"}
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
                answer = await http.post(url, json={"content": text}, headers=headers)
                answer.raise_for_status()
                return len(answer.json()["tokens"])
        except (httpx2.HTTPError, KeyError, ValueError) as error:
            raise ModelOverloaded(f"The embedded model did not count tokens: {type(error).__name__}.") from None

    return count


def _ignore(_done: int, _total: int) -> None:
    pass
