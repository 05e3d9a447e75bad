"""Presets: formats with settings of their own, under names of the operator's."""

from __future__ import annotations

from dataclasses import replace

from moot import formats
from moot.app import App
from moot.core.ceilings import lowered
from moot.core.errors import UnknownName
from moot.request import Request, merged


def named(app: App) -> dict[str, Request]:
    """What `format` of a request may be: every format and every preset, by name."""
    own = {name: Request(format=name) for name in (formats.AUTO, *formats.installed())}
    presets = {
        name: Request(format=preset.format, settings=lowered(app.ceilings, preset.settings))
        for name, preset in app.settings.presets.items()
    }
    return {**own, **presets}


def expanded(app: App, request: Request) -> Request:
    """The request with the format and the settings of the preset that it names, if it names one. Its own settings win.
    Raises InputError if there is neither a usable format nor a preset of that name."""
    if request.format is None or request.format in formats.installed():
        return request
    known = named(app)
    if request.format in {problem.name for problem in formats.broken()}:
        formats.get(request.format)  # raises InputError
    if request.format not in known:
        raise UnknownName("format", request.format, known)
    preset = known[request.format]
    return replace(request, format=preset.format, settings=merged(preset.settings, request.settings))
