"""The tools that are installed, for `Use` steps. A tool is imported when a step first uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, MutableMapping
from typing import cast

from moot.core.errors import InputError, ToolError, UnknownName
from moot.core.types import Json, Tool
from moot.plugins import Door


def _checked(name: str, loaded: object) -> Tool:
    if not callable(loaded) or isinstance(loaded, type):
        raise InputError("It is not an async function that takes a JSON object and texts, and returns a JSON object.")
    return cast(Tool, loaded)


MOST_SECONDS = 600.0  # for one use of a tool of a plug-in; those of moot have limits of their own
DOOR = Door("moot.tools", "tool", _checked, built_in=False)


class Toolbox(MutableMapping[str, Tool]):
    """Tools by name: those that were set, and those of plug-ins."""

    def __init__(self, own: Mapping[str, Tool] | None = None) -> None:
        self._own: dict[str, Tool] = dict(own or {})

    def __getitem__(self, name: str) -> Tool:
        """Raises KeyError, or ToolError if the tool is installed but can't be used."""
        if name in self._own:
            return self._own[name]
        try:
            return _guarded(name, DOOR.get(name), DOOR.package(name))
        except UnknownName:
            raise KeyError(name) from None
        except InputError as error:
            raise ToolError(str(error)) from None

    def __setitem__(self, name: str, tool: Tool) -> None:
        self._own[name] = tool

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._own, *DOOR.names()]))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _guarded(name: str, tool: Tool, package: str) -> Tool:
    """The tool, with whatever it raises turned into ToolError, and given up when it takes too long: its debate goes on
    or fails by its own rules."""

    async def guarded(arguments: Json, texts: Mapping[str, str], /) -> Json:
        limit = asyncio.timeout(MOST_SECONDS)
        try:
            async with limit:
                return await tool(arguments, texts)
        except ToolError:
            raise
        except Exception as error:
            if limit.expired():
                said = f"took longer than {MOST_SECONDS:g} s and was given up"
                raise ToolError(f"The tool {name!r} of {package or 'moot'} {said}.") from None
            said = f"{type(error).__name__}: {error}"[:400].rstrip(".")
            raise ToolError(f"The tool {name!r} of {package or 'moot'} failed: {said}.") from error

    return guarded
