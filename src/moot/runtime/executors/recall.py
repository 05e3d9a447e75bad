"""Executes `Recall` steps: asks memory. Nothing is reserved; what an embedder costs is on the turn."""

from __future__ import annotations

from moot.core.errors import LimitReached
from moot.core.limits import Limits
from moot.core.steps import Recall
from moot.core.types import Hear, Likeness, Memory, Recollection, Reply, Usage
from moot.runtime.budget import Allowance
from moot.runtime.executors.executor import FREE, typed

_NO_MEMORY = "This process has no memory."


class RecallExecutor:
    waits = False
    live = False

    def __init__(self, memory: Memory | None) -> None:
        self._memory = memory

    def allow(self, step: Recall, limits: Limits, used: Usage) -> Allowance | LimitReached:
        return FREE

    async def execute(self, step: Recall, allowance: Allowance, hear: Hear) -> Reply:
        answer, usage = await self._answer(step)
        return Reply(text=answer.prose(), model=answer.by, provider="memory", usage=usage, answer=answer)

    async def _answer(self, step: Recall) -> tuple[Recollection | Likeness, Usage]:
        if step.corpus is None:
            return await self._memory.compare(step.pairs) if self._memory else (Likeness(note=_NO_MEMORY), Usage())
        if self._memory is None:
            return Recollection(by="nothing", note=_NO_MEMORY), Usage()
        return await self._memory.recall(step.prompt.text, step.corpus, step.k)

    def estimate(self, step: Recall) -> Usage:
        return Usage()

    def cut_off(self, step: Recall, chars: int) -> Usage:
        return Usage()

    async def rehearse(self, step: Recall, seed: int) -> Reply:
        return typed(Likeness() if step.corpus is None else Recollection(by="nothing"))
