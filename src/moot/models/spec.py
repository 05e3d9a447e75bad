"""Model specs (`provider:model`), as a debate's cast records them. Parsing needs no network and no provider library."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from moot.core.errors import UnknownModel
from moot.models import providers
from moot.models.providers.provider import ModelSpec as ModelSpec
from moot.models.providers.provider import Provider
from moot.models.providers.reading import COMPATIBLE_KEY, LOOKS, read_remote

MAX_SPEC_CHARS = 2000
MAX_CASCADE = 10


def parse(text: str) -> tuple[ModelSpec, ...]:
    """Return the models of a cascade in the order in which they are tried; `parse(str(spec))` gives a spec again.
    Raises UnknownModel."""
    if len(text) > MAX_SPEC_CHARS:
        raise UnknownModel(f"A model is written in at most {MAX_SPEC_CHARS:,} characters; this has {len(text):,}.")
    parts = text.split("|")
    if len(parts) > MAX_CASCADE:
        raise UnknownModel(f"A cascade has at most {MAX_CASCADE} models; this has {len(parts)}.")
    return tuple(_parse_one(part.strip()) for part in parts)


def provider_of(spec: ModelSpec) -> Provider:
    """The provider whose rules hold for a model: at an address that the spec names, perhaps another."""
    provider = providers.find(spec.provider)
    return providers.find(provider.api.elsewhere) if spec.url and provider.api else provider


def key_variable(spec: ModelSpec) -> str | None:
    """Return the environment variable of the key that a model needs, or None."""
    api = providers.find(spec.provider).api
    # A provider's own key is never sent to an address that a spec names.
    return api.keys[0] if api is not None and api.key_required and api.keys and not spec.url else None


def api_key(spec: ModelSpec, environ: Mapping[str, str]) -> str | None:
    if spec.url:
        return environ.get(COMPATIBLE_KEY) or None
    api = providers.find(spec.provider).api
    return None if api is None else api.key(environ)


def base_url(spec: ModelSpec, environ: Mapping[str, str]) -> str | None:
    """Return the server's address, or None for the provider's own."""
    if spec.url:
        return spec.url
    api = providers.find(spec.provider).api
    return None if api is None else api.base_url(environ)


def missing_key(text: str, environ: Mapping[str, str]) -> str | None:
    """Return the environment variable to set before `text` can be used, or None. A cascade needs one usable member."""
    missing: list[str] = []
    for spec in parse(text):
        variable = key_variable(spec)
        if variable is None or api_key(spec, environ):
            return None
        missing.append(variable)
    return missing[0]


def _parse_one(text: str) -> ModelSpec:
    name, _, rest = text.partition(":")
    name = name.strip().lower()
    if name not in providers.DOOR:
        raise UnknownModel(_unknown(name, text) if text else f"A model's name is missing. {LOOKS}")
    read = providers.find(name).read
    return read_remote(name, rest.strip(), text) if read is None else read(rest.strip(), text)


def _unknown(name: str, text: str) -> str:
    known = providers.ranked()
    meant = next((each.name for each in known if any(map(name.startswith, each.prefixes))), None)
    close = difflib.get_close_matches(name, [each.name for each in known], n=1, cutoff=0.6)
    if meant:
        hint = f" Did you mean {meant}:{text}?"
    elif close:
        _, colon, rest = text.partition(":")
        hint = f" Did you mean {close[0]}{colon}{rest}?"
    else:
        hint = ""
    names = ", ".join(each.name for each in known)
    return f"There is no model provider {name!r}.{hint} Providers: {names}. {LOOKS}"
