"""What `moot models` and the API show: an example spec for each provider, and the embedded models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from moot.models.engine import engine_installed
from moot.models.spec import ModelSpec, key_variable, parse
from moot.models.weights import EMBEDDED, present

EXAMPLES = {
    "openai": "openai:gpt-6-luna",
    "anthropic": "anthropic:claude-haiku-5-5",
    "deepseek": "deepseek:deepseek-flash",
    "openrouter": "openrouter:openai/gpt-6-luna",
    "ollama": "ollama:llama3.2",
    "openai-compatible": "openai-compatible:my-model@http://127.0.0.1:8000/v1",
    "local": "local",
    "scripted": "scripted:answers.yaml",
    "sim": "sim:",
    "replay": "replay:3f2a91c0",
    "human": "human",
}
ABOUT = {
    "ollama": "a local server; no key",
    "openai-compatible": "any server that speaks OpenAI's protocol; MOOT_API_KEY if it needs a key",
    "local": "an embedded model: no key, no service; a demonstration, its verdicts mean nothing",
    "scripted": "answers from a YAML file, for tests and drafts",
    "sim": "seeded nonsense, for load tests",
    "replay": "the answers of a recorded debate",
    "human": "a person speaks for the seat",
}
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


def usable(provider: str, environ: Mapping[str, str]) -> bool:
    """Whether a provider's key is set, or it needs none, and what it needs is installed."""
    variable = key_variable(parse(EXAMPLES[provider])[0])
    return (variable is None or bool(environ.get(variable))) and (provider != "local" or engine_installed())


def embedded(folder: Path) -> list[EmbeddedModel]:
    """The embedded models, whose weights are or would be in `folder`."""
    return [
        EmbeddedModel(
            spec=str(ModelSpec(provider="local", model=name)),
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
