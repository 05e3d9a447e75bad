"""What `moot models` and the API show: which providers can be used, and the embedded models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from moot.models.providers import ModelSpec, Provider
from moot.models.providers.local import NAME
from moot.models.spec import parse
from moot.models.weights import EMBEDDED, present

_EMBEDDED_ABOUT: Mapping[str, str] = {
    "": "what is used where nothing else is found; about 2 GB of memory",
    "small": "a tiny one, for tests and for machines with little memory or disk; about 0.5 GB of memory",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedModel:
    """An embedded model, and whether its weights are on this machine."""

    spec: str
    title: str
    about: str
    licence: str
    file_bytes: int
    file: Path
    here: bool  # the weights are there and verified

    @property
    def to_fetch(self) -> str:
        """What its first use downloads, in a sentence."""
        return f"{self.title} ({self.file_bytes / 1_000_000:,.0f} MB, {self.licence}) is fetched once, at its first use"


def usable(provider: Provider, environ: Mapping[str, str]) -> bool:
    """Whether a provider's key is set, or it needs none, and what it needs is installed."""
    return (
        key_of(provider) is None or provider.api is None or bool(provider.api.key(environ))
    ) and provider.installed()


def key_of(provider: Provider) -> str | None:
    """The environment variable of the key that a provider needs, or None."""
    api = provider.api
    return api.keys[0] if api is not None and api.key_required and api.keys else None


def embedded(folder: Path) -> list[EmbeddedModel]:
    """The embedded models, whose weights are or would be in `folder`."""
    return [
        EmbeddedModel(
            spec=str(ModelSpec(provider=NAME, model=name)),
            title=source.title,
            about=_EMBEDDED_ABOUT[name],
            licence=source.licence,
            file_bytes=source.file_bytes,
            file=folder / source.name,
            here=present(folder, source),
        )
        for name, source in EMBEDDED.items()
    ]


def missing_weights(spec: str, folder: Path) -> list[EmbeddedModel]:
    """The embedded models of a cascade whose weights are not in `folder` yet."""
    named = {str(member) for member in parse(spec)}
    return [each for each in embedded(folder) if each.spec in named and not each.here]
