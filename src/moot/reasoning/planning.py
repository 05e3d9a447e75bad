"""Who does what: plans made by one leader or by everyone, checked and settled by code.

CPDE (centralized planning, decentralized execution): a leader divides the work and everyone executes their part. DPDE
(decentralized planning): everyone says what they would do, overlaps are settled, and everyone executes their part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from moot.reasoning.topology import Agent, Waves

Style = Literal["cpde", "dpde"]
AskedStyle = Literal["adaptive", "cpde", "dpde"]

AMBIGUOUS = 0.6  # above it, no single plan is trusted
CROWD = 8  # above it, no single leader knows what everyone can do


class PlanError(ValueError):
    """A plan that can't be executed: the message says what is wrong with it."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A part of the work, and who does it."""

    id: str
    owner: str = ""  # who executes it; empty: not assigned yet
    domain: str = ""  # what it calls for, among the affinities of agents
    interface: str = ""  # what others may rely on
    approach: str = ""  # how, where several do the same
    needs: tuple[str, ...] = ()  # tasks that must be done before


@dataclass(frozen=True, kw_only=True)
class WorkPlan:
    style: Style
    tasks: tuple[Assignment, ...]
    dropped: tuple[str, ...] = ()  # what negotiation has settled, each a sentence

    def of(self, agent: str) -> tuple[Assignment, ...]:
        return tuple(task for task in self.tasks if task.owner == agent)

    @property
    def waves(self) -> Waves:
        """Ids of tasks that can be executed at once, wave by wave."""
        done: set[str] = set()
        left = list(self.tasks)
        waves: list[tuple[str, ...]] = []
        while left:
            ready = tuple(task.id for task in left if done.issuperset(task.needs))
            if not ready:
                raise PlanError(f"{left[0].id!r} would have to wait for itself, or for what is no task")
            waves.append(ready)
            done.update(ready)
            left = [task for task in left if task.id not in done]
        return tuple(waves)


def choose_style(asked: AskedStyle, *, seats: int, ambiguity: float) -> Style:
    """The style asked for; with `adaptive`, by how ambiguous the work is (0 to 1) and how many take part."""
    if asked != "adaptive":
        return asked
    return "dpde" if ambiguity > AMBIGUOUS or seats > CROWD else "cpde"


def centralized(tasks: Sequence[Assignment], agents: Sequence[Agent]) -> WorkPlan:
    """A leader's plan, checked; tasks without an owner go to the one with the greatest affinity, of equals to the one
    with the fewest tasks, then by id. Raises PlanError."""
    _check(tasks, agents)
    busy = {each.id: sum(task.owner == each.id for task in tasks) for each in agents}
    assigned: list[Assignment] = []
    for task in tasks:
        owner = task.owner or min(agents, key=lambda each: (-each.affinity(task.domain), busy[each.id], each.id)).id
        busy[owner] += not task.owner
        assigned.append(replace(task, owner=owner))
    return WorkPlan(style="cpde", tasks=tuple(assigned))


def different_approaches(task: Assignment, approaches: Sequence[str], agents: Sequence[Agent]) -> WorkPlan:
    """Work that can't be divided, such as a single function: everyone does it, each in another way. With fewer
    approaches than agents, they are taken in turn."""
    if not approaches:
        raise PlanError("there is no approach to assign")
    tasks = tuple(
        replace(task, id=f"{task.id}/{each.id}", owner=each.id, approach=approaches[n % len(approaches)], needs=())
        for n, each in enumerate(agents)
    )
    return WorkPlan(style="cpde", tasks=tasks)


def negotiated(proposals: Mapping[str, Sequence[Assignment]], agents: Sequence[Agent]) -> WorkPlan:
    """The plan that comes of what everyone proposes to do. Where several claim a task, the one with the greatest
    affinity to its domain gets it, of equals the one with the lowest id. Its interface is kept, and it needs what any
    of them says it does. Needs that close a circle are given up, the last first. Raises PlanError."""
    by_id = {each.id: each for each in agents}
    unknown = [each for each in proposals if each not in by_id]
    if unknown:
        raise PlanError(f"there is no agent {unknown[0]!r} to propose anything")
    claims: dict[str, list[Assignment]] = {}
    for agent in sorted(proposals):
        for task in proposals[agent]:
            claims.setdefault(task.id, []).append(replace(task, owner=agent))
    settled: list[Assignment] = []
    dropped: list[str] = []
    for name, claimed in claims.items():
        winner = min(claimed, key=lambda task: (-by_id[task.owner].affinity(task.domain), task.owner))
        needs = tuple(dict.fromkeys(each for task in claimed for each in task.needs if each in claims and each != name))
        settled.append(replace(winner, needs=needs))
        dropped += [f"{task.owner} leaves {name} to {winner.owner}." for task in claimed if task.owner != winner.owner]
    plan, cut = _without_circles(settled)
    _check(plan, agents)
    return WorkPlan(style="dpde", tasks=tuple(plan), dropped=(*dropped, *cut))


def _without_circles(tasks: Sequence[Assignment]) -> tuple[list[Assignment], list[str]]:
    kept: dict[str, tuple[str, ...]] = {task.id: () for task in tasks}
    cut: list[str] = []
    for task in tasks:
        for needed in task.needs:
            if _reaches(needed, task.id, lambda each: kept[each]):
                cut.append(f"{task.id} does not wait for {needed}, which waits for it.")
            else:
                kept[task.id] = (*kept[task.id], needed)
    return [replace(task, needs=kept[task.id]) for task in tasks], cut


def _check(tasks: Sequence[Assignment], agents: Sequence[Agent]) -> None:
    ids, known = [task.id for task in tasks], {each.id for each in agents}
    if not tasks:
        raise PlanError("the plan has no tasks")
    if not known:
        raise PlanError("there is no one to execute the plan")
    twice = [each for each in ids if ids.count(each) > 1]
    if twice:
        raise PlanError(f"two tasks are called {twice[0]!r}")
    needs = {task.id: task.needs for task in tasks}
    for task in tasks:
        if task.owner and task.owner not in known:
            raise PlanError(f"{task.id!r} belongs to {task.owner!r}, who does not take part")
        missing = [each for each in task.needs if each not in needs]
        if missing:
            raise PlanError(f"{task.id!r} needs {missing[0]!r}, which is no task")
        if any(_reaches(each, task.id, lambda one: needs[one]) for each in task.needs):
            raise PlanError(f"{task.id!r} would have to wait for itself")


def _reaches(start: str, goal: str, needs: Callable[[str], Sequence[str]]) -> bool:
    """Whether one task needs another, at any distance; a task reaches itself."""
    seen: set[str] = set()
    left = [start]
    while left:
        each = left.pop()
        if each == goal:
            return True
        if each not in seen:
            seen.add(each)
            left += needs(each)
    return False
