"""Scores code by the hidden cases of a task: run in the sandbox, compared outside of it."""

from __future__ import annotations

from moot.corpus import CodingTask
from moot.reasoning.code.cases import passes
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Limits, Sandbox


async def hidden_passed(task: CodingTask, code: str, sandbox: Sandbox) -> int:
    """How many hidden cases of a task some code passes."""
    calls = [(0, case.call) for case in task.hidden]
    done = await sandbox.run(cases_job("python", [code], calls, Limits(), CaseLimits()))
    return sum(map(passes, task.hidden, read_cases(done, len(calls))))
