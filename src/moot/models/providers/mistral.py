from __future__ import annotations

from moot.models.providers.api import Api
from moot.models.providers.provider import OPENAI_SETTINGS, Provider

PROVIDER = Provider(
    name="mistral",
    example="mistral:mistral-small-latest",
    api=Api(
        url="https://api.mistral.ai/v1",
        keys=("MISTRAL_API_KEY",),
        embeds=True,
        # Fields that it does not know are refused. It reports usage without being asked to.
        leave_out=("stream_options",),
        renamed={"seed": "random_seed"},
    ),
    models={"debater": "mistral-small-latest", "judge": "mistral-small-latest"},
    rank=7,
    prefixes=("mistral-", "ministral", "magistral", "codestral", "devstral"),
    sampling=OPENAI_SETTINGS,
)
