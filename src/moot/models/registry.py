"""Opens models by their specs, with time-outs, retries, rate limits, prices and typed answers around them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from moot.core.errors import InputError
from moot.core.pace import InProcessPace, Pace
from moot.core.settings import Settings
from moot.core.types import Embedder, Model, Price, Sampling
from moot.folders import weights_dir
from moot.models import prices, provider, scripted, sim
from moot.models import spec as specs
from moot.models.embedding import (
    NONE,
    OFFLINE,
    OfflineEmbedder,
    RemoteEmbedder,
    RetryingEmbedder,
    check_embedder,
    is_installed,
)
from moot.models.engine import MISSING, engine_installed
from moot.models.local import SLOTS, local_model
from moot.models.pace import LimitQueue, limits_by_spec, limits_for, with_pace
from moot.models.prices import Meter
from moot.models.provider import Endpoint, RemoteModel
from moot.models.replay import Loader, replay_model
from moot.models.sampling import refused
from moot.models.shape import with_shape
from moot.models.spec import ModelSpec
from moot.models.weights import Progress, own_file
from moot.models.wrappers import with_backoff, with_cost, with_fallback, with_slots, with_timeout


class CallObserver(Protocol):
    """Observes model calls; telemetry implements it."""

    def wrap(self, spec: ModelSpec, model: Model, meter: Meter, /) -> Model:
        """Wrap a model. Each attempt is a call of its own."""
        ...

    def waited(self, limit: str, seconds: float, /) -> None:
        """Called after a call has waited for a rate limit."""
        ...


class ModelRegistry:
    """Implements `Models`. Models are opened once and cached; call `close` before the event loop ends."""

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str],
        replay: Loader | None = None,
        progress: Progress | None = None,
        pace: Callable[[], Pace] | None = None,
        observer: CallObserver | None = None,
    ) -> None:
        """`pace` is called when a model with a rate limit is opened. Without it, limits hold for this process only."""
        self._settings = settings
        self._pace, self._observer = pace, observer
        self.limits = limits_by_spec(settings.rate_limits)  # by model spec or provider
        self._queues: dict[str, LimitQueue] = {}
        self._environ = environ
        self._replay = replay
        self._progress = progress
        self._models: dict[str, Model] = {}
        self._prices: dict[str, Price | None] = {}
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._remotes: list[RemoteModel | RemoteEmbedder] = []

    def open(self, spec: str) -> Model:
        model = self._models.get(spec)
        if model is None:
            # Fallback is outermost: a model that gives no valid typed answer has failed, too.
            members = [(str(member), self._member(member)) for member in specs.parse(spec)]
            model = self._models[spec] = with_fallback(members)
        return model

    def price(self, spec: str) -> Price | None:
        if spec not in self._prices:
            self._prices[spec] = prices.price(specs.parse(spec), self._environ)
        return self._prices[spec]

    def check(self, spec: str) -> None:
        """Raise UnknownModel or InputError if `spec` can't work. Uses no network and imports no provider library."""
        for member in specs.parse(spec):
            match member.provider:
                case "sim":
                    sim.read_options(member)
                case "scripted":
                    scripted.load(member.model)
                case "local":
                    if not engine_installed():
                        raise InputError(MISSING)
                    if member.weights_file is not None:
                        own_file(member.weights_file)
                case "replay" if self._replay is None:
                    raise InputError("Recorded debates can't be replayed here.")
                case _:
                    specs.base_url(member, self._environ)

    def check_sampling(self, spec: str, sampling: Sampling) -> None:
        """Raise InputError if a model of the cascade does not take one of the settings.

        A temperature is never refused: formats set one by default. Models that take none are called without it.
        """
        for member in specs.parse(spec):
            endpoint = self._endpoint(member)
            names = refused(sampling, endpoint.provider, partial(provider.profile_of, endpoint))
            if names:
                them = "it" if len(names) == 1 else "them"
                raise InputError(
                    f"{member} takes no {' and no '.join(names)}. "
                    f"Leave {them} out, or choose another model for that seat."
                )

    def prepare(self, spec: str) -> None:
        """Import what the model needs, which can take seconds. Call it in a thread."""
        for member in specs.parse(spec):
            if member.provider not in ("human", "replay", "scripted", "sim"):
                provider.prepare(member.provider)

    def embedder(self) -> Embedder | None:
        """Return the embedder that the settings name, or None if they turn embeddings off."""
        spec = self._settings.embedder or (OFFLINE if is_installed() else NONE)
        if spec == NONE:
            return None
        if spec == OFFLINE:
            return RetryingEmbedder(OfflineEmbedder(), self._settings.embedder_timeout_seconds)
        member = check_embedder(spec)
        assert member is not None
        remote = RemoteEmbedder(str(member), self._endpoint(member), prices.meter(member, self._environ))
        self._remotes.append(remote)
        slots = self._slots_for(self._server(member), self._settings.concurrency)
        return RetryingEmbedder(remote, self._settings.embedder_timeout_seconds, slots)

    async def close(self) -> None:
        for queue in self._queues.values():
            await queue.close()
        for remote in self._remotes:
            await remote.close()

    def _member(self, member: ModelSpec) -> Model:
        settings = self._settings
        match member.provider:
            case "human":
                raise InputError("A person can't be called like a model; only seats can be human.")
            case "replay":
                if self._replay is None:
                    raise InputError("Recorded debates can't be replayed here.")
                return with_shape(replay_model(member.model, self._replay))
            case "scripted":
                model = self._observed(member, scripted.scripted_model(scripted.load(member.model)))
                model = with_timeout(model, settings.call_timeout_seconds, self._admit(member))
            case "sim":
                model = self._observed(member, sim.sim_model(member, self._environ.get("MOOT_SIM_LOG") or None))
                options, admit = sim.read_options(member), self._admit(member)
                if not options.instant:
                    model = with_timeout(model, settings.call_timeout_seconds, admit)
                elif admit is not None:
                    model = admit(model)
                if options.price_in or options.price_out:
                    model = with_cost(model, prices.meter(member, self._environ))
            case "local":
                model = local_model(
                    member.model,
                    weights_dir(settings),
                    timeout=settings.call_timeout_seconds,
                    progress=self._progress,
                    opened=self._remotes.append,
                    environ=self._environ,
                )
                admit = self._admit(member, self._slots_for(str(member), SLOTS))
                assert admit is not None
                model = admit(with_cost(self._observed(member, model), prices.meter(member, self._environ)))
            case _:
                # The time limit starts after waiting for rate limits and a slot. The cost includes attempts that timed
                # out.
                admit = self._admit(member, self._slots_for(self._server(member), settings.concurrency))
                model = with_timeout(self._observed(member, self._remote(member)), settings.call_timeout_seconds, admit)
                model = with_cost(model, prices.meter(member, self._environ))
        model = with_backoff(model, settings.backoff_tries, settings.backoff_base_seconds, settings.backoff_max_seconds)
        return with_shape(model)

    def _observed(self, member: ModelSpec, model: Model) -> Model:
        if self._observer is None:
            return model
        return self._observer.wrap(member, model, prices.meter(member, self._environ))

    def _admit(self, member: ModelSpec, slots: asyncio.Semaphore | None = None) -> Callable[[Model], Model] | None:
        """Return the wrapper that makes each attempt wait for its rate limits and a slot, or None."""
        queues = [self._queue(name) for name in limits_for(member, self.limits)]
        if queues:
            return lambda model: with_pace(model, queues, slots)
        return None if slots is None else lambda model: with_slots(model, slots)

    def _queue(self, name: str) -> LimitQueue:
        if name not in self._queues:
            if self._pace is None:
                pace = InProcessPace(time.monotonic)
                self._pace = lambda: pace
            self._queues[name] = LimitQueue(
                name,
                self.limits[name],
                self._pace(),
                max_pause=self._settings.backoff_max_seconds,
                on_wait=None if self._observer is None else self._observer.waited,
            )
        return self._queues[name]

    def _remote(self, member: ModelSpec) -> RemoteModel:
        remote = RemoteModel(self._endpoint(member))
        self._remotes.append(remote)
        return remote

    def _endpoint(self, member: ModelSpec) -> Endpoint:
        compatible = member.url is not None and member.provider not in ("anthropic", "ollama")
        return Endpoint(
            provider="openai-compatible" if compatible else member.provider,
            model=member.model,
            url=specs.base_url(member, self._environ),
            key=specs.api_key(member, self._environ),
            key_variable=specs.COMPATIBLE_KEY if member.url else specs.key_variable(member),
            key_required=specs.key_variable(member) is not None,
            max_answer_bytes=self._settings.max_answer_bytes,
        )

    def _slots_for(self, server: str, count: int) -> asyncio.Semaphore:
        if server not in self._slots:
            self._slots[server] = asyncio.Semaphore(count)
        return self._slots[server]

    def _server(self, member: ModelSpec) -> str:
        """Return what identifies the server that a model runs on: its address, or its provider."""
        return specs.base_url(member, self._environ) or member.provider
