"""An MCP server for tests: `python -m tests.tools.serving [PORT]`, over stdio or HTTP."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("workbench", version="1.2")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} means nothing. Key: {os.environ.get('SECRET_KEY', 'none')}. Shared: {os.environ.get('SHARED', '')}."


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def long_text() -> str:
    """Say more than is wanted."""
    return "x" * 100_000


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def hang() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return ""


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def fail() -> str:
    """Fail."""
    raise ValueError("the bench is broken")


@server.tool()
def keep(text: str, copies: int = 1) -> str:
    """Keep a text: it does not say that it only reads."""
    return f"kept {len(text)} characters {copies} times"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def unlisted() -> str:
    """Not in anyone's configuration."""
    return "never"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
