from __future__ import annotations

from collections.abc import Mapping

from moot.models.providers.api import Api
from moot.models.providers.provider import Provider


def _think_least(model: str) -> Mapping[str, str]:
    # Others think always, or refuse to be told.
    return {"reasoning_effort": "none"} if model.startswith(("grok-4.3", "grok-latest", "grok-3-mini")) else {}


PROVIDER = Provider(
    name="xai",
    example="xai:grok-4.3",
    api=Api(url="https://api.x.ai/v1", keys=("XAI_API_KEY",), prices="x-ai", think_least=_think_least),
    models={"debater": "grok-4.3", "judge": "grok-4.3"},
    rank=8,
    prefixes=("grok",),
    sampling=frozenset({"temperature", "top_p", "seed"}),  # models that reason refuse the others
)
