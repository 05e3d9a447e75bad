"""The MCP server: tools and resources around a `Desk`. Importing this imports the SDK, which takes a while."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from moot import __version__
from moot.config import masked
from moot.errors import InputError, MootError
from moot.mcp.desk import MOST_SECONDS, Asker, Desk
from moot.mcp.shapes import Decisions, Formats, Listing, Standing
from moot.settings import MAX_TOPIC_CHARS
from moot.types import Json, Status

INSTRUCTIONS = """\
moot lets several models argue a question out under rules, and keeps the decision. Start a debate with start_debate,
then call wait_for_debate until its status is completed; a debate takes minutes, goes on between the calls, and outlives
them. When it waits, it asks a person something: ask your user, and give the answer with answer_gate. read_record has
the decision in full. Before a new debate, search_decisions finds what was decided before.
"""

WAIT_SECONDS = 50.0  # clients give a call a minute, as a rule

Id = Annotated[str, Field(min_length=1, max_length=64, description="the debate's id, or the beginning of it")]
Who = Callable[[Context[Any, Any]], Asker]

_LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_SPENDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
_ENDS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


@asynccontextmanager
async def _told() -> AsyncGenerator[None]:
    """What is wrong with a call is for the model that made it to read."""
    try:
        yield
    except MootError as error:
        raise ToolError(masked(str(error))) from None


def make_server(desk: Desk, who: Who) -> MCPServer[Any]:
    """`who` says who makes a call."""
    server: MCPServer[Any] = MCPServer(
        "moot", title="moot", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    _add_running(server, desk, who)
    _add_deciding(server, desk, who)
    _add_looking(server, desk)
    _add_resources(server, desk)
    return server


def _add_running(server: MCPServer[Any], desk: Desk, who: Who) -> None:
    @server.tool(title="Start a debate", annotations=_SPENDS)
    async def start_debate(  # pyright: ignore[reportUnusedFunction]
        ctx: Context[Any, Any],
        question: Annotated[str, Field(min_length=1, max_length=MAX_TOPIC_CHARS, description="what to debate")],
        format: Annotated[
            str | None, Field(max_length=100, description="the rules, or a preset: see list_formats")
        ] = None,
        settings: Annotated[Json | None, Field(description="settings of the format: see list_formats")] = None,
        idempotency_key: Annotated[
            str | None,
            Field(
                min_length=1,
                max_length=200,
                description="any text of your own: the same call with the same key starts one debate, however often it "
                "is made",
            ),
        ] = None,
    ) -> Standing:
        """Start a debate between models. Returns at once with its id; the debate runs on by itself and calls models
        that may cost money. Then call wait_for_debate. A call that may have to be repeated needs an
        idempotency_key, or it starts another debate."""
        async with _told():
            return await desk.start(who(ctx), question, format, settings or {}, idempotency_key)

    @server.tool(title="Wait for a debate", annotations=_LOOKS)
    async def wait_for_debate(  # pyright: ignore[reportUnusedFunction]
        ctx: Context[Any, Any],
        debate_id: Id,
        seconds: Annotated[
            float, Field(ge=0, le=MOST_SECONDS, description="how long at most; the debate goes on afterwards")
        ] = WAIT_SECONDS,
    ) -> Standing:
        """Wait until a debate is decided, asks something or stops, but no longer than `seconds`; with progress
        notifications. Gives where it stands. Call it again while the status is running."""

        async def tell(done: float, what: str) -> None:
            await ctx.report_progress(done, message=what)

        async with _told():
            return await desk.wait(debate_id, seconds, tell)

    @server.tool(title="Stop a debate", annotations=_CHANGES)
    async def stop_debate(ctx: Context[Any, Any], debate_id: Id) -> Standing:  # pyright: ignore[reportUnusedFunction]
        """Stop a debate after the step in progress. It can be resumed."""
        async with _told():
            return await desk.stop(who(ctx), debate_id)

    @server.tool(title="Resume a debate", annotations=_SPENDS)
    async def resume_debate(ctx: Context[Any, Any], debate_id: Id) -> Standing:  # pyright: ignore[reportUnusedFunction]
        """Let a debate go on that was stopped or that failed. Nothing that was said is said again."""
        async with _told():
            return await desk.resume(who(ctx), debate_id)

    @server.tool(title="Cancel a debate", annotations=_ENDS)
    async def cancel_debate(ctx: Context[Any, Any], debate_id: Id) -> Standing:  # pyright: ignore[reportUnusedFunction]
        """End a debate for good, without a verdict."""
        async with _told():
            return await desk.cancel(who(ctx), debate_id)


def _add_deciding(server: MCPServer[Any], desk: Desk, who: Who) -> None:
    @server.tool(title="Answer what a debate asks", annotations=_SPENDS)
    async def answer_gate(  # pyright: ignore[reportUnusedFunction]
        ctx: Context[Any, Any],
        debate_id: Id,
        choice: Annotated[str | None, Field(description="one of the question's choices, where it has some")] = None,
        text: Annotated[
            str, Field(max_length=20_000, description="words, where the question or choice needs them")
        ] = "",
        key: Annotated[str | None, Field(description="which question, when several are open")] = None,
    ) -> Standing:
        """Answer what a debate asks a person (a checkpoint, a clarification, an approval), and let it go on. Ask your
        user first: it is their decision. A question is answered once."""
        async with _told():
            return await desk.answer(who(ctx), debate_id, choice, text, key)

    @server.tool(title="Guide a debate", annotations=_CHANGES)
    async def guide_debate(  # pyright: ignore[reportUnusedFunction]
        ctx: Context[Any, Any],
        debate_id: Id,
        text: Annotated[str, Field(min_length=1, max_length=20_000, description="what it should look at")],
    ) -> Standing:
        """Say something to a debate while it runs or rests: whoever is asked next hears it."""
        async with _told():
            return await desk.guide(who(ctx), debate_id, text)


def _add_looking(server: MCPServer[Any], desk: Desk) -> None:
    @server.tool(title="Where a debate stands", annotations=_LOOKS)
    async def debate_status(debate_id: Id) -> Standing:  # pyright: ignore[reportUnusedFunction]
        """Where a debate stands: its status, what it asks, its outcome."""
        async with _told():
            return await desk.status(debate_id)

    @server.tool(title="List debates", annotations=_LOOKS)
    async def list_debates(  # pyright: ignore[reportUnusedFunction]
        status: Annotated[Status | None, Field(description="only with this status")] = None,
        format: Annotated[str | None, Field(description="only of this format")] = None,
        contains: Annotated[
            str | None, Field(max_length=200, description="only questions with this text, in upper or lower case")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
        after: Annotated[str | None, Field(max_length=200, description="`more` of the list before")] = None,
    ) -> Listing:
        """List debates, newest first."""
        async with _told():
            return await desk.page(status, format, contains, limit, after)

    @server.tool(title="Search past decisions", annotations=_LOOKS)
    async def search_decisions(  # pyright: ignore[reportUnusedFunction]
        query: Annotated[str, Field(min_length=1, max_length=1000, description="words, or a whole question")],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Decisions:
        """Find what was decided before, by words and meaning."""
        async with _told():
            return await desk.search(query, limit)

    @server.tool(title="List formats", annotations=_LOOKS)
    async def list_formats() -> Formats:  # pyright: ignore[reportUnusedFunction]
        """The formats of debates, what each is for, and its settings with their defaults."""
        return desk.formats()

    @server.tool(title="Read a decision record", annotations=_LOOKS)
    async def read_record(debate_id: Id) -> str:  # pyright: ignore[reportUnusedFunction]
        """The decision record of a completed debate, in Markdown: what was decided and why, the arguments, dissent."""
        async with _told():
            return await desk.record(debate_id)


def _add_resources(server: MCPServer[Any], desk: Desk) -> None:
    @server.resource(
        "moot://debates/{debate_id}/record",
        name="record",
        title="Decision record",
        description="The decision record of a completed debate",
        mime_type="text/markdown",
    )
    async def record(debate_id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        try:
            return await desk.record(debate_id)
        except MootError as error:
            raise _resource_error(error) from None

    @server.resource(
        "moot://debates/{debate_id}/transcript",
        name="transcript",
        title="Transcript",
        description="What was said in a debate so far, without private thoughts",
        mime_type="text/markdown",
    )
    async def transcript(debate_id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        try:
            return await desk.transcript(debate_id)
        except MootError as error:
            raise _resource_error(error) from None

    @server.resource(
        "moot://templates",
        name="templates",
        title="Reasoning templates",
        description="The reasoning templates that a crucible draws on",
        mime_type="text/markdown",
    )
    def templates() -> str:  # pyright: ignore[reportUnusedFunction]
        return desk.templates()

    @server.resource(
        "moot://templates/{template_id}",
        name="template",
        title="Reasoning template",
        description="One reasoning template, with its text",
        mime_type="text/markdown",
    )
    def template(template_id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        try:
            return desk.app.memory.library.get(template_id).text
        except InputError as error:
            raise ResourceNotFoundError(str(error)) from None


def _resource_error(error: MootError) -> ResourceError:
    kind = ResourceNotFoundError if type(error) is InputError else ResourceError
    return kind(masked(str(error)))
