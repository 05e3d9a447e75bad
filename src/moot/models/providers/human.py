from __future__ import annotations

from moot.core.errors import InputError, UnknownModel
from moot.core.types import HUMAN
from moot.models.providers.provider import EVERY_SETTING, FREE, ModelSpec, Opened, Opening, Provider


def _read(rest: str, text: str) -> ModelSpec:
    if rest:
        raise UnknownModel("A seat that a person speaks for is written human, without a name.")
    return ModelSpec(provider=HUMAN)


def _open(spec: ModelSpec, opening: Opening) -> Opened:
    raise InputError("A person can't be called like a model; only seats can be human.")


PROVIDER = Provider(
    name=HUMAN,
    example=HUMAN,
    about="a person speaks for the seat",
    open=_open,
    read=_read,
    rank=35,
    sampling=EVERY_SETTING,  # no model is called, so none is refused
    price=lambda spec: FREE,
    restricted=lambda spec: False,
)
