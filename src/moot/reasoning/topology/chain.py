from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moot.reasoning.topology.topology import Agent, Waves, left_without


@dataclass(frozen=True, kw_only=True)
class Chain:
    """One after the other, each on what the one before has said; the first goes on from the last of the phase
    before."""

    agents: tuple[Agent, ...]

    def waves(self, phase: str) -> Waves:
        return tuple((each.id,) for each in self.agents)

    def reads(self, phase: str) -> Mapping[str, tuple[str, ...]]:
        ids = [each.id for each in self.agents]
        if len(ids) == 1:
            return {ids[0]: ()}
        return {each: (ids[n - 1],) for n, each in enumerate(ids)}

    def leader(self, phase: str) -> str:
        """The last: what it says has gone through everyone."""
        return self.agents[-1].id

    def without(self, failed: str) -> Chain:
        return Chain(agents=left_without(self.agents, failed))
