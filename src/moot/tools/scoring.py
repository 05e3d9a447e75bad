"""Scores code by the hidden cases of a task: run in the sandbox, compared outside of it."""

from __future__ import annotations

from dataclasses import dataclass

from moot.corpus import CodingTask
from moot.reasoning.code.cases import CaseRun, passes
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Limits, Sandbox


@dataclass(frozen=True, kw_only=True)
class TaskScore:
    passed: int
    of: int
    runs: tuple[CaseRun, ...]  # one for each hidden case

    @property
    def solved(self) -> bool:
        return self.passed == self.of


async def score(task: CodingTask, code: str, sandbox: Sandbox) -> TaskScore:
    """Run code on the hidden cases of a task. Raises SandboxUnavailable or SandboxDied."""
    calls = [(0, case.call) for case in task.hidden]
    done = await sandbox.run(cases_job("python", [code], calls, Limits(), CaseLimits()))
    runs = read_cases(done, len(calls))
    passed = sum(map(passes, task.hidden, runs))
    return TaskScore(passed=passed, of=len(calls), runs=runs)
