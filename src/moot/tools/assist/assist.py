"""Carries out requests for help. Nothing here has an effect but the MCP tools that the operator allows to have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from moot.core.errors import ToolError
from moot.core.types import Asker, Json, Memory
from moot.reasoning.code.assist import Assist, AssistRun, Diagnose, Format, Retrieve, UseServer
from moot.reasoning.code.requests import Check, CheckRun
from moot.tools.assist.formatting import format_job, read_formatted
from moot.tools.assist.servers import ToolServers
from moot.tools.code import CodeTools, limits_of, read_request, text_of
from moot.tools.runners.toolchain import installed

MAX_TEXT_CHARS = 64_000


@dataclass(frozen=True, kw_only=True)
class Assistance:
    code: CodeTools
    memory: Memory
    servers: ToolServers
    asking: Callable[[], str]  # the debate whose step is being executed; empty: none is

    async def assist(self, arguments: Json, texts: Mapping[str, str], /) -> Json:
        request = read_request(Assist, arguments).request
        match request:
            case Format():
                made = await self._formatted(request, texts)
            case Diagnose():
                made = await self._diagnosed(request, texts)
            case Retrieve():
                made = await self._retrieved(request)
            case UseServer():
                made = await self._used(request, texts)
            case _:
                assert_never(request)
        return made.model_dump(mode="json")

    async def _formatted(self, request: Format, texts: Mapping[str, str]) -> AssistRun:
        if request.language.lower() != "python":
            raise ToolError(f"There is no formatter for {request.language}; there is one for Python.")
        code = text_of(request.version, texts)
        job = format_job(code, "solution.py", self.code.limits)
        text = read_formatted(await self.code.sandbox.run(job))
        return AssistRun(text=text, limits=limits_of(job), fingerprint=f"ruff {installed('ruff')}")

    async def _diagnosed(self, request: Diagnose, texts: Mapping[str, str]) -> AssistRun:
        check = Check(version=request.version, language=request.language, tools=("ruff", "mypy", "servers"))
        found = CheckRun.model_validate(await self.code.checks(check.model_dump(mode="json"), texts))
        lines = [f"line {each.line}: {each.message} ({each.tool} {each.rule})" for each in found.findings]
        return AssistRun(
            text="\n".join(lines),
            findings=found.findings,
            missing=found.missing,
            failed=found.failed,
            limits=found.limits,
            fingerprint=found.fingerprint,
        )

    async def _retrieved(self, request: Retrieve) -> AssistRun:
        debate_id = self.asking()
        if not debate_id:  # whose readers decide what may be recalled
            raise ToolError("Memory is asked by debates alone.")
        asker = Asker(debate_id=debate_id)
        if request.corpus in ("lessons", "episodes"):
            found, usage = await self.memory.learned(request.query, request.corpus, request.k, "", asker)
        else:
            found, usage = await self.memory.recall(request.query, request.corpus, request.k, asker)
        text = "\n\n".join(f"{each.title}\n{each.text}" for each in found.found)
        return AssistRun(
            text=text[:MAX_TEXT_CHARS],
            failed=(found.note,) if found.note else (),
            truncated=len(text) > MAX_TEXT_CHARS,
            tokens_in=usage.tokens_in,
            cost_usd=usage.cost_usd,
            fingerprint=found.by,
        )

    async def _used(self, request: UseServer, texts: Mapping[str, str]) -> AssistRun:
        artifacts = {name: text_of(sha256, texts) for name, sha256 in request.artifacts.items()}
        if clash := request.arguments.keys() & artifacts.keys():
            raise ToolError(f"The argument {min(clash)!r} is given twice.")
        said = await self.servers.use(request.tool, request.arguments, artifacts)
        return AssistRun(text=said.text, truncated=said.truncated, fingerprint=said.by)
