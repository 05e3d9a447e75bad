from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moot.reasoning.topology.topology import Agent, Waves, left_without, phase_leader


@dataclass(frozen=True, kw_only=True)
class Mesh:
    """Everyone at once, and everyone reads everyone."""

    agents: tuple[Agent, ...]

    def waves(self, phase: str) -> Waves:
        return (tuple(each.id for each in self.agents),)

    def reads(self, phase: str) -> Mapping[str, tuple[str, ...]]:
        ids = [each.id for each in self.agents]
        return {each: tuple(other for other in ids if other != each) for each in ids}

    def leader(self, phase: str) -> str:
        return phase_leader(self.agents, phase, otherwise=self.agents[0].id)

    def without(self, failed: str) -> Mesh:
        return Mesh(agents=left_without(self.agents, failed))
