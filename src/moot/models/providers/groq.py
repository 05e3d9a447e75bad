from __future__ import annotations

from collections.abc import Mapping

from moot.models.providers.api import Api
from moot.models.providers.provider import Provider


def _think_least(model: str) -> Mapping[str, str]:
    if "gpt-oss" in model:
        return {"reasoning_effort": "low"}
    return {"reasoning_effort": "none"} if "qwen3" in model else {}


PROVIDER = Provider(
    name="groq",
    example="groq:openai/gpt-oss-120b",
    api=Api(
        url="https://api.groq.com/openai/v1",
        url_variable="GROQ_BASE_URL",
        keys=("GROQ_API_KEY",),
        think_least=_think_least,
    ),
    models={"debater": "openai/gpt-oss-120b", "judge": "openai/gpt-oss-120b"},
    rank=6,
    sampling=frozenset({"temperature", "top_p", "seed", "stop"}),
)
