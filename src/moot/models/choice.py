"""Chooses the default model: from the environment, the config files, a provider key, Ollama, or the embedded one."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from moot.core.errors import InputError
from moot.models.engine import engine_installed
from moot.models.machine import available_memory, free_disk
from moot.models.sim import read_options
from moot.models.spec import ModelSpec, ollama_url, parse
from moot.models.weights import QWEN, present, room_needed

# By the environment variable of the provider's key; inexpensive models with a known price.
MODEL_BY_KEY = (
    ("OPENAI_API_KEY", "openai:gpt-6-luna"),
    ("ANTHROPIC_API_KEY", "anthropic:claude-haiku-5-5"),
    ("DEEPSEEK_API_KEY", "deepseek:deepseek-flash"),
    ("OPENROUTER_API_KEY", "openrouter:openai/gpt-6-luna"),
)


_MAX_TAGS_BYTES = 4_000_000  # of Ollama's list of models; a longer one is no such list
_ENOUGH_MEMORY = 4_000_000_000
_SMALL_FILE = 4_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    spec: str
    reason: str  # completes "… because {reason}"


def choose(
    tier: str,
    explicit: str | None,
    environ: Mapping[str, str],
    find_ollama: Callable[[], str | None],
    configured: Choice | None = None,
    find_shortage: Callable[[], str | None] = lambda: None,
) -> Choice:
    """Return the model for a tier ("debater", "judge") and the reason for it.

    `configured` is the choice of the config files; environment variables come before it. `find_ollama` returns the
    name of an installed model or None, and is called only if nothing else decides. `find_shortage` says what this
    machine lacks for `local`, or None.
    """
    if explicit:
        return Choice(spec=explicit, reason="it was asked for")
    for variable in (f"MOOT_MODEL_{tier.upper()}", "MOOT_MODEL"):
        if environ.get(variable):
            return Choice(spec=environ[variable], reason=f"{variable} is set")
    variable = f"DEEPSEEK_MODEL_{tier.upper()}"
    if environ.get(variable):
        return Choice(spec=f"deepseek:{environ[variable].removeprefix('deepseek:')}", reason=f"{variable} is set")
    if configured is not None:
        return configured
    for variable, spec in MODEL_BY_KEY:
        if environ.get(variable):
            return Choice(spec=spec, reason=f"{variable} is set")
    installed = find_ollama()
    if installed:
        return Choice(spec=f"ollama:{installed}", reason="Ollama is running and has it")
    built_in = "neither a key nor Ollama was found, and this one is built in"
    if not engine_installed():
        return Choice(spec="local", reason="neither a key nor Ollama was found; its engine is not installed yet")
    shortage = find_shortage()
    if shortage:
        return Choice(spec="local:small", reason=f"{built_in}; {shortage}")
    return Choice(spec="local", reason=built_in)


def shortage(folder: Path) -> str | None:
    """Return what is short on this machine for `local`, whose weights are or would be in `folder`, or None."""
    memory = available_memory()
    if memory is not None and memory < _ENOUGH_MEMORY:
        return f"{memory / 1e9:.1f} GB of memory are free, and the larger one needs {_ENOUGH_MEMORY / 1e9:.0f}"
    if present(folder, QWEN):
        return None
    room, needed = free_disk(folder), room_needed(folder, QWEN)
    if room is not None and room < needed:
        return f"{room / 1e9:.1f} GB of disk are free, and the larger one needs {needed / 1e9:.1f}"
    return None


def installed_in_ollama(environ: Mapping[str, str], timeout: float = 0.3) -> str | None:
    """Return the first model installed in a reachable Ollama, or None."""
    try:
        request = urllib.request.Request(f"{ollama_url(environ)}/api/tags")
        # Without a proxy: it would answer in place of Ollama.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout) as answer:
            models = json.loads(answer.read(_MAX_TAGS_BYTES))["models"]
        return str(models[0]["name"]) if models else None
    except (OSError, ValueError, LookupError, TypeError, InputError):
        return None


@lru_cache(maxsize=256)  # lists of debates ask for every seat
def is_demonstration(spec: str) -> bool:
    """Whether a model's answers mean nothing, so that verdicts based on them must be labelled."""
    return any(member.provider in ("local", "sim") for member in parse(spec))


def is_small(spec: str) -> bool:
    """Whether a model is small, so that questions may be worded more simply for it. Of a cascade, the first counts."""
    member = parse(spec)[0]
    if member.provider == "sim":
        return read_options(member).small
    return member.provider == "local" and _has_small_file(member)


def _has_small_file(member: ModelSpec) -> bool:
    if member.weights_file is None:
        return True
    try:
        return os.path.getsize(os.path.expanduser(member.weights_file)) < _SMALL_FILE
    except OSError:
        return False
