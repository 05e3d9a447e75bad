"""The MCP server: the SDK's, with small schemas and results, and with refusals in moot's own words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from mcp.server import MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    TextContent,
    Tool,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from moot.core.explaining import Details, Mistake, found_in, sentence
from moot.core.types import Json
from moot.mcp.schemas import compact

_LONGEST = 100  # characters of a caller's name that an error repeats


class NoSuchResource(ResourceNotFoundError):
    """Raised by resources, in moot's words."""


class ToolServer(MCPServer[Any]):
    """Refuses arguments that a tool does not have, which the SDK ignores: a setting that is not heard would be paid
    for. An optional argument that is null counts as left out; results leave out what is null."""

    async def list_tools(self) -> list[Tool]:
        return [
            tool.model_copy(
                update={
                    "input_schema": compact(tool.input_schema),
                    "output_schema": tool.output_schema and compact(tool.output_schema, returned=True),
                }
            )
            for tool in await super().list_tools()
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        tools = self._tool_manager  # the SDK has no public way to look up a tool
        tool = tools.get_tool(name)
        if tool is None:
            known = ", ".join(sorted(each.name for each in tools.list_tools()))
            raise ToolError(f"There is no tool {name[:_LONGEST]!r}. The tools: {known}.")
        shape = tool.fn_metadata.arg_model
        _refuse_unknown(name, shape, arguments)
        optional = {each for each, field in shape.model_fields.items() if not field.is_required()}
        arguments = {each: value for each, value in arguments.items() if value is not None or each not in optional}
        try:
            tool.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            raise ToolError(_wrong(shape, error)) from None
        try:
            return _small(await super().call_tool(name, arguments, context))
        except ToolError as error:
            if isinstance(error.__cause__, ToolError):
                raise error.__cause__ from None  # without the SDK's prefix
            raise

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        prompt = self._prompt_manager.get_prompt(name)
        if prompt is None:
            known = ", ".join(each.name for each in self._prompt_manager.list_prompts())
            raise MCPError(INVALID_PARAMS, f"There is no prompt {name[:_LONGEST]!r}. The prompts: {known}.")
        takes = {each.name: each for each in prompt.arguments or ()}
        given = arguments or {}
        for strange in (each for each in given if each not in takes):
            raise MCPError(INVALID_PARAMS, _no_argument(name, strange, takes))
        for each in takes.values():
            if each.required and not str(given.get(each.name, "")).strip():
                raise MCPError(INVALID_PARAMS, f"`{each.name}` is missing: {each.description}.")
        return await super().get_prompt(name, given, context)

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        try:
            return await super().read_resource(uri, context)
        except ResourceNotFoundError as error:
            if isinstance(error, NoSuchResource):
                raise
            known = [each.uri for each in await self.list_resources()]
            known += [each.uri_template for each in await self.list_resource_templates()]
            address = str(uri)[:_LONGEST]
            raise NoSuchResource(f"There is no resource {address!r}. The resources: {', '.join(known)}.") from None


def _refuse_unknown(tool: str, shape: type[BaseModel], arguments: Mapping[str, Any]) -> None:
    for strange in (each for each in arguments if each not in shape.model_fields):
        hint = " Settings of the format go into `settings`." if "settings" in shape.model_fields else ""
        raise ToolError(_no_argument(tool, strange, shape.model_fields) + hint)


def _no_argument(what: str, strange: str, takes: Iterable[str]) -> str:
    known = ", ".join(takes)
    return f"{what} has no argument {strange[:_LONGEST]!r}. " + (f"It takes: {known}." if known else "It takes none.")


def _wrong(shape: type[BaseModel], error: ValidationError) -> str:
    mistakes = found_in(shape, cast("list[Details]", error.errors(include_url=False)))
    return ". ".join(_said(shape, each) for each in mistakes) + "."


def _said(shape: type[BaseModel], mistake: Mistake) -> str:
    said = sentence(f"`{mistake.path}`", mistake.words)
    field = shape.model_fields.get(mistake.path)
    if mistake.value and mistake.words != "must not be empty":
        return f"{said}; it is {'null' if mistake.value == 'empty' else mistake.value}"
    return said if field is None or not field.description else f"{said}: {field.description}"


def _small(result: CallToolResult | InputRequiredResult) -> CallToolResult | InputRequiredResult:
    """The result without nulls. As text, its JSON takes one line."""
    if not isinstance(result, CallToolResult) or result.structured_content is None:
        return result
    kept = cast(Json, _without_nulls(result.structured_content))
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    content = [TextContent(type="text", text=text)]
    return result.model_copy(update={"content": content, "structured_content": kept})


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in cast(Json, value).items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in cast("list[Any]", value)]
    return value
