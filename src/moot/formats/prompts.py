"""Prompts are Markdown files in the folder `prompts` of a format's package."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from moot.core.errors import ScriptError
from moot.core.types import Prompt

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_GAP = re.compile(r"\n{3,}")
_SUFFIX = ".md"

_packages: set[str] = set()  # of all `Prompts`
_loaded: set[str] = set()


class Prompts:
    """`Prompts("duel")("think", said=...)` renders formats/duel/prompts/think.md. A plug-in names its package, too."""

    def __init__(self, format_name: str, package: str | None = None) -> None:
        self._format = format_name
        self._package = package or f"moot.formats.{format_name}"
        _packages.add(self._package)

    def __call__(self, name: str, /, **values: str) -> Prompt:
        text, slots = _read(self._package, name)
        if slots != values.keys():
            raise ScriptError(f"Prompt {self._format}/{name} has the slots {sorted(slots)}, given {sorted(values)}.")
        # One pass: inserted text is not searched for slots.
        filled = _SLOT.sub(lambda match: values[match[1]], text)
        if "\n\n\n" in filled:  # an empty slot leaves a gap
            filled = _GAP.sub("\n\n", filled)
        return Prompt(name=f"{self._format}/{name}", text=filled.strip())


def load_all() -> None:
    """Read every prompt of the formats that are imported, so that a debate under way needs no file. Raises
    ScriptError when one can't be read."""
    for package in _packages - _loaded:
        try:
            for file in (files(package) / "prompts").iterdir():
                if file.name.endswith(_SUFFIX):
                    _read(package, file.name.removesuffix(_SUFFIX))
        except OSError as error:
            raise ScriptError(
                f"The prompts of {package} can't be read ({error.strerror}), so no debate is started. If too many "
                "files are open, let this process open more; otherwise install the package again."
            ) from error
        _loaded.add(package)


@cache
def _read(package: str, name: str) -> tuple[str, frozenset[str]]:
    text = (files(package) / "prompts" / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    return text, frozenset(_SLOT.findall(text))
