"""Who plans, and what becomes of several plans.

CPDE (centralized planning, decentralized execution): a leader plans, and everyone executes. DPDE (decentralized
planning): everyone says what they would do, overlaps are settled, and everyone executes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from moot.reasoning.topology import Agent

Style = Literal["cpde", "dpde"]
AskedStyle = Literal["adaptive", "cpde", "dpde"]

AMBIGUOUS = 0.6  # above it, no single plan is trusted
CROWD = 8  # above it, no single leader knows what everyone can do


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A part of the work, and who does it."""

    id: str
    owner: str = ""  # who executes it; empty: not assigned yet
    domain: str = ""  # what it calls for, among the affinities of agents
    interface: str = ""  # what others may rely on
    approach: str = ""  # how, where several do the same


def choose_style(asked: AskedStyle, *, seats: int, ambiguity: float) -> Style:
    """The style asked for; with `adaptive`, by how ambiguous the work is (0 to 1) and how many take part."""
    if asked != "adaptive":
        return asked
    return "dpde" if ambiguity > AMBIGUOUS or seats > CROWD else "cpde"


def different_approaches(
    task: Assignment, approaches: Sequence[str], agents: Sequence[Agent]
) -> tuple[Assignment, ...]:
    """Work that can't be divided, such as a single function: everyone does it, each in another way. With fewer
    approaches than agents, they are taken in turn."""
    return tuple(
        replace(task, id=f"{task.id}/{each.id}", owner=each.id, approach=approaches[n % len(approaches)])
        for n, each in enumerate(agents)
    )


def negotiated(proposals: Mapping[str, Sequence[Assignment]], agents: Sequence[Agent]) -> tuple[Assignment, ...]:
    """The plan that comes of what everyone proposes to do. Where several claim a task, the one with the greatest
    affinity to its domain gets it, of equals the one with the lowest id."""
    by_id = {each.id: each for each in agents}
    claims: dict[str, list[Assignment]] = {}
    for agent in sorted(proposals):
        for task in proposals[agent]:
            claims.setdefault(task.id, []).append(replace(task, owner=agent))
    return tuple(
        min(claimed, key=lambda task: (-by_id[task.owner].affinity(task.domain), task.owner))
        for claimed in claims.values()
    )
