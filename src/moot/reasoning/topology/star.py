from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moot.reasoning.topology.topology import COORDINATION, Agent, Waves, best, left_without


@dataclass(frozen=True, kw_only=True)
class Star:
    """Spokes at once, then the hub, which reads them all; a spoke reads only the hub."""

    agents: tuple[Agent, ...]
    hub: str

    @property
    def spokes(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.agents if each.id != self.hub)

    def waves(self, phase: str) -> Waves:
        return (self.spokes, (self.hub,)) if self.spokes else ((self.hub,),)

    def reads(self, phase: str) -> Mapping[str, tuple[str, ...]]:
        return {each.id: self.spokes if each.id == self.hub else (self.hub,) for each in self.agents}

    def leader(self, phase: str) -> str:
        return self.hub

    def without(self, failed: str) -> Star:
        """A hub is followed by the spoke with the greatest affinity to coordination."""
        left = left_without(self.agents, failed)
        return Star(agents=left, hub=best(left, COORDINATION).id if failed == self.hub else self.hub)
