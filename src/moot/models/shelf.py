"""Where models are taken from: a spec becomes a model with everything around it that makes it dependable."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from moot.errors import InputError
from moot.folders import data_dir
from moot.models import prices, scripted, sim
from moot.models import spec as specs
from moot.models.local import SLOTS, local_model
from moot.models.provider import Endpoint, Remote
from moot.models.replay import Loader, replay_model
from moot.models.shape import with_shape
from moot.models.spec import ModelSpec
from moot.models.weights import Progress
from moot.models.wrappers import with_backoff, with_cost, with_fallback, with_slots, with_timeout
from moot.settings import Settings
from moot.types import Model, Price


class Shelf:
    """Implements `Models`. Models are opened once and kept; `close` before the event loop ends."""

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str],
        replay: Loader | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._replay = replay
        self._progress = progress
        self._models: dict[str, Model] = {}
        self._prices: dict[str, Price | None] = {}
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._remotes: list[Remote] = []

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

    async def close(self) -> None:
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
                model = with_timeout(
                    scripted.scripted_model(scripted.load(member.model)), settings.call_timeout_seconds
                )
            case "sim":
                model = sim.sim_model(member)
                options = sim.read_options(member)
                if not options.instant:
                    model = with_timeout(model, settings.call_timeout_seconds)
                if options.price_in or options.price_out:
                    model = with_cost(model, prices.meter(member, self._environ))
            case "local":
                model = local_model(
                    data_dir(settings) / "models",
                    timeout=settings.call_timeout_seconds,
                    progress=self._progress,
                    opened=self._remotes.append,
                )
                model = with_cost(model, prices.meter(member, self._environ))
                model = with_slots(model, self._slots_of("local", SLOTS))
            case _:
                # The time for a call begins when it has its slot, and its price includes what a time-out wasted.
                model = with_timeout(self._remote(member), settings.call_timeout_seconds)
                model = with_cost(model, prices.meter(member, self._environ))
                model = with_slots(model, self._slots_of(self._place(member), settings.concurrency))
        model = with_backoff(model, settings.backoff_tries, settings.backoff_base_seconds, settings.backoff_max_seconds)
        return with_shape(model)

    def _remote(self, member: ModelSpec) -> Remote:
        compatible = member.url is not None and member.provider not in ("anthropic", "ollama")
        remote = Remote(
            Endpoint(
                provider="openai-compatible" if compatible else member.provider,
                model=member.model,
                url=specs.base_url(member, self._environ),
                key=specs.api_key(member, self._environ),
                key_variable=specs.COMPATIBLE_KEY if member.url else specs.key_variable(member),
                key_required=specs.key_variable(member) is not None,
            )
        )
        self._remotes.append(remote)
        return remote

    def _slots_of(self, place: str, count: int) -> asyncio.Semaphore:
        if place not in self._slots:
            self._slots[place] = asyncio.Semaphore(count)
        return self._slots[place]

    def _place(self, member: ModelSpec) -> str:
        return specs.base_url(member, self._environ) or member.provider
