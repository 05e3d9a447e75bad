"""Runs the cells of an evaluation, in this process or through the workers, within a budget of whole blocks.

To resume is to plan again: a cell that exists is not made again, and one that is complete is not paid again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from moot.client.client import Client
from moot.client.once import Once
from moot.core.amounts import dollars, money
from moot.core.errors import DebateDeleted, InputError, WrongStatus
from moot.core.types import Debate, Usage
from moot.evaluate.cells import slim, stored_debates
from moot.evaluate.deleted import deleted_of
from moot.evaluate.grading import grade, stored_grades
from moot.evaluate.model_grading import asked_of_judge, grade_in, grading_id, gradings_of, settings_of_grading
from moot.evaluate.plans import Arm, Block, Cell, EvaluationPlan, Worst, blocks, fits, settings_of, worst_of_deleted
from moot.evaluate.rows import is_complete, to_grade
from moot.evaluate.tasks import Item
from moot.request import Request
from moot.runtime.threads import in_thread
from moot.store import Grade, IdempotencyKey, StoredEvaluation
from moot.tools.abilities import check_ability

AT_ONCE = 4  # blocks

Progress = Callable[["Ran"], None]


@dataclass(kw_only=True)
class Ran:
    """How far an evaluation is."""

    blocks: int = 0  # complete
    of: int = 0
    failed: int = 0  # cells that could not be finished
    ungraded: int = 0  # blocks with an answer that the judge gave no valid grade
    deleted: list[str] = field(default_factory=list[str])  # items that can't be completed: a debate was deleted
    cut: int = 0  # blocks that the budget did not allow
    stopped: bool = False


def check_spent(plan: EvaluationPlan, spent: Usage) -> None:
    """Raises InputError if more is spent already than the budget, which is for the whole evaluation."""
    if fits(plan, spent, Worst(usd=0.0)):
        return
    used: list[str] = []
    if plan.max_cost_usd is not None:
        used.append(f"{money(spent.cost_usd)} of {dollars(plan.max_cost_usd)}")
    if plan.max_output_tokens is not None:
        used.append(f"{spent.tokens_out:,} of {plan.max_output_tokens:,} output tokens")
    raise InputError(
        f"Evaluation {plan.id[:8]} has used {' and '.join(used)} already. A budget is for the "
        f"whole evaluation: give more, or read what it found with: moot eval report {plan.id[:8]}"
    )


@dataclass(kw_only=True)
class Running:
    """One run over the blocks of a plan."""

    client: Client
    plan: EvaluationPlan
    by_workers: bool = False
    at_once: int = AT_ONCE
    progress: Progress | None = None

    def __post_init__(self) -> None:
        self.spent = Usage()  # of cells that rest
        self.reserved: dict[str, Worst] = {}  # of blocks in flight, by item
        self.ran = Ran(of=len(self.plan.task.items))
        self.cells: dict[str, Debate] = {}
        self.grades: dict[tuple[str, str], Grade] = {}
        self.deleted = set[str]()  # ids of debates
        self.lost = Worst()  # the most that these can have used

    async def run(self) -> Ran:
        """Run what is left. Ends when all is done, the budget is used up, or the evaluation was stopped."""
        client, plan = self.client, self.plan
        if self.at_once < 1:
            raise InputError(f"At least one item is under way at once; --at-once {self.at_once} would run none.")
        if plan.task.tested:
            await in_thread(lambda: check_ability("code", f"The task {plan.task.name!r}"))
        await client.app.open()
        self.cells = await stored_debates(client, plan)
        for debate in self.cells.values():
            self.spent += debate.usage
        check_spent(plan, self.spent)
        await client.store.add_evaluation(StoredEvaluation(id=plan.id, name=plan.task.name, plan=plan.as_json()))
        await client.store.stop_evaluation(plan.id, stopped=False)
        self.grades = await stored_grades(client, plan.id)
        self.deleted |= await deleted_of(client, plan, self.cells, self.grades)
        self.lost = worst_of_deleted(plan, self.deleted)
        tasks, refused = set[asyncio.Task[None]](), False
        try:
            for block in blocks(plan):
                if self._is_lost(block):
                    self._incomplete += 1
                    continue
                left = [cell for cell in block.cells if not self._done(cell)]
                if is_complete(plan, block, self.cells, self.grades):
                    self._count()
                    continue
                refused = refused or not await self._admitted(block, left, tasks)
                if not refused:
                    tasks.add(asyncio.create_task(self._block(block, left)))
            while tasks:
                await self._one(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if not self.ran.stopped:
            self.ran.cut = self.ran.of - self.ran.blocks - self._incomplete
        self.ran.deleted = [block.item.id for block in blocks(plan) if self._is_lost(block)]
        return self.ran

    _incomplete = 0

    def _is_lost(self, block: Block) -> bool:
        """Whether a block can't be completed: an id is never used again."""
        return any(cell.id in self.deleted for cell in block.cells)

    def _done(self, cell: Cell) -> bool:
        found = self.cells.get(cell.id)
        return found is not None and found.status == "completed"

    async def _admitted(self, block: Block, left: list[Cell], tasks: set[asyncio.Task[None]]) -> bool:
        """Wait until a block may begin; False if it may not. Whether it may depends on what the blocks before it have
        used, and so not on how many run at once."""
        more = self._worst(left) + self.plan.worst_grading
        while True:
            if await self._stopped():
                self.ran.stopped = True
                return False
            if len(tasks) < self.at_once and fits(self.plan, self.spent, self._in_flight(more)):
                self.reserved[block.item.id] = more
                return True
            if not tasks:
                return False
            await self._one(tasks)

    async def _one(self, tasks: set[asyncio.Task[None]]) -> None:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        tasks -= done
        for task in done:
            task.result()

    def _worst(self, left: list[Cell]) -> Worst:
        total = Worst()
        for cell in left:
            used = self.cells[cell.id].usage if cell.id in self.cells else Usage()
            usd = cell.arm.worst_usd
            total += Worst(
                usd=None if usd is None else max(0.0, usd - (used.cost_usd or 0.0)),
                tokens=max(0, cell.arm.worst_tokens - used.tokens_out),
            )
        return total

    def _in_flight(self, more: Worst) -> Worst:
        total = self.lost + more
        for each in self.reserved.values():
            total += each
        return total

    async def _stopped(self) -> bool:
        found = await self.client.store.evaluations(self.plan.id, 1)
        return bool(found) and found[0].stopped_at is not None

    async def _block(self, block: Block, left: list[Cell]) -> None:
        ended = await asyncio.gather(*(self._cell(cell) for cell in left))
        if not self._is_lost(block):
            await self._grade(block)
        self.reserved.pop(block.item.id)
        failed = sum(debate is not None and debate.status != "completed" for debate in ended)
        self.ran.failed += failed
        graded = is_complete(self.plan, block, self.cells, self.grades)
        self.ran.ungraded += not failed and not graded and not self._is_lost(block)
        if failed or not graded:
            self._incomplete += 1
        else:
            self._count()

    async def _grade(self, block: Block) -> None:
        """Have answers graded that are not yet: by tests, or by the judge."""
        task, item = self.plan.task, block.item
        if not task.graded:
            return
        answers = to_grade(self.plan, block, self.cells)
        left = {name: text for name, text in answers.items() if (item.id, name) not in self.grades}
        if task.by_model:
            found = await asyncio.gather(*(self._judged(item, name, text) for name, text in left.items()))
            made = [each for each in found if each is not None]
        else:
            made = await grade(self.client, item, left)
        await self.client.store.add_grades(self.plan.id, made)
        self.grades |= {(each.item, each.answer): each for each in made}

    def _count(self) -> None:
        self.ran.blocks += 1
        if self.progress is not None:
            self.progress(self.ran)

    async def _cell(self, cell: Cell) -> Debate | None:
        """None: it was deleted."""
        request = Request(topic=cell.item.topic, format=cell.arm.format, settings=settings_of(self.plan, cell))
        return await self._debate(cell.id, request, self.plan.id, cell.arm)

    async def _judged(self, item: Item, name: str, answer: str) -> Grade | None:
        """The judge's grade of an answer; None if it gave none."""
        plan = self.plan
        assert plan.judge is not None
        id = grading_id(plan, item.id, name)
        topic = asked_of_judge(plan.task, item, answer)
        request = Request(topic=topic, format=plan.judge.format, settings=settings_of_grading(plan, id))
        debate = await self._debate(id, request, gradings_of(plan.id), plan.judge)
        return None if debate is None else grade_in(debate, item, name)

    async def _debate(self, id: str, request: Request, evaluation: str, arm: Arm) -> Debate | None:
        """Let one debate run until it rests, and count what it has used. None: it was deleted meanwhile."""
        before = self.cells[id].usage if id in self.cells else Usage()
        try:
            debate = await self._rested(id, request, evaluation)
        except DebateDeleted:
            self.deleted.add(id)
            self.lost += Worst(usd=arm.worst_usd, tokens=arm.worst_tokens)
            return None
        self.cells[id] = slim(debate)
        self.spent += debate.usage - before
        return debate

    async def _rested(self, id: str, request: Request, evaluation: str) -> Debate:
        client = self.client
        plan = replace(await client.plan(request, here=not self.by_workers), evaluation=evaluation, looks_back=False)
        key = IdempotencyKey(key=f"evaluation/{id}", hash="", debate_id=id)
        debate = await client.create(plan, once=Once(store=client.store, held=key), start=False)
        if debate.terminal:
            return debate
        try:
            debate = await (client.hand_over(debate) if self.by_workers else client.go_on(debate))
        except WrongStatus:
            pass  # another process drives it
        async with aclosing(client.follow(debate)) as updates:
            async for _ in updates:
                pass
        return await client.store.get(id)
