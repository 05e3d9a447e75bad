"""The plan of an evaluation: blocks of cells, each a debate whose id follows from the plan. Pure."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field

from moot.core.types import SEEDS, Json, Usage, record
from moot.core.values import Frozen, sha256_of
from moot.evaluate.tasks import Item, Task

NAMESPACE = uuid.UUID("5f0c6f0e-9a3f-4d5c-8f59-6d6f6f740016")
POOL = "pool"
OWN_POOL = "pool-of-one"  # samples of one model, beside a pool of several models
_CALLED = {POOL: "samples", OWN_POOL: "samples of one model"}
SINGLE, SELF_CONSISTENCY, MAJORITY = "single", "self-consistency", "majority"
POOLED = (SINGLE, SELF_CONSISTENCY, MAJORITY)  # arms that are computed from the pool
BEST_OF = "best-of"
POOLED_CODE = (SINGLE, BEST_OF)  # the same for code, which is picked by the examples of the question
SHORT = {"sc": SELF_CONSISTENCY}
BUDGET = ("max_cost_usd", "max_output_tokens")
SOURCE = {"file", "limit"}
MOST_POOL = 64  # samples of an item

Match = Literal["usd", "tokens"]


class Arm(Frozen):
    """One way to answer: a format with settings."""

    name: str
    format: str
    settings: dict[str, Any] = Field(default_factory=dict)
    worst_usd: float | None = None  # the most that a cell may cost; None: the price is not known
    worst_tokens: int = 0  # the most that it may write
    seats: tuple[str, ...] = ()  # that get a seed of their own; none where a model takes no seed
    baseline: bool = False  # no debate: others are compared with it


class EvaluationPlan(Frozen):
    """Everything that decides what an evaluation does. Its id follows from it. Left out are its budget, so that more
    money goes on with the same evaluation, and where its items come from."""

    task: Task
    arms: tuple[Arm, ...]  # with cells of their own; the first is the pool
    pool: int  # samples of an item
    models: tuple[str, ...] = ()  # several models take turns in the pool
    majority: bool = False  # the pool's models vote together, as a baseline of their own
    epochs: int = 1
    seed: int = 1
    match: Match = "usd"
    max_cost_usd: float | None = None
    max_output_tokens: int | None = None
    judge: Arm | None = None  # that grades answers, where a model does
    file: str = ""  # the task file, or the files of its items; empty: the task is built in
    limit: int | None = None  # how many items were asked for

    @cached_property
    def id(self) -> str:
        named = {**self.model_dump(mode="json", exclude=SOURCE), **dict.fromkeys(BUDGET)}
        return str(uuid.uuid5(NAMESPACE, json.dumps(named, ensure_ascii=False, sort_keys=True)))

    def __copy__(self) -> Self:
        copied = super().__copy__()
        vars(copied).pop("id", None)  # one that differs has another
        return copied

    def as_json(self) -> str:
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)

    @property
    def pools(self) -> dict[str, str]:
        """The arms that are pools, and what several samples of each are, as a baseline."""
        drawn = BEST_OF if self.task.tested else MAJORITY if self.majority else SELF_CONSISTENCY
        own = {arm.name: SELF_CONSISTENCY for arm in self.arms if arm.name == OWN_POOL}
        return {POOL: drawn, **own}

    def voters(self, drawn: str) -> int:
        """How many models vote where several samples are `drawn`: of a majority, as many samples of each."""
        return max(1, len(set(self.models))) if drawn == MAJORITY else 1

    def most_drawn(self, drawn: str) -> int:
        """The most samples that a pool has for `drawn`: of a majority, as many of each model; 0 if one has none."""
        models = self.voters(drawn)
        if models == 1:
            return self.pool
        own = Counter(self.models[n % len(self.models)] for n in range(self.pool))
        return models * min(own[model] for model in self.models)

    @property
    def beside_pools(self) -> list[Arm]:
        """The arms that are no pools."""
        return [arm for arm in self.arms if arm.name not in self.pools]

    @property
    def cells(self) -> int:
        """How many debates it has."""
        return len(self.task.items) * len(self.arms) * self.epochs

    @property
    def compared(self) -> list[Arm]:
        return [arm for arm in self.arms if not arm.baseline]

    @property
    def worst_block(self) -> Worst:
        usd = [arm.worst_usd for arm in self.arms]
        known = [each for each in usd if each is not None]
        return self.worst_grading + Worst(
            usd=None if len(known) < len(usd) else sum(known) * self.epochs,
            tokens=sum(arm.worst_tokens for arm in self.arms) * self.epochs,
        )

    @property
    def worst_grading(self) -> Worst:
        """The most that a judge may use on one block: for every sample, and the answer of every other arm."""
        if self.judge is None:
            return Worst()
        count = (self.pool * len(self.pools) + len(self.beside_pools)) * self.epochs
        usd = self.judge.worst_usd
        return Worst(usd=None if usd is None else usd * count, tokens=self.judge.worst_tokens * count)


def called(arm: str) -> str:
    """What people read of an arm: pools are the samples that they are."""
    return _CALLED.get(arm, arm)


@record
class Worst:
    """The most that something may use."""

    usd: float | None = 0.0
    tokens: int = 0

    def __add__(self, other: Worst) -> Worst:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Worst(usd=usd, tokens=self.tokens + other.tokens)


@record
class Cell:
    """One debate of an evaluation."""

    id: str
    item: Item
    arm: Arm
    epoch: int


@record
class Block:
    """One item with all arms and epochs."""

    item: Item
    cells: tuple[Cell, ...]


def blocks(plan: EvaluationPlan) -> Iterator[Block]:
    root = uuid.UUID(plan.id)
    for item in plan.task.items:
        yield Block(
            item=item,
            cells=tuple(
                Cell(id=str(uuid.uuid5(root, f"{item.id}\0{arm.name}\0{epoch}")), item=item, arm=arm, epoch=epoch)
                for epoch in range(1, plan.epochs + 1)
                for arm in plan.arms
            ),
        )


def fits(plan: EvaluationPlan, spent: Usage, more: Worst) -> bool:
    """Whether so much more may be used."""
    if plan.max_cost_usd is not None and (
        spent.cost_usd is None or more.usd is None or spent.cost_usd + more.usd > plan.max_cost_usd + 1e-12
    ):
        return False
    return plan.max_output_tokens is None or spent.tokens_out + more.tokens <= plan.max_output_tokens


def worst_of_deleted(plan: EvaluationPlan, deleted: Collection[str]) -> Worst:
    """The most that deleted debates can have used, which a budget counts: what they did use is not known any more."""
    total = Worst()
    if not deleted:
        return total
    arms = [cell.arm for block in blocks(plan) for cell in block.cells if cell.id in deleted]
    if plan.judge is not None:
        arms += [plan.judge] * (len(deleted) - len(arms))
    for arm in arms:
        total += Worst(usd=arm.worst_usd, tokens=arm.worst_tokens)
    return total


def settings_of(plan: EvaluationPlan, cell: Cell) -> Json:
    """The settings of a cell's debate. A seat's seed follows from the cell, so that no two seats answer alike. The
    worst case of a cell is its limit even where the evaluation has no budget: it may get one later."""
    arm = cell.arm
    settings: Json = {**arm.settings, "answer": plan.task.answer(cell.item).model_dump(mode="json")}
    settings["recall_decisions"] = False
    settings |= limits_of(arm)
    own: Mapping[str, Any] = settings.get("seats") or {}
    settings["seats"] = {
        **own,
        **{seat: {**own.get(seat, {}), "seed": _seed(plan, cell, seat)} for seat in arm.seats},
    }
    return settings


def limits_of(arm: Arm) -> Json:
    """The most that a cell of an arm may use, as settings of its debate."""
    own = arm.settings.get("max_cost_usd")
    usd = {} if not arm.worst_usd else {"max_cost_usd": arm.worst_usd if own is None else min(own, arm.worst_usd)}
    return {**usd, "max_total_output_tokens": arm.worst_tokens}


def _seed(plan: EvaluationPlan, cell: Cell, seat: str) -> int:
    named = json.dumps([plan.seed, cell.item.id, cell.arm.name, cell.epoch, seat])
    return int(sha256_of(named)[:8], 16) % SEEDS
