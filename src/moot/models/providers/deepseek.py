from __future__ import annotations

from typing import TYPE_CHECKING

from moot.models.providers.api import Api, Endpoint, openai_profile
from moot.models.providers.provider import OPENAI_SETTINGS, Provider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Wire


def _wire(api: Api, endpoint: Endpoint, http: httpx2.AsyncClient) -> Wire:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.deepseek import DeepSeekProvider

    profile = openai_profile()
    profile["openai_chat_supports_max_completion_tokens"] = False
    provider = DeepSeekProvider(api_key=endpoint.key or "none", http_client=http)
    return OpenAIChatModel(endpoint.model, provider=provider, profile=profile)


PROVIDER = Provider(
    name="deepseek",
    example="deepseek:deepseek-flash",
    api=Api(
        url="https://api.deepseek.com",
        keys=("DEEPSEEK_API_KEY",),
        wire=_wire,
        fixed_sampling=lambda profile: bool(profile.get("thinking_always_enabled")),
    ),
    models={"debater": "deepseek-flash", "judge": "deepseek-flash"},
    rank=3,
    model_variable="DEEPSEEK_MODEL",
    prefixes=("deepseek-",),
    sampling=OPENAI_SETTINGS - {"seed"},  # which it ignores
    reasoning_sampling=frozenset({"stop"}),
)
