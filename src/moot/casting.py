"""Casting: which model each seat of a debate gets, and whether it can be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from moot.config import Config
from moot.core.errors import InputError
from moot.core.settings import Ceilings, DebateSettings, read
from moot.core.types import Debate, Hat, Sampling, SeatSpec, Tier
from moot.formats import Format, overridden
from moot.models.choice import Choice, choose, discovered, is_small
from moot.models.registry import ModelRegistry
from moot.models.spec import missing_key
from moot.runtime.spending import check_price


class Casting:
    def __init__(
        self,
        config: Config,
        environ: Mapping[str, str],
        models: ModelRegistry,
        ceilings: Callable[[], Ceilings] = Ceilings,
    ) -> None:
        self._config, self._environ, self._models = config, environ, models
        self._ceilings = ceilings

    def choose(self, tier: Tier, explicit: str | None, format: str) -> Choice:
        """The model for a tier, and why it is chosen."""
        configured = self._config.model(tier, format)
        return choose(tier, explicit, self._environ, lambda: self._discovered, configured)

    def cast(
        self,
        format_: Format,
        settings: DebateSettings,
        kept: Mapping[str, str] | None = None,
        hats: Sequence[Hat] = (),
    ) -> tuple[tuple[SeatSpec, ...], Mapping[str, str]]:
        """The seats with their models, and why each model was chosen, by spec. `kept` and `hats`: models and roles that
        a fork takes over. Raises InputError if a model can't be used or a role is unknown."""
        parts = overridden(format_.parts(settings), settings.seats)
        explicit: dict[Tier, str | None] = {"judge": settings.model_judge, "debater": settings.model_debater}
        tiers: set[Tier] = {part.tier for part in parts}
        choices = {tier: self.choose(tier, explicit[tier], format_.name) for tier in tiers}
        seats: list[SeatSpec] = []
        reasons: dict[str, str] = {}
        for part in parts:
            choice = choices[part.tier]
            spec = part.model or (kept or {}).get(part.id) or choice.spec
            reasons.setdefault(spec, "the spec names it" if part.model else choice.reason)
            seats.append(part.seated(spec, settings, small=is_small(spec), kept=hats))
        for spec, sampling in dict.fromkeys((seat.model, seat.sampling) for seat in seats):
            self._check(spec, settings, sampling)
        return tuple(seats), reasons

    def kept(
        self, format_: Format, parent: Debate, settings: DebateSettings, changes: Mapping[str, Any]
    ) -> dict[str, str]:
        """The models that a fork takes over from its parent, by seat: those that its changes don't touch."""
        before = read(format_.settings, parent.config)
        named = [{part.id: part.model for part in format_.parts(each)} for each in (before, settings)]
        return {
            seat.id: seat.model
            for seat in parent.cast
            if f"model_{seat.tier}" not in changes and named[0].get(seat.id) == named[1].get(seat.id)
        }

    def check_usable(self, spec: str) -> None:
        """Raises InputError if the model is unknown or its key is missing."""
        self._models.check(spec)
        missing = missing_key(spec, self._environ)
        if missing:
            raise InputError(f"The model {spec} needs a key. Set {missing}, or choose another model.", remedy="model")

    def _check(self, spec: str, settings: DebateSettings, sampling: Sampling) -> None:
        self.check_usable(spec)
        self._models.check_sampling(spec, sampling)
        check_price(self._models, self._ceilings(), spec)
        if settings.max_cost_usd is not None and self._models.price(spec) is None:
            raise InputError(
                f"The price of {spec} is not known, so max_cost_usd can't be kept. "
                "Leave max_cost_usd out, or choose a model with a known price."
            )

    @cached_property  # so that a model that is loaded does not make the next debate choose another
    def _discovered(self) -> Choice:
        return discovered(self._config.settings, self._environ)
