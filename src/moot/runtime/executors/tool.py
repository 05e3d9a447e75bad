"""Executes `Use` steps: runs a tool. It may run again after a crash; its result is stored once, for replays to read."""

from __future__ import annotations

import asyncio
from typing import cast

from pydantic import ValidationError

from moot.core.errors import LimitReached, ToolError
from moot.core.explaining import Details, found_in
from moot.core.limits import Limits
from moot.core.steps import Use
from moot.core.types import Answer, Hear, Json, Models, Reply, Toolbox, Usage
from moot.core.values import sha256_of
from moot.runtime.budget import Allowance, Used
from moot.runtime.executors.ask import simulated
from moot.runtime.executors.executor import FREE, Uncounted

PROVIDER = "tool"
FAILED = "failed"  # how a tool ended that gave no result
ENDED = "ended"
RECORDED = {"limits", "fingerprint", "ended_by", "code"}  # of a result


class ToolExecutor(Uncounted):
    waits = False
    live = True

    def __init__(self, tools: Toolbox, models: Models) -> None:
        self._tools, self._models = tools, models

    def allow(self, step: Use, limits: Limits, used: Used) -> Allowance | LimitReached:
        return FREE

    async def execute(self, step: Use, allowance: Allowance, hear: Hear) -> Reply:
        tool = self._tools.get(step.tool)
        if tool is None:
            has = f"it has {', '.join(sorted(self._tools))}" if self._tools else "it has none"
            raise ToolError(f"This process has no tool {step.tool!r}; {has}.")
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            given = await tool(step.arguments, step.texts)
            answer = _read(step, given)
        except ToolError as error:
            error.call = _recorded(step, {"ended_by": FAILED}, clock() - began)
            raise
        calls = (_recorded(step, answer.model_dump(mode="json", include=RECORDED), clock() - began),)
        return Reply(
            text=answer.prose(),
            model=step.tool,
            provider=PROVIDER,
            usage=_usage(answer),
            answer=answer,
            tool_calls=calls,
        )

    async def rehearse(self, step: Use, seed: int) -> Reply:
        return await simulated(self._models, step, seed)


def _read(step: Use, given: Json) -> Answer:
    assert step.returns is not None
    try:
        return step.returns.model_validate(given)
    except ValidationError as invalid:
        problem = found_in(step.returns, cast("list[Details]", invalid.errors()), values=False)[0]
        raise ToolError(f"The tool {step.tool!r} gave a result that can't be read: {problem.text}.") from None


def _usage(answer: Answer) -> Usage:
    """What a tool has used, as far as its result says so."""
    tokens, cost = getattr(answer, "tokens_in", 0), getattr(answer, "cost_usd", 0.0)
    return Usage(tokens_in=tokens, cost_usd=cost)


def _recorded(step: Use, given: Json, seconds: float) -> Json:
    """What is recorded of a use of a tool, beside its result. A tool that runs something says in its result within
    which `limits`, with which programs (`fingerprint`), and how that ended (`ended_by`, `code`)."""
    return {
        "tool": step.tool,
        "request": sha256_of(step.prompt.text),
        "limits": given.get("limits"),
        "fingerprint": given.get("fingerprint"),
        "exit": given.get("ended_by") or ENDED,
        "code": given.get("code"),
        "duration_ms": round(seconds * 1000),
    }
