from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from moot.core.errors import InputError, UnknownModel
from moot.core.settings import Settings
from moot.folders import weights_dir
from moot.models.engine import MISSING, engine_installed
from moot.models.machine import available_memory, free_disk
from moot.models.providers.api import Api
from moot.models.providers.provider import EVERY_SETTING, FREE, Choice, ModelSpec, Opened, Opening, Provider
from moot.models.weights import QWEN, own_file, present, room_needed

NAME = "local"
SMALL = "small"  # local:small
_ENOUGH_MEMORY = 4_000_000_000
_SMALL_FILE = 4_000_000_000


def weights_file(spec: ModelSpec) -> str | None:
    """The user's own file that an embedded model is read from, or None."""
    return None if spec.model in ("", SMALL) else spec.model


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


def _read(rest: str, text: str) -> ModelSpec:
    if rest not in ("", SMALL) and not rest.lower().endswith(".gguf"):
        raise UnknownModel(
            f"There is no embedded model {rest!r}. Write local, local:{SMALL}, or local: and a GGUF file, for "
            "example local:~/models/mine.gguf."
        )
    return ModelSpec(provider=NAME, model=rest)


def _check(spec: ModelSpec, opening: Opening) -> None:
    if not engine_installed():
        raise InputError(MISSING)
    file = weights_file(spec)
    if file is not None:
        own_file(file)


def _open(spec: ModelSpec, opening: Opening) -> Opened:
    from moot.models.local import SLOTS, local_model

    model = local_model(
        spec.model,
        weights_dir(opening.settings),
        timeout=opening.settings.call_timeout_seconds,
        progress=opening.progress,
        opened=opening.keep,
        environ=opening.environ,
    )
    return Opened(model=model, server=str(spec), slots=SLOTS, timed=False)


def _discover(settings: Settings, environ: Mapping[str, str]) -> Choice:
    if not engine_installed():
        return Choice(spec=NAME, reason="neither a key nor Ollama was found; its engine is not installed yet")
    built_in = "neither a key nor Ollama was found, and this one is built in"
    short = shortage(weights_dir(settings))
    return (
        Choice(spec=f"{NAME}:{SMALL}", reason=f"{built_in}; {short}") if short else Choice(spec=NAME, reason=built_in)
    )


def _is_small(spec: ModelSpec) -> bool:
    file = weights_file(spec)
    if file is None:
        return True
    try:
        return os.path.getsize(os.path.expanduser(file)) < _SMALL_FILE
    except OSError:
        return False


PROVIDER = Provider(
    name=NAME,
    example=NAME,
    about="an embedded model: no key, no service; a demonstration, its verdicts mean nothing",
    api=Api(),  # of its own server, in this process
    open=_open,
    read=_read,
    check=_check,
    installed=engine_installed,
    discover=_discover,
    rank=30,
    sampling=EVERY_SETTING,
    price=lambda spec: FREE,
    demonstration=True,
    small=_is_small,
    restricted=lambda spec: weights_file(spec) is not None,
)
