from __future__ import annotations

from typing import TYPE_CHECKING

from moot.models.providers.api import Api, Endpoint, GetJson
from moot.models.providers.provider import Provider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Wire


def _wire(api: Api, endpoint: Endpoint, http: httpx2.AsyncClient) -> Wire:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=endpoint.key or "none", base_url=endpoint.url or api.url, http_client=http)
    return AnthropicModel(endpoint.model, provider=provider)


def _models(url: str, key: str | None, get: GetJson) -> list[str]:
    headers = {"x-api-key": key or "", "anthropic-version": "2023-06-01"}
    return [str(each["id"]) for each in get(f"{url}/v1/models?limit=1000", headers)["data"]]


PROVIDER = Provider(
    name="anthropic",
    example="anthropic:claude-haiku-5-5",
    api=Api(
        url="https://api.anthropic.com",
        url_variable="ANTHROPIC_BASE_URL",
        keys=("ANTHROPIC_API_KEY",),
        elsewhere="anthropic",
        wire=_wire,
        modules=("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic", "anthropic.resources.messages"),
        list_models=_models,
        # Other providers cache by themselves. A seat's history only grows, so most of it is read from the cache.
        settings={"anthropic_cache": True},
    ),
    models={"debater": "claude-haiku-5-5", "judge": "claude-haiku-5-5"},
    rank=2,
    prefixes=("claude",),
    sampling=frozenset({"temperature", "top_p", "top_k", "stop"}),
    reasoning_sampling=frozenset({"stop"}),
)
