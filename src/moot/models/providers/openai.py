from __future__ import annotations

from typing import TYPE_CHECKING

from moot.models.providers.api import Api, Endpoint, openai_profile
from moot.models.providers.provider import OPENAI_SETTINGS, Provider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Wire


def _wire(api: Api, endpoint: Endpoint, http: httpx2.AsyncClient) -> Wire:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=endpoint.key or "none", base_url=endpoint.url or api.url, http_client=http)
    return OpenAIChatModel(endpoint.model, provider=provider, profile=openai_profile())


PROVIDER = Provider(
    name="openai",
    example="openai:gpt-6-luna",
    api=Api(
        url="https://api.openai.com/v1",
        url_variable="OPENAI_BASE_URL",
        keys=("OPENAI_API_KEY",),
        wire=_wire,
        embeds=True,
    ),
    models={"debater": "gpt-6-luna", "judge": "gpt-6-luna"},
    rank=1,
    prefixes=("gpt", "o1", "o3", "o4"),
    sampling=OPENAI_SETTINGS,
    reasoning_sampling=frozenset({"seed"}),
)
