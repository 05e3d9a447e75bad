from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.errors import UnknownModel
from moot.models.providers.api import Api, Endpoint, openai_profile
from moot.models.providers.provider import EVERY_SETTING, ModelSpec, Provider
from moot.models.providers.reading import read_remote

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Wire


def _wire(api: Api, endpoint: Endpoint, http: httpx2.AsyncClient) -> Wire:
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    provider = OpenRouterProvider(api_key=endpoint.key or "none", http_client=http)
    return OpenRouterModel(endpoint.model, provider=provider, profile=openai_profile())


def _read(rest: str, text: str) -> ModelSpec:
    spec = read_remote("openrouter", rest, text)
    if "/" not in spec.model:
        raise UnknownModel(f"{text!r}: OpenRouter's names have two parts, for example openrouter:openai/{spec.model}.")
    return spec


PROVIDER = Provider(
    name="openrouter",
    example="openrouter:openai/gpt-6-luna",
    api=Api(url="https://openrouter.ai/api/v1", keys=("OPENROUTER_API_KEY",), wire=_wire, embeds=True),
    read=_read,
    models={"debater": "openai/gpt-6-luna", "judge": "openai/gpt-6-luna"},
    rank=4,
    sampling=EVERY_SETTING,
    reasoning_sampling=frozenset({"seed", "stop"}),
)
