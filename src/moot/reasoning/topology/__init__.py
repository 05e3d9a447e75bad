"""Who reads whom, and what runs at once: mesh, star, chain, tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from moot.reasoning.topology.chain import Chain
from moot.reasoning.topology.mesh import Mesh
from moot.reasoning.topology.star import Star
from moot.reasoning.topology.topology import COORDINATION, Agent, Topology, Waves, best, fresh
from moot.reasoning.topology.tree import Tree

__all__ = ["Agent", "Kind", "Topology", "Waves", "build", "fresh"]

Kind = Literal["mesh", "star", "chain", "tree"]


def build(kind: Kind, agents: Sequence[Agent]) -> Topology:
    """A topology with the best coordinator, else the first one, as its hub or root."""
    if not agents:
        raise ValueError("a topology needs at least one agent")
    if len({each.id for each in agents}) < len(agents):
        raise ValueError("two agents have the same id")
    match kind:
        case "mesh":
            return Mesh(agents=tuple(agents))
        case "star":
            return Star(agents=tuple(agents), hub=best(agents, COORDINATION).id)
        case "chain":
            return Chain(agents=tuple(agents))
        case "tree":
            return Tree.of(agents)
