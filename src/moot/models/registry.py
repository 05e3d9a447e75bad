"""Opens models by their specs, with time-outs, retries, rate limits, prices and typed answers around them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

from moot.core.errors import InputError
from moot.core.pace import InProcessPace, Pace
from moot.core.settings import Settings
from moot.core.types import Embedder, Model, Price, Sampling
from moot.models import embedding, prices, providers, remote
from moot.models import spec as specs
from moot.models.embedding import RemoteEmbedder, RetryingEmbedder
from moot.models.pace import LimitQueue, limits_by_spec, limits_for, with_pace
from moot.models.prices import Meter
from moot.models.providers import Endpoint, ModelSpec, Opened, Opening
from moot.models.providers.provider import FREE, Closable, Loader, Progress
from moot.models.remote import RemoteModel
from moot.models.sampling import refused
from moot.models.shape import with_shape
from moot.models.wrappers import (
    with_backoff,
    with_cost,
    with_fallback,
    with_model_errors,
    with_slots,
    with_timeout,
)

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds of back-off: doubled each time; no Retry-After is waited for longer
EMBEDDER_SECONDS = 20.0  # for one call of the embedder; then words alone are compared, so that no debate hangs


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
        self._models: dict[str, Model] = {}
        self._prices: dict[str, Price | None] = {}
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._closables: list[Closable] = []
        self._opening = Opening(
            settings=settings, environ=environ, keep=self._closables.append, load_turns=replay, progress=progress
        )

    def open(self, spec: str) -> Model:
        model = self._models.get(spec)
        if model is None:
            # Fallback is outermost: a model that gives no valid typed answer has failed, too.
            members = [(str(member), self._member(member)) for member in specs.parse(spec)]
            model = self._models[spec] = with_fallback(members)
        return model

    def price(self, spec: str) -> Price | None:
        if spec not in self._prices:
            try:
                self._prices[spec] = prices.price(specs.parse(spec), self._environ)
            except InputError:  # the provider is a plug-in that is no longer installed
                self._prices[spec] = None
        return self._prices[spec]

    def context_window(self, spec: str) -> int | None:
        """How many tokens a model reads and writes in one call at most; None if that is not known."""
        try:
            return prices.context_window(specs.parse(spec), self._environ)
        except InputError:
            return None

    def check(self, spec: str) -> None:
        """Raise UnknownModel or InputError if `spec` can't work. Uses no network and imports no provider library."""
        for member in specs.parse(spec):
            check = specs.provider_of(member).check
            specs.base_url(member, self._environ)
            if check is not None:
                check(member, self._opening)

    def check_sampling(self, spec: str, sampling: Sampling) -> None:
        """Raise InputError if a model of the cascade does not take one of the settings.

        A temperature is never refused: formats set one by default. Models that take none are called without it.
        """
        for member in specs.parse(spec):
            load_profile = partial(remote.profile_of, self._endpoint(member))
            names = refused(sampling, specs.provider_of(member), load_profile)
            if names:
                them = "it" if len(names) == 1 else "them"
                raise InputError(
                    f"{member} takes no {' and no '.join(names)}. "
                    f"Leave {them} out, or choose another model for that seat."
                )

    def prepare(self, spec: str) -> None:
        """Import what the model needs, which can take seconds. Call it in a thread."""
        for member in specs.parse(spec):
            api = specs.provider_of(member).api
            if api is not None:
                remote.prepare(api)

    def embedder(self) -> Embedder | None:
        """Return the embedder that the settings name, or None if they turn embeddings off."""
        name = self._settings.embedder or embedding.default()
        if name == embedding.NONE:
            return None
        member = embedding.check_embedder(name)
        if member is None:
            return RetryingEmbedder(embedding.DOOR.get(name)(), EMBEDDER_SECONDS)
        remote = RemoteEmbedder(str(member), self._endpoint(member), prices.meter(member, self._environ))
        self._closables.append(remote)
        slots = self._slots_for(self._server(member), self._settings.concurrency)
        return RetryingEmbedder(remote, EMBEDDER_SECONDS, slots)

    def embedder_price(self) -> Price | None:
        """What the embedder costs; None if that is not known. Those that run here cost nothing."""
        name = self._settings.embedder or embedding.default()
        member = None if name == embedding.NONE else embedding.check_embedder(name)
        return FREE if member is None else prices.price([member], self._environ)

    async def close(self) -> None:
        for queue in self._queues.values():
            await queue.close()
        for each in self._closables:
            await each.close()

    def _member(self, member: ModelSpec) -> Model:
        settings, opened = self._settings, self._opened(member)
        slots = None if opened.slots is None else self._slots_for(opened.server, opened.slots)
        admit = self._admit(member, slots) if opened.counted else None
        model = self._observed(member, opened.model) if opened.counted else opened.model
        # The time limit starts after waiting for rate limits and a slot. The cost includes attempts that timed out.
        if opened.timed:
            model = with_timeout(model, settings.call_timeout_seconds, admit)
        elif admit is not None:
            model = admit(model)
        if opened.priced:
            model = with_cost(model, prices.meter(member, self._environ))
        model = with_backoff(model, settings.backoff_tries, FIRST_WAIT, LONGEST_WAIT)
        return with_shape(model)

    def _opened(self, member: ModelSpec) -> Opened:
        open_ = specs.provider_of(member).open
        if open_ is not None:
            opened, package = open_(member, self._opening), providers.DOOR.package(member.provider)
            if not package:
                return opened
            return replace(opened, model=with_model_errors(opened.model, str(member), package))
        model = RemoteModel(self._endpoint(member))
        self._closables.append(model)
        return Opened(model=model, server=self._server(member), slots=self._settings.concurrency)

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
                max_pause=LONGEST_WAIT,
                on_wait=None if self._observer is None else self._observer.waited,
            )
        return self._queues[name]

    def _endpoint(self, member: ModelSpec) -> Endpoint:
        return Endpoint(
            provider=specs.provider_of(member).name,
            model=member.model,
            url=specs.base_url(member, self._environ),
            key=specs.api_key(member, self._environ),
            key_variable=specs.COMPATIBLE_KEY if member.url else specs.key_variable(member),
            key_required=specs.key_variable(member) is not None,
        )

    def _slots_for(self, server: str, count: int) -> asyncio.Semaphore:
        if server not in self._slots:
            self._slots[server] = asyncio.Semaphore(count)
        return self._slots[server]

    def _server(self, member: ModelSpec) -> str:
        """Return what identifies the server that a model runs on: its address, or its provider."""
        return specs.base_url(member, self._environ) or member.provider
