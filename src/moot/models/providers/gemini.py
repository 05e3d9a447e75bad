from __future__ import annotations

from collections.abc import Mapping

from moot.models.providers.api import Api, GetJson, openai_models
from moot.models.providers.provider import Provider


def _think_least(model: str) -> Mapping[str, str]:
    # Only the flash models of 2.5 can do without thinking.
    return {"reasoning_effort": "none" if model.startswith("gemini-2.5-flash") else "minimal"}


def _models(url: str, key: str | None, get: GetJson) -> list[str]:
    return [name.removeprefix("models/") for name in openai_models(url, key, get)]


PROVIDER = Provider(
    name="gemini",
    example="gemini:gemini-3.5-flash-lite",
    api=Api(
        url="https://generativelanguage.googleapis.com/v1beta/openai",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        embeds=True,
        list_models=_models,
        prices="google",
        think_least=_think_least,
    ),
    models={"debater": "gemini-3.5-flash-lite", "judge": "gemini-3.5-flash-lite"},
    rank=5,
    prefixes=("gemini-",),
    sampling=frozenset({"temperature", "top_p", "stop"}),
)
