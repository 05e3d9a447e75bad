"""Prompts are Markdown files in the folder `prompts` of a format's package."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from moot.core.errors import ScriptError
from moot.core.types import Prompt

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_GAP = re.compile(r"\n{3,}")


class Prompts:
    """`Prompts("duel")("think", said=...)` renders formats/duel/prompts/think.md. A plug-in names its package, too."""

    def __init__(self, format_name: str, package: str | None = None) -> None:
        self._format = format_name
        self._package = package or f"moot.formats.{format_name}"

    def __call__(self, name: str, /, **values: str) -> Prompt:
        text, slots = _read(self._package, name)
        if slots != values.keys():
            raise ScriptError(f"Prompt {self._format}/{name} has the slots {sorted(slots)}, given {sorted(values)}.")
        # One pass: inserted text is not searched for slots.
        filled = _SLOT.sub(lambda match: values[match[1]], text)
        if "\n\n\n" in filled:  # an empty slot leaves a gap
            filled = _GAP.sub("\n\n", filled)
        return Prompt(name=f"{self._format}/{name}", text=filled.strip())


@cache
def _read(package: str, name: str) -> tuple[str, frozenset[str]]:
    text = (files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    return text, frozenset(_SLOT.findall(text))
