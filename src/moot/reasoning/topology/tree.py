from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from moot.reasoning.topology.topology import COORDINATION, Agent, Waves, best, left_without, phase_leader

BRANCHES = 2  # children of a node, where concerns don't decide


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Deepest level first. A parent reads its children, and they read it; siblings reach each other through it."""

    agents: tuple[Agent, ...]
    parents: Mapping[str, str]  # of everyone but the root

    def __post_init__(self) -> None:
        ids = {each.id for each in self.agents}
        roots = ids - self.parents.keys()
        if len(roots) != 1 or not self.parents.keys() <= ids or not set(self.parents.values()) <= ids:
            raise ValueError("a tree has one root, and everyone else a parent in it")
        for each in ids:
            if self._above(each)[-1] not in roots:
                raise ValueError(f"{each!r} is above itself in this tree")

    @classmethod
    def of(cls, agents: Sequence[Agent]) -> Tree:
        """The best coordinator is the root. Below it stand the leads, one for each concern, and below each lead those
        with the same concern. Agents without a concern fill the tree from above, two below each node."""
        root = best(agents, COORDINATION)
        others = [each for each in agents if each is not root]
        parents: dict[str, str] = {}
        for concern in dict.fromkeys(each.concern for each in others if each.concern):
            team = [each for each in others if each.concern == concern]
            lead = best(team, concern)
            parents[lead.id] = root.id
            parents |= {each.id: lead.id for each in team if each is not lead}
        for each in others:
            if not each.concern:
                parents[each.id] = _first_with_room(root.id, parents)
        return cls(agents=tuple(agents), parents=parents)

    @property
    def root(self) -> str:
        return next(each.id for each in self.agents if each.id not in self.parents)

    def children(self, node: str) -> tuple[str, ...]:
        return tuple(each.id for each in self.agents if self.parents.get(each.id) == node)

    def level(self, node: str) -> int:
        """0 is the root."""
        return len(self._above(node)) - 1

    def subtree(self, node: str) -> tuple[str, ...]:
        """The node and everyone below it."""
        return (node, *(each for child in self.children(node) for each in self.subtree(child)))

    def waves(self, phase: str) -> Waves:
        levels = {each.id: self.level(each.id) for each in self.agents}
        return tuple(
            tuple(each for each, at in levels.items() if at == level) for level in range(max(levels.values()), -1, -1)
        )

    def reads(self, phase: str) -> Mapping[str, tuple[str, ...]]:
        return {
            each.id: (*((self.parents[each.id],) if each.id in self.parents else ()), *self.children(each.id))
            for each in self.agents
        }

    def leader(self, phase: str) -> str:
        """The highest one that leads this phase, else the root."""
        by_level = sorted(self.agents, key=lambda each: self.level(each.id))
        return phase_leader(by_level, phase, otherwise=self.root)

    def without(self, failed: str) -> Tree:
        """The children of one who fails go to its siblings, each to the one with the smallest subtree; without
        siblings, to its parent. A root is followed by the child with the greatest affinity to coordination."""
        left = left_without(self.agents, failed)
        orphans = self.children(failed)
        parents = {child: parent for child, parent in self.parents.items() if child != failed}
        if failed == self.root:
            heir = best([each for each in left if each.id in orphans], COORDINATION).id
            parents |= dict.fromkeys(orphans, heir)
            del parents[heir]
            return Tree(agents=left, parents=parents)
        parent = self.parents[failed]
        siblings = [each for each in self.children(parent) if each != failed]
        sizes = {each: len(self.subtree(each)) for each in siblings}
        for child in orphans:
            adopted_by = min(siblings, key=lambda each: sizes[each]) if siblings else parent
            parents[child] = adopted_by
            if siblings:
                sizes[adopted_by] += len(self.subtree(child))
        return Tree(agents=left, parents=parents)

    def _above(self, node: str) -> list[str]:
        """The node, its parent, and so on; ends at the root, or where the way closes."""
        way = [node]
        while way[-1] in self.parents and len(way) <= len(self.agents):
            way.append(self.parents[way[-1]])
        return way


def _first_with_room(root: str, parents: Mapping[str, str]) -> str:
    for node in _downwards(root, parents):
        if sum(parent == node for parent in parents.values()) < BRANCHES:
            return node
    raise AssertionError("a leaf has room")


def _downwards(root: str, parents: Mapping[str, str]) -> Iterator[str]:
    level = [root]
    while level:
        yield from level
        level = [child for node in level for child, parent in parents.items() if parent == node]
