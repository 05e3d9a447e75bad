"""Where models are taken from: a spec becomes a model with everything around it that makes it dependable."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from moot.errors import InputError
from moot.folders import data_dir
from moot.models import prices, provider, scripted, sim
from moot.models import spec as specs
from moot.models.embedding import (
    NONE,
    OFFLINE,
    Offline,
    RemoteEmbedder,
    Steady,
    check_embedder,
    is_installed,
)
from moot.models.local import SLOTS, local_model
from moot.models.pace import Line, by_spec, limits_of, with_pace
from moot.models.prices import Meter
from moot.models.provider import Endpoint, Remote
from moot.models.replay import Loader, replay_model
from moot.models.shape import with_shape
from moot.models.spec import ModelSpec
from moot.models.weights import Progress
from moot.models.wrappers import with_backoff, with_cost, with_fallback, with_slots, with_timeout
from moot.pace import OwnPace, Pace
from moot.settings import Settings
from moot.types import Embedder, Model, Price


class Watch(Protocol):
    """Sees every call of a model."""

    def around(self, spec: ModelSpec, model: Model, meter: Meter, /) -> Model:
        """The model, with each attempt seen: retries are calls of their own."""
        ...

    def waited(self, limit: str, seconds: float, /) -> None:
        """A call has waited for its share of a rate limit."""
        ...


class Shelf:
    """Implements `Models`. Models are opened once and kept; `close` before the event loop ends."""

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str],
        replay: Loader | None = None,
        progress: Progress | None = None,
        pace: Callable[[], Pace] | None = None,
        watch: Watch | None = None,
    ) -> None:
        """`pace` is asked for when a model is opened that has a rate limit; without it, this process keeps it alone."""
        self._settings = settings
        self._pace, self._watch = pace, watch
        self.limits = by_spec(settings.rate_limits)  # by the spec of a model or a provider
        self._lines: dict[str, Line] = {}
        self._environ = environ
        self._replay = replay
        self._progress = progress
        self._models: dict[str, Model] = {}
        self._prices: dict[str, Price | None] = {}
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._remotes: list[Remote | RemoteEmbedder] = []

    def open(self, spec: str) -> Model:
        model = self._models.get(spec)
        if model is None:
            # Fallback is outermost: a model that never finds the right shape has failed, too.
            members = [(str(member), self._member(member)) for member in specs.parse(spec)]
            model = self._models[spec] = with_fallback(members)
        return model

    def price(self, spec: str) -> Price | None:
        if spec not in self._prices:
            self._prices[spec] = prices.price(specs.parse(spec), self._environ)
        return self._prices[spec]

    def check(self, spec: str) -> None:
        """Raises UnknownModel or InputError when `spec` can't work. Uses no network and imports no provider library."""
        for member in specs.parse(spec):
            match member.provider:
                case "sim":
                    sim.read_options(member)
                case "scripted":
                    scripted.load(member.model)
                case "replay" if self._replay is None:
                    raise InputError("Recorded debates can't be replayed here.")
                case _:
                    specs.base_url(member, self._environ)

    def prepare(self, spec: str) -> None:
        """Import what the model needs, which can take seconds; for a thread of its own."""
        for member in specs.parse(spec):
            if member.provider not in ("human", "replay", "scripted", "sim"):
                provider.prepare(member.provider)

    def embedder(self) -> Embedder | None:
        """The one that the settings choose; None: there is none."""
        spec = self._settings.embedder or (OFFLINE if is_installed() else NONE)
        if spec == NONE:
            return None
        if spec == OFFLINE:
            return Steady(Offline(), self._settings.embedder_timeout_seconds)
        member = check_embedder(spec)
        assert member is not None
        remote = RemoteEmbedder(str(member), self._endpoint(member), prices.meter(member, self._environ))
        self._remotes.append(remote)
        slots = self._slots_of(self._place(member), self._settings.concurrency)
        return Steady(remote, self._settings.embedder_timeout_seconds, slots)

    async def close(self) -> None:
        for line in self._lines.values():
            await line.close()
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
                model = self._watched(member, scripted.scripted_model(scripted.load(member.model)))
                model = with_timeout(model, settings.call_timeout_seconds, self._admit(member))
            case "sim":
                model = self._watched(member, sim.sim_model(member, self._environ.get("MOOT_SIM_LOG") or None))
                options, admit = sim.read_options(member), self._admit(member)
                if not options.instant:
                    model = with_timeout(model, settings.call_timeout_seconds, admit)
                elif admit is not None:
                    model = admit(model)
                if options.price_in or options.price_out:
                    model = with_cost(model, prices.meter(member, self._environ))
            case "local":
                model = local_model(
                    data_dir(settings) / "models",
                    timeout=settings.call_timeout_seconds,
                    progress=self._progress,
                    opened=self._remotes.append,
                )
                admit = self._admit(member, self._slots_of("local", SLOTS))
                assert admit is not None
                model = admit(with_cost(self._watched(member, model), prices.meter(member, self._environ)))
            case _:
                # The time for a call begins when it has its share and its slot, and its price includes what a time-out
                # wasted.
                admit = self._admit(member, self._slots_of(self._place(member), settings.concurrency))
                model = with_timeout(self._watched(member, self._remote(member)), settings.call_timeout_seconds, admit)
                model = with_cost(model, prices.meter(member, self._environ))
        model = with_backoff(model, settings.backoff_tries, settings.backoff_base_seconds, settings.backoff_max_seconds)
        return with_shape(model)

    def _watched(self, member: ModelSpec, model: Model) -> Model:
        if self._watch is None:
            return model
        return self._watch.around(member, model, prices.meter(member, self._environ))

    def _admit(self, member: ModelSpec, slots: asyncio.Semaphore | None = None) -> Callable[[Model], Model] | None:
        """What each attempt waits for."""
        lines = [self._line(name) for name in limits_of(member, self.limits)]
        if lines:
            return lambda model: with_pace(model, lines, slots)
        return None if slots is None else lambda model: with_slots(model, slots)

    def _line(self, name: str) -> Line:
        if name not in self._lines:
            if self._pace is None:
                pace = OwnPace(time.monotonic)
                self._pace = lambda: pace
            self._lines[name] = Line(
                name,
                self.limits[name],
                self._pace(),
                longest_pause=self._settings.backoff_max_seconds,
                waited=None if self._watch is None else self._watch.waited,
            )
        return self._lines[name]

    def _remote(self, member: ModelSpec) -> Remote:
        remote = Remote(self._endpoint(member))
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
        )

    def _slots_of(self, place: str, count: int) -> asyncio.Semaphore:
        if place not in self._slots:
            self._slots[place] = asyncio.Semaphore(count)
        return self._slots[place]

    def _place(self, member: ModelSpec) -> str:
        return specs.base_url(member, self._environ) or member.provider
