"""Short names for settings that most debates are given, as flags and as arguments of Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from moot import formats
from moot.app import App
from moot.client.presets import expanded
from moot.core.amounts import listed
from moot.core.errors import InputError
from moot.core.types import Json
from moot.formats import Format
from moot.request import Request

# The short name and the setting. Beside them, every format has one for its length: `turns` where it counts turns.
SHORT: Mapping[str, str] = {
    "rounds": "max_rounds",
    "turns": "turns",
    "stance": "a_stance",
    "sides": "sides",
    "perspectives": "perspectives",
}


def settings_of(
    app: App,
    format: str | None,
    given: Mapping[str, Any],
    *,
    model: str | None = None,
    judge_model: str | None = None,
    checkpoints: bool = True,
    spelled: Callable[[str], str] = repr,
) -> Json:
    """Settings by their short or full names; a value of None was not given. `model` is for all seats, unless
    `judge_model` is given. Without `checkpoints`, no person is asked between rounds. `spelled`: how the way in writes a
    short name. Raises InputError if the format has no setting for a short name."""
    chosen = _chosen(app, format)
    names = SHORT if chosen is None else {**SHORT, **({f"{chosen.unit}s": chosen.length} if chosen.length else {})}
    settings: Json = {}
    for short, value in given.items():
        if value is None:
            continue
        name = names.get(short, short)
        if chosen is not None and short in names and name not in chosen.settings.model_fields:
            raise InputError(_refusal(short, names, chosen, spelled))
        settings[name] = value
    if not checkpoints:
        settings |= _unattended(chosen)
    for short, spec in (("model", model), ("judge_model", judge_model)):
        if spec is not None and not spec.strip():  # an unset variable of a shell; the default might cost money
            raise InputError(f"{spelled(short)} is empty. Name a model, or leave it out.")
    if model is not None:
        settings |= {"model_debater": model, "model_judge": model}
    if judge_model is not None:
        settings["model_judge"] = judge_model
    return settings


def _chosen(app: App, format: str | None) -> Format | None:
    """The format that a request names, itself or by a preset; None if the question decides."""
    name = expanded(app, Request(format=format)).format
    return None if name in (None, formats.AUTO) else formats.get(name or "")


def _unattended(chosen: Format | None) -> Json:
    able = [each for each in ([chosen] if chosen else formats.installed().values()) if each.unattended]
    able.sort(key=lambda each: "checkpoints" not in each.unattended)  # the flag is named for these
    if not able:
        raise InputError(f"The format {chosen.name if chosen else formats.AUTO!r} has no checkpoints to leave out.")
    return dict(able[0].unattended)


def _refusal(short: str, names: Mapping[str, str], chosen: Format, spelled: Callable[[str], str]) -> str:
    has = [spelled(other) for other, name in names.items() if name in chosen.settings.model_fields]
    return f"The format {chosen.name!r} has no {spelled(short)}; it has {listed(has) if has else 'none like it'}."
