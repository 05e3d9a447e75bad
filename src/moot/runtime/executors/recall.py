"""Executes `Recall` steps: asks memory. What an embedder may cost is reserved where the debate has a limit on costs;
what it did cost is on the turn. Memory itself keeps the ceilings of the day."""

from __future__ import annotations

from moot.core.errors import LimitReached
from moot.core.limits import Limits
from moot.core.steps import Recall
from moot.core.types import Asker, Hear, Likeness, Memory, Recollection, Reply, Usage
from moot.runtime.budget import Allowance, Used
from moot.runtime.executors.executor import FREE, Uncounted, typed

_NO_MEMORY = "This process has no memory."


class RecallExecutor(Uncounted):
    waits = False
    live = False

    def __init__(self, memory: Memory | None, debate_id: str = "") -> None:
        """`debate_id`: the debate that asks."""
        self._memory, self._debate_id = memory, debate_id

    def allow(self, step: Recall, limits: Limits, used: Used) -> Allowance | LimitReached:
        if self._memory is None or limits.max_cost_usd is None:
            return FREE
        most = self._memory.most_usd(_texts(step))
        left = max(0.0, limits.max_cost_usd - used.cost_usd)
        return FREE if most == 0 else Allowance(max_tokens=0, tries=0, tokens=0, cost_usd=min(most or 0.0, left))

    async def execute(self, step: Recall, allowance: Allowance, hear: Hear) -> Reply:
        answer, usage = await self._answer(step, None if allowance is FREE else allowance.cost_usd)
        return Reply(text=answer.prose(), model=answer.by, provider="memory", usage=usage, answer=answer)

    async def _answer(self, step: Recall, room_usd: float | None) -> tuple[Recollection | Likeness, Usage]:
        asker = Asker(debate_id=self._debate_id, room_usd=room_usd)
        if step.corpus is None:
            if self._memory is None:
                return Likeness(note=_NO_MEMORY), Usage()
            return await self._memory.compare(step.pairs, asker)
        if self._memory is None:
            return Recollection(by="nothing", note=_NO_MEMORY), Usage()
        if step.corpus in ("lessons", "episodes"):
            return await self._memory.learned(step.prompt.text, step.corpus, step.k, step.agent, asker)
        return await self._memory.recall(step.prompt.text, step.corpus, step.k, asker)

    async def rehearse(self, step: Recall, seed: int) -> Reply:
        return typed(Likeness() if step.corpus is None else Recollection(by="nothing"))


def _texts(step: Recall) -> list[str]:
    return [text for pair in step.pairs for text in pair] if step.corpus is None else [step.prompt.text]
