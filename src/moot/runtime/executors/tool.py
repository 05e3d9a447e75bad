"""Executes `Use` steps: runs a tool. It may run again after a crash; its result is stored once, for replays to read."""

from __future__ import annotations

from typing import cast

from pydantic import ValidationError

from moot.core.errors import LimitReached, ToolError
from moot.core.explaining import Details, found_in
from moot.core.limits import Limits
from moot.core.steps import Use
from moot.core.types import Hear, Models, Reply, Toolbox, Usage
from moot.runtime.budget import Allowance
from moot.runtime.executors.ask import simulated
from moot.runtime.executors.executor import FREE

PROVIDER = "tool"


class ToolExecutor:
    waits = False
    live = True

    def __init__(self, tools: Toolbox, models: Models) -> None:
        self._tools, self._models = tools, models

    def allow(self, step: Use, limits: Limits, used: Usage) -> Allowance | LimitReached:
        return FREE

    async def execute(self, step: Use, allowance: Allowance, hear: Hear) -> Reply:
        tool = self._tools.get(step.tool)
        if tool is None:
            has = f"it has {', '.join(sorted(self._tools))}" if self._tools else "it has none"
            raise ToolError(f"This process has no tool {step.tool!r}; {has}.")
        assert step.returns is not None
        given = await tool(step.arguments)
        try:
            answer = step.returns.model_validate(given)
        except ValidationError as invalid:
            problem = found_in(step.returns, cast("list[Details]", invalid.errors()), values=False)[0]
            raise ToolError(f"The tool {step.tool!r} gave a result that can't be read: {problem.text}.") from None
        return Reply(text=answer.prose(), model=step.tool, provider=PROVIDER, answer=answer)

    def estimate(self, step: Use) -> Usage:
        return Usage()

    def cut_off(self, step: Use, chars: int) -> Usage:
        return Usage()

    async def rehearse(self, step: Use, seed: int) -> Reply:
        return await simulated(self._models, step, seed)
