"""Chooses the default model: from the environment, the config files, a provider's key, or what is at hand."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import cast

from moot.core.errors import InputError
from moot.core.settings import Settings
from moot.core.types import Tier
from moot.models import providers
from moot.models.providers.provider import Choice as Choice
from moot.models.spec import parse, provider_of

log = logging.getLogger("moot.models")


def choose(
    tier: str,
    explicit: str | None,
    environ: Mapping[str, str],
    discover: Callable[[], Choice],
    configured: Choice | None = None,
) -> Choice:
    """Return the model for a tier ("debater", "judge") and the reason for it.

    `configured` is the choice of the config files; environment variables come before it. `discover` is called only if
    nothing else decides.
    """
    if explicit:
        return Choice(spec=explicit, reason="it was asked for")
    for variable in (f"MOOT_MODEL_{tier.upper()}", "MOOT_MODEL"):
        if environ.get(variable):
            return Choice(spec=environ[variable], reason=f"{variable} is set")
    ranked = providers.ranked()
    for provider in ranked:
        variable = f"{provider.model_variable}_{tier.upper()}"
        if provider.model_variable and environ.get(variable):
            model = environ[variable].removeprefix(f"{provider.name}:")
            return Choice(spec=f"{provider.name}:{model}", reason=f"{variable} is set")
    if configured is not None:
        return configured
    for provider in ranked:
        variable = next((name for name in provider.api.keys if environ.get(name)), None) if provider.api else None
        model = provider.models.get(cast(Tier, tier))
        if variable and model:
            return Choice(spec=f"{provider.name}:{model}", reason=f"{variable} is set")
    return discover()


def discovered(settings: Settings, environ: Mapping[str, str]) -> Choice:
    """Return the first model that is at hand without a key: an embedded one always is."""
    return next(at_hand(settings, environ))


def at_hand(settings: Settings, environ: Mapping[str, str]) -> Iterator[Choice]:
    """The models that are at hand without a key, provider by provider."""
    for provider in providers.ranked():
        try:
            found = provider.discover(settings, environ) if provider.discover else None
        except Exception as error:
            if not providers.DOOR.package(provider.name):
                raise
            log.warning("%s could not look for models: %s: %s", provider.name, type(error).__name__, error)
            continue
        if found is not None:
            yield found


@lru_cache(maxsize=256)  # lists of debates ask for every seat
def is_demonstration(spec: str) -> bool:
    """Whether a model's answers mean nothing, so that verdicts based on them must be labelled."""
    try:
        return any(provider_of(member).demonstration for member in parse(spec))
    except InputError:  # the provider was a plug-in that is no longer installed
        return False


def is_small(spec: str) -> bool:
    """Whether a model is small, so that questions may be worded more simply for it. Of a cascade, the first counts."""
    member = parse(spec)[0]
    return provider_of(member).small(member)
