"""The tools, around a `ToolService`. Imports the SDK, which is slow."""

# pyright: reportUnusedFunction=false

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from moot import __version__
from moot.caller import Caller
from moot.core.errors import MootError
from moot.core.settings import MAX_TOPIC_CHARS
from moot.core.types import Json, Status
from moot.formats.format import Effort
from moot.mcp import prompts, resources
from moot.mcp.schemas import DebateList, DebateState, DebateStatus, FormatList, PastDecisions
from moot.mcp.server import ToolServer
from moot.mcp.service import MOST_SECONDS, ToolService, explained

INSTRUCTIONS = """\
moot lets several models argue a question out under rules, and keeps the decision. Start a debate with start_debate,
then call wait_for_debate until its status is completed; a debate takes minutes, goes on between the calls, and outlives
them. When it waits, it asks a person something: ask your user, and give the answer with answer_gate. read_record has
the decision in full. Before a new debate, search_decisions finds what was decided before.
"""

WAIT_SECONDS = 50.0  # most clients time a call out after a minute

DebateId = Annotated[str, Field(min_length=1, max_length=64, description="its id, or how that begins")]
CallerOf = Callable[[Context[Any, Any]], Caller]

_LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_SPENDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
_ENDS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


def make_server(service: ToolService, caller_of: CallerOf) -> MCPServer[Any]:
    """`caller_of`: identifies the caller of a request."""
    server = ToolServer("moot", title="moot", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    _add_running(server, service, caller_of)
    _add_deciding(server, service, caller_of)
    _add_looking(server, service, caller_of)
    resources.add(server, service, caller_of)
    prompts.add(server)
    return server


@contextmanager
def _as_tool_error() -> Generator[None]:
    """Raise moot's errors as tool errors, which the calling model reads."""
    try:
        yield
    except MootError as error:
        raise ToolError(explained(error)) from None


def _add(
    server: MCPServer[Any],
    tool: Callable[..., Any],
    title: str,
    hints: ToolAnnotations,
    choices: Mapping[str, Sequence[str]] = {},
    **more: Any,
) -> None:
    """`choices`: the values of arguments for which they are only known now."""
    for name, values in choices.items():
        about = _ABOUT[tool.__name__, name]
        tool.__annotations__[name] = Annotated[Literal[tuple(values)] | None, Field(description=about)]
    description = " ".join((tool.__doc__ or "").split())
    server.add_tool(tool, title=title, description=description, annotations=hints, **more)


_ABOUT = {
    ("start_debate", "format"): "the rules, or a preset; left out or auto: what suits the question",
    ("list_debates", "format"): "only of this format",
    ("list_formats", "format"): "also how this one goes, and its settings",
}


def _add_running(server: MCPServer[Any], service: ToolService, caller_of: CallerOf) -> None:
    async def start_debate(
        ctx: Context[Any, Any],
        question: Annotated[str, Field(min_length=1, max_length=MAX_TOPIC_CHARS, description="what to debate")],
        format: str | None = None,
        effort: Annotated[Effort | None, Field(description="how much is asked and checked")] = None,
        settings: Annotated[
            Json | None, Field(description="settings of the format: list_formats with `format` has them")
        ] = None,
        private: Annotated[bool, Field(description="show it to no other caller but admins")] = False,
        follows: Annotated[
            str | None, Field(max_length=64, description="a decided debate, to ask further with its answer known")
        ] = None,
        idempotency_key: Annotated[
            str | None,
            Field(
                min_length=1,
                max_length=200,
                description="any text of your own: a repeated call with the same key starts no second debate",
            ),
        ] = None,
    ) -> DebateState:
        """Start a debate between models. Returns at once with its id; the debate goes on by itself, and calls models
        that may cost money. Then call wait_for_debate."""
        with _as_tool_error():
            return await service.start(
                caller_of(ctx),
                question,
                format,
                settings or {},
                idempotency_key,
                effort,
                private=private,
                follows=follows,
            )

    async def wait_for_debate(
        ctx: Context[Any, Any],
        debate_id: DebateId,
        seconds: Annotated[
            float, Field(ge=0, le=MOST_SECONDS, description="how long at most; the debate goes on afterwards")
        ] = WAIT_SECONDS,
    ) -> DebateStatus:
        """Wait until a debate is decided, asks something or stops, but no longer than `seconds`; with progress
        notifications. Call it again while the status is running."""
        with _as_tool_error():
            return await service.wait(caller_of(ctx), debate_id, seconds, ctx.report_progress)

    async def stop_debate(ctx: Context[Any, Any], debate_id: DebateId) -> DebateState:
        """Stop a debate after the step in progress. It can be resumed."""
        with _as_tool_error():
            return await service.stop(caller_of(ctx), debate_id)

    async def resume_debate(ctx: Context[Any, Any], debate_id: DebateId) -> DebateState:
        """Continue a debate that was stopped or that failed. Finished steps are not repeated."""
        with _as_tool_error():
            return await service.resume(caller_of(ctx), debate_id)

    async def cancel_debate(ctx: Context[Any, Any], debate_id: DebateId) -> DebateState:
        """End a debate for good, without a verdict."""
        with _as_tool_error():
            return await service.cancel(caller_of(ctx), debate_id)

    async def label_debate(
        ctx: Context[Any, Any],
        debate_id: DebateId,
        title: Annotated[str | None, Field(description="empty: its question")] = None,
        pinned: Annotated[bool | None, Field(description="lists have it on top")] = None,
        archived: Annotated[bool | None, Field(description="lists leave it out")] = None,
        tags: Annotated[list[str] | None, Field(description="all that it is to have")] = None,
    ) -> str:
        """Rename, pin, archive or tag a debate. What is left out stays."""
        with _as_tool_error():
            return await service.label(caller_of(ctx), debate_id, title, pinned, archived, tags)

    _add(server, start_debate, "Start a debate", _SPENDS, {"format": service.names})
    _add(server, wait_for_debate, "Wait for a debate", _LOOKS)
    _add(server, stop_debate, "Stop a debate", _CHANGES)
    _add(server, resume_debate, "Resume a debate", _SPENDS)
    _add(server, cancel_debate, "Cancel a debate", _ENDS)
    _add(server, label_debate, "Label a debate", _CHANGES, structured_output=False)


def _add_deciding(server: MCPServer[Any], service: ToolService, caller_of: CallerOf) -> None:
    async def answer_gate(
        ctx: Context[Any, Any],
        debate_id: DebateId,
        choice: Annotated[str | None, Field(description="one of the question's choices, where it has some")] = None,
        text: Annotated[
            str, Field(max_length=20_000, description="words, where the question or choice needs them")
        ] = "",
        key: Annotated[str | None, Field(description="which question, when several are open")] = None,
    ) -> DebateState:
        """Answer what a debate asks a person, and let it go on. Ask your user first: it is their decision. A question
        is answered once."""
        with _as_tool_error():
            return await service.answer(caller_of(ctx), debate_id, choice, text, key)

    async def guide_debate(
        ctx: Context[Any, Any],
        debate_id: DebateId,
        text: Annotated[str, Field(min_length=1, max_length=20_000, description="the guidance")],
    ) -> DebateState:
        """Say something to a debate while it runs or rests. Every participant reads it before its next answer."""
        with _as_tool_error():
            return await service.guide(caller_of(ctx), debate_id, text)

    _add(server, answer_gate, "Answer what a debate asks", _SPENDS)
    _add(server, guide_debate, "Guide a debate", _CHANGES)


def _add_looking(server: MCPServer[Any], service: ToolService, caller_of: CallerOf) -> None:
    async def debate_status(ctx: Context[Any, Any], debate_id: DebateId) -> DebateStatus:
        """The state of a debate: its status, open questions and outcome."""
        with _as_tool_error():
            return await service.status(caller_of(ctx), debate_id)

    async def list_debates(
        ctx: Context[Any, Any],
        status: Annotated[Status | None, Field(description="only with this status")] = None,
        format: str | None = None,
        contains: Annotated[
            str | None, Field(max_length=200, description="only questions with this text, in any case")
        ] = None,
        tag: Annotated[str | None, Field(description="only with this tag")] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
        after: Annotated[str | None, Field(max_length=200, description="`next` of the list before")] = None,
    ) -> DebateList:
        """List debates, newest first."""
        with _as_tool_error():
            return await service.page(caller_of(ctx), status, format, contains, tag, limit, after)

    async def search_decisions(
        ctx: Context[Any, Any],
        query: Annotated[str, Field(min_length=1, max_length=1000, description="words, or a whole question")],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> PastDecisions:
        """Find what was decided before, by words and meaning."""
        with _as_tool_error():
            return await service.search(caller_of(ctx), query, limit)

    async def list_formats(format: str | None = None) -> FormatList:
        """The formats of debates and what each is for. With `format`, also the settings of that one."""
        with _as_tool_error():
            return service.formats(format)

    async def read_record(ctx: Context[Any, Any], debate_id: DebateId) -> str:
        """The decision record of a completed debate, in Markdown: what was decided and why, the arguments, dissent."""
        with _as_tool_error():
            return await service.record(caller_of(ctx), debate_id)

    _add(server, debate_status, "State of a debate", _LOOKS)
    _add(server, list_debates, "List debates", _LOOKS, {"format": service.format_names})
    _add(server, search_decisions, "Search past decisions", _LOOKS)
    _add(server, list_formats, "List formats", _LOOKS, {"format": service.format_names})
    _add(server, read_record, "Read a decision record", _LOOKS, structured_output=False)
