"""Topologies: who reads whom, and what runs at once. Values without state; the rules of a format ask them.

A phase is played in waves. A seat reads what those it may read have said last: in this phase, if they belong to an
earlier wave (`fresh`), else in the phase before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Waves = tuple[tuple[str, ...], ...]
COORDINATION = "coordination"  # the domain of hubs and roots


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A seat in a topology."""

    id: str
    leads: tuple[str, ...] = ()  # phases that it leads, where the topology has no fixed leader
    affinities: Mapping[str, float] = field(default_factory=dict[str, float])  # 0 to 1, by domain

    def affinity(self, domain: str) -> float:
        return self.affinities.get(domain, 0.0)

    @property
    def concern(self) -> str:
        """The domain that it suits best, other than coordination; empty if there is none."""
        own = {domain: degree for domain, degree in self.affinities.items() if domain != COORDINATION and degree > 0}
        return max(own, key=lambda domain: own[domain], default="")


class Topology(Protocol):
    @property
    def agents(self) -> tuple[Agent, ...]: ...

    def waves(self, phase: str) -> Waves:
        """Who is asked at the same time, wave by wave. Everyone is in exactly one wave."""
        ...

    def reads(self, phase: str) -> Mapping[str, tuple[str, ...]]:
        """Whose words each one gets."""
        ...

    def leader(self, phase: str) -> str: ...

    def without(self, failed: str) -> Topology:
        """The topology when one has failed, in which everyone else still reaches everyone else. Raises ValueError if
        no one would be left."""
        ...


def fresh(topology: Topology, phase: str) -> dict[str, tuple[str, ...]]:
    """Of those that each one reads, the ones in earlier waves: their words of this phase."""
    said: set[str] = set()
    found: dict[str, tuple[str, ...]] = {}
    reads = topology.reads(phase)
    for wave in topology.waves(phase):
        found |= {each: tuple(other for other in reads[each] if other in said) for each in wave}
        said.update(wave)
    return found


def left_without(agents: Sequence[Agent], failed: str) -> tuple[Agent, ...]:
    """All but the one who failed. Raises ValueError if it is unknown, or the last one."""
    left = tuple(each for each in agents if each.id != failed)
    if len(left) == len(agents):
        raise ValueError(f"there is no {failed!r} in this topology")
    if not left:
        raise ValueError(f"{failed!r} was the last one: no one is left")
    return left


def best(agents: Sequence[Agent], domain: str) -> Agent:
    """The one with the greatest affinity to a domain; of equals, the first."""
    return max(agents, key=lambda each: each.affinity(domain))


def phase_leader(agents: Sequence[Agent], phase: str, otherwise: str) -> str:
    """The first one that leads this phase."""
    return next((each.id for each in agents if phase in each.leads), otherwise)
