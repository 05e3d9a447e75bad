"""Perspectives: viewpoints that a seat can argue for. Catalogs of them are YAML files, built in or of plug-ins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from moot.core.settings import Name
from moot.core.types import Frozen
from moot.formats.shared.catalogs import catalog_of
from moot.plugins import OWN, Door

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
    return catalog_of(package, Catalog, lambda catalog: catalog.perspectives, "perspectives")


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
