"""The resources: records, transcripts, versions of code and reasoning templates, as Markdown."""

# pyright: reportUnusedFunction=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
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
    def of_debate(name: str, title: str, description: str, read: Callable[[Caller, str], Awaitable[str]]) -> None:
        @server.resource(
            f"moot://debates/{{debate_id}}/{name}",
            name=name,
            title=title,
            description=description,
            mime_type=_MARKDOWN,
        )
        async def resource(ctx: Context[Any, Any], debate_id: str) -> str:  # pyright: ignore[reportUnusedFunction]
            with _errors():
                return await read(caller_of(ctx), debate_id)

    of_debate("record", "Decision record", "The decision record of a completed debate", service.record)
    of_debate(
        "transcript", "Transcript", "What was said in a debate so far, without private thoughts", service.transcript
    )
    of_debate(
        "versions",
        "Versions of code",
        "Every version of code that a debate has written: how it did, what it changes, and the code",
        service.versions,
    )

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
