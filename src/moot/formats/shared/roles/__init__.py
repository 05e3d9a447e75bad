"""Roles that seats of any format can take on, as hats. Catalogs of them are YAML files, built in or of plug-ins."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from moot.core.errors import UnknownName
from moot.core.types import Frozen, Hat, SeatSpec
from moot.formats.shared.catalogs import catalog_of
from moot.plugins import Door
from moot.reasoning.topology import Agent


class Catalog(Frozen):
    roles: tuple[Hat, ...] = Field(min_length=1)


def _catalog(name: str, package: object) -> tuple[Hat, ...]:
    return catalog_of(package, Catalog, lambda catalog: catalog.roles, "roles")


DOOR = Door(
    "moot.roles",
    "catalog of roles",
    _catalog,
    items=lambda catalog: [role.name for role in catalog],
    item="role",
)


def installed() -> Sequence[tuple[Hat, str]]:
    """All roles, each with the package it is from; empty for moot's own, which come first."""
    catalogs = sorted(DOOR.installed().items(), key=lambda each: (DOOR.package(each[0]), each[0]))
    return [(role, DOOR.package(name)) for name, catalog in catalogs for role in catalog]


def worn(names: Sequence[str], *first: Sequence[Hat]) -> tuple[Hat, ...]:
    """The hats of these names: from `first`, in this order, else from the catalogs. Raises UnknownName."""
    if not names:
        return ()
    known: dict[str, Hat] = {}
    for hats in (*first, [role for role, _ in installed()]):
        for hat in hats:
            known.setdefault(hat.name, hat)
    for name in names:
        if name not in known:
            raise UnknownName("role", name, sorted(known))
    return tuple(known[name] for name in dict.fromkeys(names))


def agent(seat: SeatSpec) -> Agent:
    """The seat in a topology: it suits what one of its hats suits, and leads what one of them leads."""
    affinities: dict[str, float] = {}
    for hat in seat.hats:
        affinities |= {domain: max(degree, affinities.get(domain, 0.0)) for domain, degree in hat.affinities.items()}
    leads = dict.fromkeys(phase for hat in seat.hats for phase in hat.leads)
    return Agent(id=seat.id, leads=tuple(leads), affinities=affinities)
