"""MCP tools that the operator has listed in `tool_servers`; no other is ever called."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from moot.core.errors import ToolError
from moot.core.settings import ToolServer
from moot.core.types import record

if TYPE_CHECKING:
    from mcp import Client

MOST_PAGES = 20  # of a server's list of tools
MAX_TEXT_CHARS = 64_000


@record
class Said:
    """What a tool of a server said."""

    text: str
    truncated: bool
    by: str  # name and version of the server


class ToolServers:
    def __init__(self, servers: Mapping[str, ToolServer], environ: Mapping[str, str]) -> None:
        self._servers, self._environ = servers, environ

    async def use(self, name: str, arguments: Mapping[str, Any], artifacts: Mapping[str, str]) -> Said:
        """Call `SERVER/TOOL`. Raises ToolError if the operator has not listed it, if it has effects that the operator
        does not allow, if it was to get free text in spite of them, or if it fails or takes too long."""
        server_name, _, tool = name.partition("/")
        server = self._servers.get(server_name)
        if server is None or tool not in server.tools:
            raise ToolError(f"The tool {name!r} is not among those that the operator has listed: {self._listed()}.")
        try:
            async with asyncio.timeout(server.timeout_seconds):
                return await self._used(server, name, tool, arguments, artifacts)
        except TimeoutError:
            raise ToolError(f"The tool {name!r} took longer than {server.timeout_seconds:g} s.") from None
        except Exception as error:
            cause = _first(error)
            if isinstance(cause, ToolError):
                raise cause from None
            said = f"{type(cause).__name__}: {cause}"[:300].rstrip(".: ")
            raise ToolError(f"The tool {name!r} can't be used: {said}.") from error

    async def _used(
        self, server: ToolServer, name: str, tool: str, arguments: Mapping[str, Any], artifacts: Mapping[str, str]
    ) -> Said:
        async with self._connected(server) as client:
            if not await _reads_only(client, name, tool):
                _check_effects(server, name, tool, arguments)
            result = await client.call_tool(tool, {**arguments, **artifacts})
            text = "\n".join(block.text for block in result.content if block.type == "text")
            if result.is_error:
                raise ToolError(f"The tool {name!r} failed: {' '.join(text.split())[:400] or 'it does not say why'}.")
            about = client.server_info
            by = f"{about.name} {about.version}".strip() if about else ""
            return Said(text=text[:MAX_TEXT_CHARS], truncated=len(text) > MAX_TEXT_CHARS, by=by)

    @asynccontextmanager
    async def _connected(self, server: ToolServer) -> AsyncGenerator[Client]:
        import httpx2
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        async with AsyncExitStack() as stack:
            if server.url is not None:
                key = self._environ.get(server.token_variable, "")
                headers = {"Authorization": f"Bearer {key}"} if key else {}
                http = await stack.enter_async_context(
                    httpx2.AsyncClient(headers=headers, timeout=server.timeout_seconds)
                )
                transport = streamable_http_client(server.url, http_client=http)
            else:
                given = {name: self._environ[name] for name in server.environment if name in self._environ}
                parameters = StdioServerParameters(command=server.command[0], args=[*server.command[1:]], env=given)
                silent = stack.enter_context(_silence())
                transport = stdio_client(parameters, errlog=silent)
            yield await stack.enter_async_context(Client(transport))

    def _listed(self) -> str:
        names = [f"{name}/{tool}" for name, server in self._servers.items() for tool in server.tools]
        return ", ".join(names) or "none"


async def _reads_only(client: Client, name: str, tool: str) -> bool:
    """Whether the server says that a tool only reads. Raises ToolError if it has none of that name."""
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for each in page.tools:
            if each.name == tool:
                return each.annotations is not None and each.annotations.read_only_hint is True
        cursor = page.next_cursor
        if cursor is None:
            break
    raise ToolError(f"The server of the tool {name!r} has no tool of that name.")


def _check_effects(server: ToolServer, name: str, tool: str, arguments: Mapping[str, Any]) -> None:
    if tool not in server.effects:
        raise ToolError(f"The tool {name!r} may change something, and the operator allows it only to read.")
    if any(isinstance(value, str) for value in arguments.values()):
        raise ToolError(f"The tool {name!r} may change something, so it gets texts as artifacts and no words.")


def _first(error: BaseException) -> BaseException:
    """What was raised first, where task groups have wrapped it."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _silence() -> TextIO:
    """Where a server's own messages go."""
    return Path(os.devnull).open("w")
