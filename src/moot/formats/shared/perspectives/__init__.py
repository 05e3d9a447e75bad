"""Perspectives: viewpoints that a seat can argue for. Catalogs of them are YAML files, built in or of plug-ins."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Annotated

from pydantic import Field, StringConstraints

from moot.core.errors import InputError
from moot.core.settings import Name, read
from moot.core.types import Frozen
from moot.plugins import OWN, Door
from moot.yamlfile import parse_mapping

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^\n]+$")]


class Perspective(Frozen):
    """A viewpoint that a panelist argues for."""

    name: Name
    priorities: tuple[Line, ...] = Field(min_length=1)
    trade_offs: Line
    keywords: tuple[str, ...] = ()
    opposes: tuple[str, ...] = ()


class Catalog(Frozen):
    perspectives: tuple[Perspective, ...] = Field(min_length=1)


def _catalog(name: str, package: object) -> tuple[Perspective, ...]:
    """The perspectives of all YAML files in a package."""
    if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
        raise InputError("It is not a package that holds YAML files.")
    found: list[Perspective] = []
    for file in sorted(files(package).iterdir(), key=lambda each: each.name):
        if file.name.endswith(".yaml"):
            given = parse_mapping(file.read_bytes(), Path(file.name), "catalog", "`perspectives:`")
            try:
                found += read(Catalog, given, "field").perspectives
            except InputError as error:
                raise InputError(f"In {file.name}: {error}") from None
    if not found:
        raise InputError("The package holds no YAML file with perspectives.")
    return tuple(found)


DOOR = Door(
    "moot.perspectives",
    "catalog of perspectives",
    _catalog,
    items=lambda catalog: [perspective.name for perspective in catalog],
    item="perspective",
)


def built_in() -> tuple[Perspective, ...]:
    return DOOR.get(OWN)


def plugged_in() -> Sequence[tuple[Perspective, str]]:
    """The perspectives of plug-ins, each with the package it is from."""
    return [
        (perspective, DOOR.package(name))
        for name, catalog in DOOR.installed().items()
        if DOOR.package(name)
        for perspective in catalog
    ]
