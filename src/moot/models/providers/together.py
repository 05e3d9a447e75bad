from __future__ import annotations

from collections.abc import Mapping

from moot.models.providers.api import Api
from moot.models.providers.provider import EVERY_SETTING, Provider


def _think_least(model: str) -> Mapping[str, str]:
    return {"reasoning_effort": "low"} if "gpt-oss" in model else {}


PROVIDER = Provider(
    name="together",
    example="together:openai/gpt-oss-120b",
    api=Api(
        url="https://api.together.xyz/v1",
        url_variable="TOGETHER_BASE_URL",
        keys=("TOGETHER_API_KEY",),
        embeds=True,
        # Its list has no `data` around it.
        list_models=lambda url, key, get: [
            str(each["id"]) for each in get(f"{url}/models", {"Authorization": f"Bearer {key}"})
        ],
        think_least=_think_least,
    ),
    models={"debater": "openai/gpt-oss-120b", "judge": "openai/gpt-oss-120b"},
    rank=9,
    sampling=EVERY_SETTING,
)
