"""The MCP server: tools and resources around a `ToolService`. Imports the SDK, which is slow."""

# pyright: reportUnusedFunction=false

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, Any, cast

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field, ValidationError

from moot import __version__
from moot.core.errors import InputError, MootError, UnknownName
from moot.core.explaining import Details, found_in
from moot.core.settings import MAX_TOPIC_CHARS
from moot.core.types import Json, Status
from moot.formats.format import Effort
from moot.mcp.schemas import DebateList, DebateStatus, FormatList, PastDecisions
from moot.mcp.service import MOST_SECONDS, Caller, ToolService, explained

INSTRUCTIONS = """\
moot lets several models argue a question out under rules, and keeps the decision. Start a debate with start_debate,
then call wait_for_debate until its status is completed; a debate takes minutes, goes on between the calls, and outlives
them. When it waits, it asks a person something: ask your user, and give the answer with answer_gate. read_record has
the decision in full. Before a new debate, search_decisions finds what was decided before.
"""

WAIT_SECONDS = 50.0  # most clients time a call out after a minute

DebateId = Annotated[str, Field(min_length=1, max_length=64, description="the debate's id, or the beginning of it")]
CallerOf = Callable[[Context[Any, Any]], Caller]

_LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_SPENDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
_ENDS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


@contextmanager
def _as_tool_error() -> Generator[None]:
    """Raise moot's errors as tool errors, which the calling model reads."""
    try:
        yield
    except MootError as error:
        raise ToolError(explained(error)) from None


class ToolServer(MCPServer[Any]):
    """A server whose refusals are in moot's own words. The SDK ignores arguments that a tool does not have; this one
    refuses them: a setting that is not heard would be paid for."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        tools = self._tool_manager  # the SDK has no public way to look up a tool
        tool = tools.get_tool(name)
        if tool is None:
            known = [each.name for each in tools.list_tools()]
            raise ToolError(str(UnknownName("tool", name[:100], known)))
        shape = tool.fn_metadata.arg_model
        if strange := [each for each in arguments if each not in shape.model_fields]:
            raise ToolError(str(UnknownName(f"argument of {name}", strange[0][:100], shape.model_fields)))
        try:
            tool.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            mistakes = found_in(shape, cast("list[Details]", error.errors(include_url=False)))
            raise ToolError(". ".join(each.of("Argument") for each in mistakes) + ".") from None
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ToolError):
                raise error.__cause__ from None  # without the SDK's prefix
            raise


def make_server(service: ToolService, caller_of: CallerOf) -> MCPServer[Any]:
    """`caller_of`: identifies the caller of a request."""
    server = ToolServer("moot", title="moot", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    _add_running(server, service, caller_of)
    _add_deciding(server, service, caller_of)
    _add_looking(server, service, caller_of)
    _add_resources(server, service, caller_of)
    return server


def _add_running(server: MCPServer[Any], service: ToolService, caller_of: CallerOf) -> None:
    @server.tool(title="Start a debate", annotations=_SPENDS)
    async def start_debate(
        ctx: Context[Any, Any],
        question: Annotated[str, Field(min_length=1, max_length=MAX_TOPIC_CHARS, description="what to debate")],
        format: Annotated[
            str | None,
            Field(max_length=100, description="the rules, or a preset: see list_formats; by default, what suits it"),
        ] = None,
        effort: Annotated[Effort | None, Field(description="how much is asked and checked")] = None,
        settings: Annotated[Json | None, Field(description="settings of the format: see list_formats")] = None,
        idempotency_key: Annotated[
            str | None,
            Field(
                min_length=1,
                max_length=200,
                description="any text of your own: repeating the call with the same key starts no second debate",
            ),
        ] = None,
    ) -> DebateStatus:
        """Start a debate between models. Returns at once with its id; the debate runs on by itself and calls models
        that may cost money. Then call wait_for_debate. A call that may have to be repeated needs an
        idempotency_key, or it starts another debate."""
        with _as_tool_error():
            return await service.start(caller_of(ctx), question, format, settings or {}, idempotency_key, effort)

    @server.tool(title="Wait for a debate", annotations=_LOOKS)
    async def wait_for_debate(
        ctx: Context[Any, Any],
        debate_id: DebateId,
        seconds: Annotated[
            float, Field(ge=0, le=MOST_SECONDS, description="how long at most; the debate goes on afterwards")
        ] = WAIT_SECONDS,
    ) -> DebateStatus:
        """Wait until a debate is decided, asks something or stops, but no longer than `seconds`; with progress
        notifications. Returns its state. Call it again while the status is running."""

        async def report(done: float, what: str) -> None:
            await ctx.report_progress(done, message=what)

        with _as_tool_error():
            return await service.wait(caller_of(ctx), debate_id, seconds, report)

    @server.tool(title="Stop a debate", annotations=_CHANGES)
    async def stop_debate(ctx: Context[Any, Any], debate_id: DebateId) -> DebateStatus:
        """Stop a debate after the step in progress. It can be resumed."""
        with _as_tool_error():
            return await service.stop(caller_of(ctx), debate_id)

    @server.tool(title="Resume a debate", annotations=_SPENDS)
    async def resume_debate(ctx: Context[Any, Any], debate_id: DebateId) -> DebateStatus:
        """Continue a debate that was stopped or that failed. Finished steps are not repeated."""
        with _as_tool_error():
            return await service.resume(caller_of(ctx), debate_id)

    @server.tool(title="Cancel a debate", annotations=_ENDS)
    async def cancel_debate(ctx: Context[Any, Any], debate_id: DebateId) -> DebateStatus:
        """End a debate for good, without a verdict."""
        with _as_tool_error():
            return await service.cancel(caller_of(ctx), debate_id)


def _add_deciding(server: MCPServer[Any], service: ToolService, caller_of: CallerOf) -> None:
    @server.tool(title="Answer what a debate asks", annotations=_SPENDS)
    async def answer_gate(
        ctx: Context[Any, Any],
        debate_id: DebateId,
        choice: Annotated[str | None, Field(description="one of the question's choices, where it has some")] = None,
        text: Annotated[
            str, Field(max_length=20_000, description="words, where the question or choice needs them")
        ] = "",
        key: Annotated[str | None, Field(description="which question, when several are open")] = None,
    ) -> DebateStatus:
        """Answer what a debate asks a person (a checkpoint, a clarification, an approval), and let it go on. Ask your
        user first: it is their decision. A question is answered once."""
        with _as_tool_error():
            return await service.answer(caller_of(ctx), debate_id, choice, text, key)

    @server.tool(title="Guide a debate", annotations=_CHANGES)
    async def guide_debate(
        ctx: Context[Any, Any],
        debate_id: DebateId,
        text: Annotated[str, Field(min_length=1, max_length=20_000, description="the guidance")],
    ) -> DebateStatus:
        """Say something to a debate while it runs or rests. Every participant reads it before its next answer."""
        with _as_tool_error():
            return await service.guide(caller_of(ctx), debate_id, text)


def _add_looking(server: MCPServer[Any], service: ToolService, caller_of: CallerOf) -> None:
    @server.tool(title="State of a debate", annotations=_LOOKS)
    async def debate_status(ctx: Context[Any, Any], debate_id: DebateId) -> DebateStatus:
        """The state of a debate: its status, open questions and outcome."""
        with _as_tool_error():
            return await service.status(caller_of(ctx), debate_id)

    @server.tool(title="List debates", annotations=_LOOKS)
    async def list_debates(
        ctx: Context[Any, Any],
        status: Annotated[Status | None, Field(description="only with this status")] = None,
        format: Annotated[str | None, Field(description="only of this format")] = None,
        contains: Annotated[
            str | None, Field(max_length=200, description="only questions with this text, in upper or lower case")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
        after: Annotated[str | None, Field(max_length=200, description="`more` of the list before")] = None,
    ) -> DebateList:
        """List debates, newest first."""
        with _as_tool_error():
            return await service.page(caller_of(ctx), status, format, contains, limit, after)

    @server.tool(title="Search past decisions", annotations=_LOOKS)
    async def search_decisions(
        ctx: Context[Any, Any],
        query: Annotated[str, Field(min_length=1, max_length=1000, description="words, or a whole question")],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> PastDecisions:
        """Find what was decided before, by words and meaning."""
        with _as_tool_error():
            return await service.search(caller_of(ctx), query, limit)

    @server.tool(title="List formats", annotations=_LOOKS)
    async def list_formats() -> FormatList:
        """The formats of debates, what each is for, and its settings with their defaults."""
        return service.formats()

    @server.tool(title="Read a decision record", annotations=_LOOKS)
    async def read_record(ctx: Context[Any, Any], debate_id: DebateId) -> str:
        """The decision record of a completed debate, in Markdown: what was decided and why, the arguments, dissent."""
        with _as_tool_error():
            return await service.record(caller_of(ctx), debate_id)


def _add_resources(server: MCPServer[Any], service: ToolService, caller_of: CallerOf) -> None:
    @server.resource(
        "moot://debates/{debate_id}/record",
        name="record",
        title="Decision record",
        description="The decision record of a completed debate",
        mime_type="text/markdown",
    )
    async def record(ctx: Context[Any, Any], debate_id: str) -> str:
        try:
            return await service.record(caller_of(ctx), debate_id)
        except MootError as error:
            raise _resource_error(error) from None

    @server.resource(
        "moot://debates/{debate_id}/transcript",
        name="transcript",
        title="Transcript",
        description="What was said in a debate so far, without private thoughts",
        mime_type="text/markdown",
    )
    async def transcript(ctx: Context[Any, Any], debate_id: str) -> str:
        try:
            return await service.transcript(caller_of(ctx), debate_id)
        except MootError as error:
            raise _resource_error(error) from None

    @server.resource(
        "moot://templates",
        name="templates",
        title="Reasoning templates",
        description="The reasoning templates that formats can draw on",
        mime_type="text/markdown",
    )
    def templates() -> str:
        return service.templates()

    @server.resource(
        "moot://templates/{template_id}",
        name="template",
        title="Reasoning template",
        description="One reasoning template, with its text",
        mime_type="text/markdown",
    )
    def template(template_id: str) -> str:
        try:
            return service.app.memory.library.get(template_id).text
        except InputError as error:
            raise ResourceNotFoundError(str(error)) from None


def _resource_error(error: MootError) -> ResourceError:
    kind = ResourceNotFoundError if type(error) is InputError else ResourceError
    return kind(explained(error))
