"""The family of a model: models of one family err alike."""

from __future__ import annotations

import re

_FIRST_WORD = re.compile(r"[a-z]+")
_WITHOUT_MODELS = frozenset({"scripted", "sim", "replay"})  # providers whose specs name no model
_EMBEDDED = {"": "qwen", "small": "smollm"}
_ALIASES = {
    "o": "gpt",
    "chatgpt": "gpt",
    "codex": "gpt",
    "qwq": "qwen",
    "codellama": "llama",
    "mixtral": "mistral",
    "ministral": "mistral",
    "magistral": "mistral",
    "codestral": "mistral",
    "devstral": "mistral",
}


def family_of(spec: str) -> str:
    """The family of a model, independent of its provider: `openai:gpt-5` and `openrouter:openai/gpt-4o` are both
    `gpt`. Of a spec with fallbacks, the first model counts."""
    provider, _, rest = spec.partition("|")[0].strip().lower().partition(":")
    if provider in _WITHOUT_MODELS:
        return provider
    if provider == "local":
        rest = _EMBEDDED.get(rest, rest)
    name = re.split(r"@https?://", rest)[0].rpartition("/")[2]
    word = _FIRST_WORD.match(name)
    return _ALIASES.get(word[0], word[0]) if word else name or provider
