"""The tools that every app has. What they need is imported when one of them is first used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from moot.core.errors import InputError, ToolError
from moot.core.settings import LanguageServer, ToolServer
from moot.core.types import Json, Memory, Tool

NAMES = ("cases", "script", "checks", "snapshot", "repository", "assist")


def built_in(
    *,
    runners: Callable[[], Path],
    workspaces: Callable[[], Path],
    repositories: Callable[[], Path],
    memory: Memory,
    servers: Mapping[str, ToolServer],
    language_servers: Mapping[str, LanguageServer],
    environ: Mapping[str, str],
    asking: Callable[[], str],
) -> dict[str, Tool]:
    """The tools that run, check and keep code, and `assist`. `runners`: the user's own list of languages, which may not
    exist; `workspaces`: a folder for the workspaces of git; `repositories`: one for clones of users' repositories;
    `servers`: MCP servers that may be used; `language_servers`: those that check code; `asking`: the debate whose step
    is being executed."""

    @cache
    def made() -> dict[str, Tool]:
        from moot.tools.assist import Assistance
        from moot.tools.assist.servers import ToolServers
        from moot.tools.code import CodeTools
        from moot.tools.git.repositories import Repositories
        from moot.tools.git.snapshots import Snapshots
        from moot.tools.runners.declared import Runners
        from moot.tools.sandbox import PROCESS

        code = CodeTools(
            sandbox=PROCESS, runners=Runners(runners()), snapshots=Snapshots(workspaces), servers=language_servers
        )
        assistance = Assistance(code=code, memory=memory, servers=ToolServers(servers, environ), asking=asking)
        cloned = Repositories(root=repositories, sandbox=PROCESS, asking=asking)
        return {**code.by_name(), "repository": cloned.repository, "assist": assistance.assist}

    def tool(name: str) -> Tool:
        async def use(arguments: Json, texts: Mapping[str, str], /) -> Json:
            try:
                tools = await asyncio.to_thread(made)
            except InputError as problem:  # the user's list of languages
                raise ToolError(str(problem)) from None
            return await tools[name](arguments, texts)

        return use

    return {name: tool(name) for name in NAMES}
