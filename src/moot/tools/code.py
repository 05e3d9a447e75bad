"""The tools that rules use on code: `cases`, `script`, `checks` and `snapshot`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from pydantic import ValidationError

from moot.core.errors import InputError, ToolError
from moot.core.explaining import Details, found_in
from moot.core.settings import LanguageServer
from moot.core.types import Answer, Json, Tool
from moot.reasoning.code.requests import (
    MAX_CODE_CHARS,
    CasesRun,
    Check,
    RunCases,
    RunLimits,
    RunScript,
    ScriptRun,
    Snapshot,
)
from moot.tools.checks.check import Checks
from moot.tools.git.snapshots import Snapshots
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.runners.declared import Runner, Runners
from moot.tools.runners.scripts import read_script, script_job
from moot.tools.runners.toolchain import fingerprint
from moot.tools.sandbox import Job, Limits, Sandbox

R = TypeVar("R", bound=Answer)


@dataclass(frozen=True, kw_only=True)
class CodeTools:
    """Runs and checks code in one sandbox."""

    sandbox: Sandbox
    runners: Runners
    snapshots: Snapshots
    servers: Mapping[str, LanguageServer] = field(default_factory=dict[str, LanguageServer])
    limits: Limits = field(default_factory=Limits)  # of one step
    case_limits: CaseLimits = field(default_factory=CaseLimits)

    def by_name(self) -> dict[str, Tool]:
        return {"cases": self.cases, "script": self.script, "checks": self.checks, "snapshot": self.snapshot}

    async def cases(self, arguments: Json, texts: Mapping[str, str]) -> Json:
        request = read_request(RunCases, arguments)
        code = text_of(request.version, texts)
        language, runner = self._runner(request.language)
        if runner.cases is None:
            raise ToolError(f"Single calls can't be made in {language}: it has no harness for them, only scripts.")
        calls = [(0, call) for call in request.calls]
        job = cases_job(runner.cases, [code], calls, self.limits, self.case_limits)
        run = await self.sandbox.run(job)
        return CasesRun(
            results=read_cases(run, len(request.calls)),
            ended_by=run.ended_by,
            code=run.code,
            output=run.output,
            truncated=run.truncated,
            ms=run.wall_ms,
            limits=limits_of(job, self.case_limits),
            fingerprint=await asyncio.to_thread(fingerprint, *runner.needs),
        ).model_dump(mode="json")

    async def script(self, arguments: Json, texts: Mapping[str, str]) -> Json:
        request = read_request(RunScript, arguments)
        code, tests = text_of(request.version, texts), text_of(request.tests, texts)
        more = {file.path: text_of(file.text, texts) for file in request.base}
        _, runner = self._runner(request.language)
        job = script_job(runner, code, tests, more, self.limits)
        run = await self.sandbox.run(job)
        outcomes, exit_code = read_script(runner, run, tests)
        return ScriptRun(
            tests=outcomes,
            ended_by=run.ended_by,
            code=exit_code,
            output=run.output,
            truncated=run.truncated,
            ms=run.wall_ms,
            limits=limits_of(job),
            fingerprint=await asyncio.to_thread(fingerprint, *runner.needs),
        ).model_dump(mode="json")

    async def checks(self, arguments: Json, texts: Mapping[str, str]) -> Json:
        request = read_request(Check, arguments)
        code = text_of(request.version, texts)
        previous = None if request.previous is None else text_of(request.previous, texts)
        language, runner = self._runner(request.language)
        checks = Checks(
            code=code,
            previous=previous,
            calls=request.calls,
            language=language,
            runner=runner,
            servers=self.servers,
            run=self.sandbox.run,
            limits=self.limits,
            case_limits=self.case_limits,
        )
        return (await checks.made(request.tools)).model_dump(mode="json")

    async def snapshot(self, arguments: Json, texts: Mapping[str, str]) -> Json:
        request = read_request(Snapshot, arguments)
        try:
            return (await self.snapshots.taken(request, lambda name: text_of(name, texts))).model_dump(mode="json")
        except InputError as wrong:
            raise ToolError(str(wrong)) from None

    def _runner(self, language: str) -> tuple[str, Runner]:
        try:
            return language.lower(), self.runners[language]
        except InputError as unknown:
            raise ToolError(str(unknown)) from None


def limits_of(job: Job, each: CaseLimits | None = None) -> RunLimits:
    given = job.limits
    return RunLimits(
        wall_seconds=given.wall_seconds,
        cpu_seconds=given.cpu_seconds,
        memory_bytes=given.memory_bytes,
        processes=given.processes,
        output_bytes=given.output_bytes,
        case_cpu_seconds=None if each is None else each.cpu_seconds,
        case_wall_seconds=None if each is None else each.wall_seconds,
    )


def text_of(name: str, texts: Mapping[str, str]) -> str:
    """The text that a request names. Raises ToolError if it is not there, or can be no code."""
    text = texts.get(name)
    if text is None:
        raise ToolError(f"The request names a text {name[:12]}…, which was not handed over with it.")
    if len(text) > MAX_CODE_CHARS:
        raise ToolError(f"The code has {len(text):,} characters; {MAX_CODE_CHARS:,} is the most.")
    if "\0" in text:
        raise ToolError("The code is no text: it has NUL characters.")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ToolError("The code is no text: it has halves of characters.")
    return text


def read_request(shape: type[R], arguments: Json) -> R:
    """Raises ToolError if the arguments are no such request."""
    try:
        return shape.model_validate(arguments)
    except ValidationError as invalid:
        problem = found_in(shape, cast("list[Details]", invalid.errors()), values=False)[0].text
        raise ToolError(f"The request can't be read: {problem}.") from None
