"""The models that a provider has, as its server lists them."""

from __future__ import annotations

from collections.abc import Mapping

from moot.core.errors import InputError, ModelUnavailable
from moot.core.masking import without_secrets
from moot.models import providers
from moot.models.providers.fetch import get_json


def models_of(name: str, environ: Mapping[str, str]) -> list[str]:
    """The specs of a provider's models, sorted. Raises InputError, or ModelUnavailable if its server gives no list."""
    provider = providers.find(name)
    api = provider.api
    if api is None or not provider.remote:
        raise InputError(f"{name} has no list of models: it is {provider.about or 'no server'}.")
    key, url = api.key(environ), api.base_url(environ) or api.url
    if not url:
        raise InputError(f"{name} has no address of its own: ask the server for its models.")
    if api.key_required and not key:
        raise InputError(f"{name} lists its models only for those who have a key. Set {api.keys[0]}.")
    try:
        found = sorted(api.list_models(url, key, get_json))
    except (OSError, ValueError, LookupError, TypeError) as error:
        said = without_secrets(str(error).replace(key or "\0", "***"))[:200]
        raise ModelUnavailable(
            f"{name} gave no list of its models ({said}). Check the address {url}, the key and the network.", model=name
        ) from None
    return [f"{name}:{model}" for model in found]
