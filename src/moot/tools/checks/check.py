"""All checks of one version of some code."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from moot.core.errors import ToolError
from moot.core.settings import LanguageServer
from moot.core.values import Json
from moot.reasoning.code.requests import CheckRun, CheckTool, Metrics, RunLimits
from moot.tools.checks import linters
from moot.tools.checks.servers import Said, located, read_server, server_job, tool_name
from moot.tools.checks.timing import time_ratio
from moot.tools.runners.cases import CaseLimits
from moot.tools.runners.declared import Runner
from moot.tools.sandbox import Job, Limits, Run, SandboxDied, SandboxUnavailable


@dataclass(frozen=True, kw_only=True)
class Checks:
    code: str
    previous: str | None  # the version that timing is compared with
    calls: Sequence[Sequence[str]]
    language: str
    runner: Runner
    servers: Mapping[str, LanguageServer]  # that are listed, by name
    run: Callable[[Job], Awaitable[Run]]
    limits: Limits
    case_limits: CaseLimits
    _given: list[Limits] = field(default_factory=list[Limits])  # of each run

    async def made(self, tools: Sequence[CheckTool]) -> CheckRun:
        """Have each tool look at the code. One that is missing, or gives no result, is named; it never counts as one
        that has found nothing. Raises SandboxDied and SandboxUnavailable."""
        begun = time.monotonic()
        found, missing, failed = await self._linted([tool for tool in linters.LINTERS if tool in tools])
        said = await self._served() if "servers" in tools else {}
        done: list[str] = [*found.done, *(name for name, each in said.items() if each and not each.problem)]
        failed += [f"{name}: {each.problem}" for name, each in said.items() if each and each.problem]
        metrics: Json = {"complexity": found.complexity, "maintainability": found.maintainability}
        if "timing" in tools:
            try:
                metrics["time_ratio"] = await self._timing()
                done.append("timing")
            except (SandboxDied, SandboxUnavailable):
                raise
            except ToolError as problem:
                failed.append(f"timing: {problem}")
        return CheckRun(
            findings=(*found.findings, *(each for one in said.values() if one for each in one.findings)),
            metrics=Metrics(**metrics),
            done=tuple(done),
            missing=(*missing, *(name for name, each in said.items() if each is None)),
            failed=tuple(failed),
            ms=round((time.monotonic() - begun) * 1000),
            limits=_widest(self._given),
            fingerprint=", ".join(
                (
                    *(each.about for each in said.values() if each and each.about),
                    linters.fingerprint(self.runner.needs, found.done),
                )
            ),
        )

    async def _linted(self, tools: Sequence[CheckTool]) -> tuple[linters.Found, list[CheckTool], list[str]]:
        if self.language != "python":
            return linters.Found(), [], [f"{tool}: it does not read {self.language}" for tool in tools]
        missing = linters.missing(tools)
        usable: list[CheckTool] = [tool for tool in tools if tool not in missing]
        if not usable:
            return linters.Found(), missing, []
        warm = await linters.warm_cache(self.run, self.limits) if "mypy" in usable else ""
        job = linters.linters_job(usable, self.code, self.runner.source, self.limits, warm)
        found = linters.read_linters(usable, await self._run(job))
        return found, missing, [*found.failed]

    async def _served(self) -> dict[str, Said | None]:
        """What each listed server for the language says; None of one that is not installed."""
        said: dict[str, Said | None] = {}
        for name, server in self.servers.items():
            if self.language in map(str.lower, server.languages):
                said[tool_name(name)] = await self._said_by(name, server)
        return said

    async def _said_by(self, name: str, server: LanguageServer) -> Said | None:
        at = await asyncio.to_thread(located, server)
        if at is None:
            return None
        if at.lacks:
            return Said(problem=f"it needs {at.lacks}, which is not there")
        job = server_job(at, server, self.code, self.runner.source, self.language, self.limits)
        return read_server(name, await self._run(job))

    async def _timing(self) -> float:
        if self.runner.cases is None or self.previous is None or not self.calls:
            raise ToolError("it needs calls, and a previous version to compare with")
        return await time_ratio(
            self.code, self.previous, self.calls, self._run, self.runner.cases, self.limits, self.case_limits
        )

    async def _run(self, job: Job) -> Run:
        self._given.append(job.limits)
        return await self.run(job)


def _widest(given: Sequence[Limits]) -> RunLimits | None:
    """What the runs were allowed to use, each at most."""
    if not given:
        return None
    return RunLimits(
        wall_seconds=max(each.wall_seconds for each in given),
        cpu_seconds=max(each.cpu_seconds for each in given),
        memory_bytes=max(each.memory_bytes for each in given),
        processes=max(each.processes for each in given),
        output_bytes=max(each.output_bytes for each in given),
    )
