from __future__ import annotations

from moot.core.errors import UnknownModel
from moot.models.providers.api import COMPATIBLE, Api
from moot.models.providers.provider import EVERY_SETTING, ModelSpec, Provider
from moot.models.providers.reading import read_remote


def _read(rest: str, text: str) -> ModelSpec:
    spec = read_remote(COMPATIBLE, rest, text)
    if spec.url is None:
        raise UnknownModel(f"{text!r} needs the server's address: {COMPATIBLE}:{spec.model}@http://127.0.0.1:8000/v1")
    return spec


PROVIDER = Provider(
    name=COMPATIBLE,
    example=f"{COMPATIBLE}:my-model@http://127.0.0.1:8000/v1",
    about="any server that speaks OpenAI's protocol; MOOT_API_KEY if it needs a key",
    api=Api(key_required=False, embeds=True),
    read=_read,
    rank=21,
    sampling=EVERY_SETTING,
    reasoning_sampling=frozenset({"seed", "stop"}),
)
