"""The resources: records, transcripts, versions of code and reasoning templates, as Markdown."""

# pyright: reportUnusedFunction=false

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError

from moot.caller import Caller
from moot.core.errors import InputError, MootError, NoSuchDebate
from moot.mcp.server import NoSuchResource
from moot.mcp.service import ToolService, explained

_MARKDOWN = "text/markdown"


def add(server: MCPServer[Any], service: ToolService, caller_of: Callable[[Context[Any, Any]], Caller]) -> None:
    @server.resource(
        "moot://debates/{debate_id}/record",
        name="record",
        title="Decision record",
        description="The decision record of a completed debate",
        mime_type=_MARKDOWN,
    )
    async def record(ctx: Context[Any, Any], debate_id: str) -> str:
        with _errors():
            return await service.record(caller_of(ctx), debate_id)

    @server.resource(
        "moot://debates/{debate_id}/transcript",
        name="transcript",
        title="Transcript",
        description="What was said in a debate so far, without private thoughts",
        mime_type=_MARKDOWN,
    )
    async def transcript(ctx: Context[Any, Any], debate_id: str) -> str:
        with _errors():
            return await service.transcript(caller_of(ctx), debate_id)

    @server.resource(
        "moot://debates/{debate_id}/versions",
        name="versions",
        title="Versions of code",
        description="Every version of code that a debate has written: how it did, what it changes, and the code",
        mime_type=_MARKDOWN,
    )
    async def versions(ctx: Context[Any, Any], debate_id: str) -> str:
        with _errors():
            return await service.versions(caller_of(ctx), debate_id)

    @server.resource(
        "moot://templates",
        name="templates",
        title="Reasoning templates",
        description="The reasoning templates that formats can draw on",
        mime_type=_MARKDOWN,
    )
    def templates() -> str:
        return service.templates()

    @server.resource(
        "moot://templates/{template_id}",
        name="template",
        title="Reasoning template",
        description="One reasoning template, with its text",
        mime_type=_MARKDOWN,
    )
    def template(template_id: str) -> str:
        try:
            return service.app.memory.library.get(template_id).text
        except InputError as error:
            raise NoSuchResource(explained(error)) from None


@contextmanager
def _errors() -> Generator[None]:
    """Raise moot's errors as those of a resource, in a model's words."""
    try:
        yield
    except MootError as error:
        kind = NoSuchResource if isinstance(error, NoSuchDebate) else ResourceError
        raise kind(explained(error)) from None
