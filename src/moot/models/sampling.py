"""Which sampling settings a model takes, by the record of its provider.

A new sampler setting is a field of `Sampling`; no code names settings one by one. A provider that silently ignores a
setting does not take it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moot.core.types import Sampling
from moot.models.providers import Provider
from moot.models.providers.api import Profile

# Never refused: formats set a temperature by default. Models that take none are called without it.
OPTIONAL = frozenset({"temperature"})


def taken(sampling: Sampling, provider: Provider, profile: Profile) -> dict[str, Any]:
    """Return the settings to send to a model, as JSON values."""
    takes = settings_of(provider, profile)
    given = sampling.model_dump(mode="json", include=set(sampling.given))
    return {name: value for name, value in given.items() if name in takes}


def refused(sampling: Sampling, provider: Provider, load_profile: Callable[[], Profile]) -> list[str]:
    """Return the names of the settings that a model does not take, without the optional ones.

    `load_profile` may import a provider library, which takes a second. It is called only when the answer depends on
    the model.
    """
    asked = {name for name in sampling.given if name not in OPTIONAL}
    fixed = provider.reasoning_sampling
    depends = fixed is not None and asked & (provider.sampling - fixed)
    takes = settings_of(provider, load_profile()) if depends else provider.sampling
    return [name for name in sampling.given if name in asked - takes]


def settings_of(provider: Provider, profile: Profile) -> frozenset[str]:
    """Return the names of the settings that a model takes."""
    fixed = provider.reasoning_sampling
    if fixed is None or provider.api is None or not provider.api.fixed_sampling(profile):
        return provider.sampling
    return fixed
