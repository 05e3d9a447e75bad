"""What a client reads before it does anything: small, complete, and with the names that there are."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from moot import formats
from tests.mcp.test_mcp import DOCS, called, inside


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The tools by name, what list_formats returns, and what it returns of each format."""

    async def main() -> Any:
        async with inside(tmp_path_factory.mktemp("listed"), presets={"quick": {"format": "duel"}}) as client:
            found = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)
            each = {name: await called(client, "list_formats", format=name) for name in formats.installed()}
            return {tool["name"]: tool for tool in found["tools"]}, await called(client, "list_formats"), each

    return asyncio.run(main())


def size(value: object) -> int:
    """As it is on the wire."""
    return len(json.dumps(value, separators=(",", ":")))


def test_the_listing_is_small(listed: Any):
    tools, about, each = listed
    assert sum(size(tool.get("outputSchema")) for tool in tools.values()) + size(about) < 4800
    assert size(list(tools.values())) < 11_000
    assert max(size(one) for one in each.values()) < 4800


def test_formats_and_presets_are_choices(listed: Any):
    tools, about, each = listed
    takes = tools["start_debate"]["inputSchema"]["properties"]["format"]
    assert takes["enum"] == [formats.AUTO, *formats.installed(), "quick"]
    for name in ("list_debates", "list_formats"):
        assert tools[name]["inputSchema"]["properties"]["format"]["enum"] == list(formats.installed())
    assert set(about) == {"formats", "default", "presets"}
    assert set(about["formats"]) == set(formats.installed())
    for name, one in each.items():
        assert set(one["settings"]) == set(formats.get(name).settings.model_fields)
        assert all("(default: " in words for words in one["settings"].values())


async def test_a_debate_is_labelled_found_and_asked_further(tmp_path: Path):
    async with inside(tmp_path) as client:
        made = await called(client, "start_debate", question="Tea or coffee?", format="classic")
        state = await called(client, "wait_for_debate", debate_id=made["id"])  # the client validates it
        assert None not in state.values()
        text = (await client.call_tool("debate_status", {"debate_id": made["id"]})).content[0].text
        assert json.loads(text) == state
        assert "\n" not in text
        labels = {"tags": ["Drinks"], "title": "Cups", "pinned": True}
        said = await client.call_tool("label_debate", {"debate_id": made["id"], **labels})
        assert said.content[0].text == "“Cups” has tags drinks, pinned."
        again = await called(client, "start_debate", question="And at night?", follows=made["id"][:8])
        state = await called(client, "wait_for_debate", debate_id=again["id"])
        assert state["question"] == "And at night? (asked after “Tea or coffee?”)"
        (found,) = (await called(client, "list_debates", tag="drinks"))["debates"]
        assert found["id"] == made["id"]


async def test_prompts_say_what_to_call_and_carry_what_was_given(tmp_path: Path):
    async def prompt(client: Client, name: str, **given: str) -> str:
        [message] = (await client.get_prompt(name, given)).messages
        assert message.role == "user"
        return message.content.text

    async with inside(tmp_path) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        prompts = (await client.list_prompts()).prompts
        for each in prompts:
            assert f"`{each.name}`" in DOCS
            assert each.description
            given = {argument.name: f"{argument.name} {{x}} %s" for argument in each.arguments}
            said = await prompt(client, each.name, **given)
            assert all(f"{name} {{x}} %s" in said for name in given)
            called_ = {tool for tool in tools if tool in said}
            assert called_ >= {"search_decisions", "start_debate", "wait_for_debate", "answer_gate", "read_record"}
            assert all(argument.description for argument in each.arguments)
        said = await prompt(client, "debate_question", question="Tea or coffee?")
        assert all(f"- {name}: {format_.purpose}" in said for name, format_ in formats.installed().items())
