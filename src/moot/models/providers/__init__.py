"""Providers of models, built in and plugged in: one record each, by the name that specs begin with."""

from __future__ import annotations

from moot.models.providers.api import Api, Endpoint
from moot.models.providers.provider import ModelSpec, Opened, Opening, Provider, checked
from moot.plugins import Door

__all__ = ["DOOR", "Api", "Endpoint", "ModelSpec", "Opened", "Opening", "Provider", "find", "ranked"]

DOOR = Door("moot.providers", "model provider", checked)


def find(name: str) -> Provider:
    """The provider of that name. Raises InputError that says why it can't be used, or UnknownName."""
    return DOOR.get(name)


def ranked() -> list[Provider]:
    """All usable providers, in the order in which they are listed and chosen from."""
    return sorted(DOOR.installed().values(), key=lambda each: (each.rank, each.name))
