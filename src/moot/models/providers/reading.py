"""Reads the specs of remote models: a model's name, and perhaps the address of a server."""

from __future__ import annotations

from urllib.parse import urlsplit

from moot.core.errors import UnknownModel
from moot.models.providers.provider import ModelSpec

COMPATIBLE_KEY = "MOOT_API_KEY"  # the key for an address that a spec names
LOOKS = (
    "A model is written provider:model, for example openai:gpt-6-luna, ollama:llama3.2, local, "
    "openai:my-model@http://127.0.0.1:8000/v1 (any OpenAI-compatible server), "
    "or several with fallbacks: openai:gpt-6-luna | local."
)


def read_remote(provider: str, rest: str, text: str) -> ModelSpec:
    """The spec of `rest`, which follows the colon in `text`. Raises UnknownModel."""
    if not rest:
        raise UnknownModel(f"{text!r} names no model. {LOOKS}")
    model, url = rest, None
    # Only `@http` starts an address: some model names contain an @.
    start = min((at for at in (rest.find("@http://"), rest.find("@https://")) if at >= 0), default=-1)
    if start >= 0:
        model, url = rest[:start].strip(), rest[start + 1 :].strip().rstrip("/")
        _check_url(url)
    if not model or any(c.isspace() or c in "?#" for c in model):
        raise UnknownModel(f"{text!r} has no proper model name. {LOOKS}")
    return ModelSpec(provider=provider, model=model, url=url)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid, parts = False, None
    if not valid or parts is None or any(c.isspace() for c in url):
        raise UnknownModel(f"{url!r} is not an address. Write for example openai:my-model@http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise UnknownModel(
            f"The address of a model server is recorded with the debate, so it may hold no password or query. "
            f"Put the key into {COMPATIBLE_KEY}."
        )
