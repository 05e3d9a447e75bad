"""The embedded models: each on a llama.cpp server in this process. A server's key never leaves the process."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import os
import secrets
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from moot.core.errors import InputError, ModelOverloaded, ModelUnavailable
from moot.core.types import SEEDS, Call, Hear, Message, Model, Reply, Sampling
from moot.core.values import sha256_of
from moot.models.engine import ENGINE, MISSING, engine_installed
from moot.models.providers import Endpoint
from moot.models.remote import RemoteModel
from moot.models.weights import EMBEDDED, SMOLLM2, Progress, Source, fetch, own_file
from moot.models.wrappers import with_timeout

SLOTS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """How a server is set up for a model."""

    prompt_tokens: int
    answer_tokens: int
    repeat_penalty: float


# Both could take more, but on one core Qwen reads about 29 tokens a second and SmolLM2 about 90: a longer prompt would
# use up the time limit of a call before the first word.
FIT = Fit(prompt_tokens=2048, answer_tokens=2048, repeat_penalty=1.0)
SMALL_FIT = Fit(prompt_tokens=1536, answer_tokens=2048, repeat_penalty=1.1)

TEXT_DEFAULTS = Sampling(temperature=0.6, top_k=20, top_p=0.98, min_p=0.1)
TYPED_DEFAULTS = Sampling(temperature=0.3, min_p=0.1)
JSON_SEED = 20_240_917
# DRY keeps a small model from repeating what was said. JSON repeats its keys and quotes by nature, so typed answers go
# without.
DRY = (
    ("dry_multiplier", 0.8),
    ("dry_base", 1.75),
    ("dry_allowed_length", 3),
    ("dry_penalty_last_n", 2048),
    # Unlikely tokens go before DRY: it would raise them otherwise, and glued words with them ("inEurope").
    ("samplers", ("penalties", "top_k", "top_p", "dry", "min_p", "temperature")),
)
_PROMPT_CACHE_MIB = 256
_OVERHEAD = 8  # tokens that the chat template puts around a message
_MARGIN = 64
_CUT = "\n[… the middle is left out here, the text is too long for the embedded model …]\n"

Count = Callable[[str], Awaitable[int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    url: str
    key: str


class _Servers:
    """Starts at most one server for each weights file in a process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Path, tuple[Any, Address]] = {}

    @property
    def running(self) -> list[Path]:
        """The weights that a server has."""
        return list(self._running)

    def address(self, weights: Path) -> Address | None:
        running = self._running.get(weights)
        return None if running is None else running[1]

    def start(self, weights: Path, fit: Fit) -> Address:
        with self._lock:
            if weights not in self._running:
                if not self._running:
                    atexit.register(self.stop)
                key = secrets.token_urlsafe(32)
                server = _launch(weights, key, fit)
                self._running[weights] = server, Address(url=f"{server.listening_address}/v1", key=key)
            return self._running[weights][1]

    def stop(self) -> None:
        with self._lock:
            # Dropping the last reference stops a server's threads.
            self._running.clear()


SERVERS = _Servers()


def local_model(
    name: str,
    folder: Path,
    *,
    timeout: float,
    progress: Progress | None = None,
    opened: Callable[[RemoteModel], None] | None = None,
    prompt_tokens: int | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Model:
    """Return an embedded model. `name` is what follows `local:` in its spec.

    The first call downloads the weights into `folder` and starts the server. `timeout` limits how long it may be silent
    after that: how fast it writes depends on what else the machine does.
    """
    source = EMBEDDED.get(name)
    weights = _path(name, folder)
    fit_ = SMALL_FIT if source is SMOLLM2 else FIT
    room = (prompt_tokens or fit_.prompt_tokens) - _MARGIN
    remotes: dict[tuple[Address, bool], RemoteModel] = {}

    def remote_of(address: Address, *, typed: bool) -> RemoteModel:
        remote = remotes.get((address, typed))
        if remote is None:
            extra = (("cache_prompt", True), *(() if typed else DRY))
            endpoint = Endpoint(provider="local", model=weights.stem, url=address.url, key=address.key, extra=extra)
            remote = remotes[address, typed] = RemoteModel(endpoint)
            if opened is not None:
                opened(remote)
        return remote

    async def local(call: Call, hear: Hear) -> Reply:
        address = SERVERS.address(weights) or await _ready(name, source, weights, fit_, progress, environ)
        typed = call.returns is not None
        fitted = replace(
            call,
            messages=await fit(call.messages, room, _counter(address)),
            max_tokens=min(call.max_tokens, fit_.answer_tokens),
            sampling=call.sampling.over(TYPED_DEFAULTS if typed else TEXT_DEFAULTS).over(_seed_of(call)),
        )
        reply = await with_timeout(remote_of(address, typed=typed), timeout, silence=True)(fitted, hear)
        return replace(reply, model=weights.stem if source is None else source.title)

    return local


def _seed_of(call: Call) -> Sampling:
    """The seed where none is set. For words, one for each step and seat, so that prompts that are much alike get other
    words, and a debate that is run again gets the same. For JSON always the same."""
    if call.json_shape is not None:
        return Sampling(seed=JSON_SEED)
    return Sampling(seed=int(sha256_of(f"{call.key} {call.seat}")[:8], 16) % SEEDS)


def _path(name: str, folder: Path) -> Path:
    """Where the weights are or will be, always written in the same way."""
    source = EMBEDDED.get(name)
    return (Path(name).expanduser() if source is None else folder / source.name).absolute()


async def fit(messages: Sequence[Message], room: int, count: Count) -> list[Message]:
    """Shorten messages to at most `room` tokens: drop the oldest exchanges, then cut out the middle of what is left."""
    kept = list(messages)
    # There are never more tokens than bytes, so most prompts need not be counted.
    if sum(len(message.text.encode()) + _OVERHEAD for message in kept) <= room:
        return kept
    system = [m for m in kept[:1] if m.role == "system"]
    rest = kept[len(system) :]
    sizes = [await count(m.text) + _OVERHEAD for m in rest]
    if system:
        # Instructions must leave half of the room to the rest.
        allowed = room // 2 if rest else room
        system = [await _shorten(system[0], allowed, count)]
        room -= await count(system[0].text) + _OVERHEAD
    while len(rest) > 1 and sum(sizes) > room:
        # A question goes with its answer.
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
        # Keep both ends: the beginning says what the text is, the end what to do.
        head = keep // 2
        text = message.text[:head] + _CUT + message.text[len(message.text) - (keep - head) :]
        size = await count(text) + _OVERHEAD
    return replace(message, text=text)


async def _ready(
    name: str, source: Source | None, weights: Path, fit: Fit, progress: Progress | None, environ: Mapping[str, str]
) -> Address:
    loop = asyncio.get_running_loop()
    abandon = threading.Event()

    def report(done: int, total: int) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(progress or _ignore, done, total)

    if not engine_installed():  # before anything is fetched for it
        raise ModelUnavailable(MISSING)
    try:
        if source is None:
            own_file(name)
        else:
            await asyncio.to_thread(fetch, weights.parent, source, report, abandon, environ)
        return await asyncio.to_thread(SERVERS.start, weights, fit)
    except InputError as error:
        raise ModelUnavailable(str(error)) from None
    except asyncio.CancelledError:
        abandon.set()
        raise


def _launch(weights: Path, key: str, fit: Fit) -> Any:
    try:
        llama: Any = importlib.import_module(ENGINE)
    except ImportError as error:  # it is installed, and does not suit this system
        raise ModelUnavailable(
            f"The engine of embedded models ({ENGINE}) can't be loaded here: {error}. Choose another model."
        ) from None
    params = llama.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {weights.stem}
    params.port = 0
    params.api_keys = [key]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 0
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * (fit.prompt_tokens + fit.answer_tokens)
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    # Waiting threads spin: leave one core to everything else.
    threads = max(1, _cores() - 1)
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    # Generation was faster without flash attention in most runs on two AVX2 cores; reading a prompt was not.
    params.flash_attn_type = llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # With float16 the answer depended on what was cached and on concurrent calls; with bfloat16 one seed gives one
    # answer. Observed on an AVX2 processor; others may differ.
    params.cache_type_k = params.cache_type_v = llama.ggml_type.GGML_TYPE_BF16
    params.sampling.penalty_repeat = fit.repeat_penalty
    try:
        return llama.Server(params)
    except Exception as error:
        raise ModelUnavailable(
            f"The embedded model could not start from {weights}: {error}. It needs its size in memory and half a GB "
            "more. If the file is damaged, delete it: moot fetches its own models again. A smaller one: "
            "local:small."
        ) from None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _counter(address: Address) -> Count:
    async def count(text: str) -> int:
        import httpx2

        url = f"{address.url.removesuffix('/v1')}/tokenize"
        headers = {"Authorization": f"Bearer {address.key}"}
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=60, verify=False) as http:
                answer = await http.post(url, json={"content": text}, headers=headers)
                answer.raise_for_status()
                return len(answer.json()["tokens"])
        except (httpx2.HTTPError, KeyError, ValueError) as error:
            raise ModelOverloaded(f"The embedded model did not count tokens: {type(error).__name__}.") from None

    return count


def _ignore(_done: int, _total: int) -> None:
    pass
