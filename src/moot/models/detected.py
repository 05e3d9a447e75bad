"""Models that can be used on this machine without writing anything down: what a picker of models offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from moot.core.settings import Settings
from moot.models import providers
from moot.models.choice import at_hand
from moot.models.providers.provider import Choice

DEMONSTRATION = "sim:"


def detected(settings: Settings, environ: Mapping[str, str], chosen: Iterable[Choice] = ()) -> list[Choice]:
    """The models that are at hand, with the reason for each: those of `chosen` first, then one or two of each provider
    whose key is set, what providers without a key find, and the simulated one. Asks servers on this machine, so call
    it in a thread."""
    found: dict[str, Choice] = {}
    for choice in [*chosen, *_with_keys(environ), *at_hand(settings, environ)]:
        found.setdefault(choice.spec, choice)
    found.setdefault(DEMONSTRATION, Choice(spec=DEMONSTRATION, reason="it needs nothing"))
    return list(found.values())


def _with_keys(environ: Mapping[str, str]) -> list[Choice]:
    return [
        Choice(spec=f"{provider.name}:{model}", reason=f"{variable} is set")
        for provider in providers.ranked()
        for variable in [next((name for name in provider.api.keys if environ.get(name)), "") if provider.api else ""]
        if variable and provider.installed()
        for model in dict.fromkeys(provider.models.values())
    ]
