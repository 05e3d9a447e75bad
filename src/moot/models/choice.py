"""Which model plays a role when nobody says: what is set, then what is there."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from moot.errors import InputError
from moot.models.spec import ollama_url, parse

# Each inexpensive, and with a known price.
KEYED = (
    ("OPENAI_API_KEY", "openai:gpt-6-luna"),
    ("ANTHROPIC_API_KEY", "anthropic:claude-haiku-5-5"),
    ("DEEPSEEK_API_KEY", "deepseek:deepseek-flash"),
    ("OPENROUTER_API_KEY", "openrouter:openai/gpt-6-luna"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    spec: str
    reason: str  # for people: "… because {reason}"


def choose(
    role: str,
    explicit: str | None,
    environ: Mapping[str, str],
    find_ollama: Callable[[], str | None],
    configured: Choice | None = None,
) -> Choice:
    """`configured` is what config files say; the environment wins over them.

    `find_ollama` gives an installed model's name or None, and is only called when nothing else decides."""
    if explicit:
        return Choice(spec=explicit, reason="it was asked for")
    for variable in (f"MOOT_MODEL_{role.upper()}", "MOOT_MODEL"):
        if environ.get(variable):
            return Choice(spec=environ[variable], reason=f"{variable} is set")
    variable = f"DEEPSEEK_MODEL_{role.upper()}"
    if environ.get(variable):
        return Choice(spec=f"deepseek:{environ[variable].removeprefix('deepseek:')}", reason=f"{variable} is set")
    if configured is not None:
        return configured
    for variable, spec in KEYED:
        if environ.get(variable):
            return Choice(spec=spec, reason=f"{variable} is set")
    installed = find_ollama()
    if installed:
        return Choice(spec=f"ollama:{installed}", reason="Ollama is running and has it")
    return Choice(spec="local", reason="neither a key nor Ollama was found, and this one is built in")


def installed_in_ollama(environ: Mapping[str, str], timeout: float = 0.3) -> str | None:
    """The first model that a reachable Ollama has installed."""
    try:
        request = urllib.request.Request(f"{ollama_url(environ)}/api/tags")
        # A proxy would answer in Ollama's place.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout) as answer:
            models = json.load(answer)["models"]
        return str(models[0]["name"]) if models else None
    except (OSError, ValueError, LookupError, TypeError, InputError):
        return None


@lru_cache(maxsize=256)  # a list asks for each debate's every seat
def is_demonstration(spec: str) -> bool:
    """Whether the answers mean nothing, so that verdicts from them must be labelled."""
    return any(member.provider in ("local", "sim") for member in parse(spec))
