"""Every refusal is in words that a model can act on: what is wrong, what there is to choose from, which tool helps."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from moot import formats
from moot.core.errors import NotWritable
from moot.core.explaining import _LIBRARY
from moot.mcp.service import explained
from moot.store.sqlite.writer import readable
from tests.mcp.test_mcp import QUESTION, awaited, called, inside, refused

PRESETS = {"quick": {"format": "duel", "settings": {"turns": 2}}}
WRONG = [5, True, 1.5, "", "no such thing", "x" * 30_000, [1], {"a": {"b": 1}}, None]

# What a validator, a shell or a programmer would say.
FOREIGN = re.compile(
    r"Input should|validation error|pydantic|\[type=|Field required|Traceback|Error executing"
    r"|`?\bmoot [a-z]+ |(?<!\w)--[a-z]|" + "|".join(sorted(each for each in _LIBRARY if "_" in each)),
)


def is_for_a_model(text: str) -> None:
    assert not FOREIGN.search(text), text
    assert text[-1] in ".?", text
    assert len(text) < 2000, text


async def test_whatever_is_wrong_with_an_argument_is_said_in_plain_words(tmp_path: Path):
    """Every tool, every argument, every kind of value."""
    async with inside(tmp_path, presets=PRESETS) as client:
        said: list[str] = []
        for tool in (await client.list_tools()).tools:
            takes = tool.input_schema.get("properties", {})
            base = {"debate_id": "0" * 36, "question": QUESTION, "query": "redis", "text": "x", "effort": "huge"}
            calls = [{}, {"nonsense": 1}]
            calls += [
                {**{each: base[each] for each in takes if each in base}, name: v} for name in takes for v in WRONG
            ]
            for arguments in calls:
                result = await client.call_tool(tool.name, arguments)
                if result.is_error:
                    said.append(result.content[0].text)
                    is_for_a_model(said[-1])
                else:  # `effort` is wrong in all but those where it is what varies
                    assert tool.name in ("list_debates", "list_formats", "search_decisions", "start_debate"), arguments
        assert len(said) > 150


async def test_what_is_missing_unknown_or_no_choice_is_said_with_what_there_is(tmp_path: Path):
    duell = f"`format` must be auto, {', '.join(formats.installed())} or quick; it is 'duell'."
    rounds = (
        "start_debate has no argument 'rounds'. It takes: question, format, effort, settings, private, "
        "follows, idempotency_key. Settings of the format go into `settings`."
    )
    nope = "There is no debate 'nope'. Look it up in the list of debates with list_debates."
    expected = [
        ("start_debate", {}, "`question` is missing: what to debate."),
        ("start_debate", {"question": None}, "`question` must be text; it is null."),
        ("start_debate", {"question": "x?", "rounds": 3}, rounds),
        ("start_debate", {"question": "x?", "format": "duell"}, duell),
        ("list_debates", {"limit": "many"}, "`limit` must be a whole number from 1 to 100; it is 'many'."),
        ("list_debates", {"after": "x"}, "'x' is not a page mark. Use the `next` of the page before, unchanged."),
        ("debate_status", {"debate_id": "nope"}, nope),
        ("stop_debate", {"id": "x"}, "stop_debate has no argument 'id'. It takes: debate_id."),
    ]
    async with inside(tmp_path, presets=PRESETS) as client:
        for tool, arguments, words in expected:
            assert await refused(client, tool, **arguments) == words
        wrong = await refused(client, "start_debate", question="x?", format="duel", settings={"turn": 2})
        assert wrong.startswith("There is no setting 'turn'. Did you mean 'turns'? Known: answer, answer_schema,")
        wrong = await refused(client, "start_debate", question="x?", settings={"model_judge": "openai:gpt-5"})
        assert "needs a key" in wrong
        is_for_a_model(wrong)
        nulls = dict.fromkeys(("status", "format", "limit", "after"))  # as good as left out
        assert await called(client, "list_debates", **nulls) == {"debates": []}
        tools = await refused(client, "start_debat", question="x?")
        assert tools.startswith("There is no tool 'start_debat'. The tools: answer_gate, cancel_debate,")


async def test_an_answer_that_a_question_does_not_take_is_refused_and_the_question_stays_open(tmp_path: Path):
    async with inside(tmp_path, model="sim:") as client:
        made = await called(client, "start_debate", question=QUESTION, format="panel", settings={"checkpoints": True})
        debate = {"debate_id": made["id"]}
        waits = await awaited(client, made["id"], "waiting")
        assert [each["choices"] for each in waits["asks"]] == [[]]
        for arguments in ({}, {"text": " "}, {"choice": "yes"}, {"text": "x", "key": "9/other/you"}):
            said = await refused(client, "answer_gate", **debate, **arguments)
            is_for_a_model(said)
            assert "text" in said or waits["asks"][0]["key"] in said
        assert (await called(client, "debate_status", **debate))["asks"] == waits["asks"]
        await called(client, "answer_gate", **debate, text="For a small shop.")
        waits = await awaited(client, made["id"], "waiting")
        for arguments in ({}, {"text": "hm"}, {"choice": "go"}):
            said = await refused(client, "answer_gate", **debate, **arguments)
            assert "must be one of: continue, guide, end." in said
        is_for_a_model(await refused(client, "answer_gate", **debate, choice="guide"))
        assert "waits for a person's answer. Give it with answer_gate" in await refused(client, "read_record", **debate)
        assert (await called(client, "answer_gate", **debate, choice="end"))["status"] in ("running", "completed")


async def test_a_debate_that_is_over_is_said_to_be_over(tmp_path: Path):
    async with inside(tmp_path, presets=PRESETS) as client:
        made = await called(client, "start_debate", question=QUESTION, format="quick")
        await awaited(client, made["id"])
        for tool in ("stop_debate", "resume_debate", "cancel_debate", "guide_debate", "answer_gate"):
            words = {"text": "x"} if tool in ("guide_debate", "answer_gate") else {}
            said = await refused(client, tool, debate_id=made["id"], **words)
            assert "is completed" in said
            assert said.endswith("Get its decision record with read_record.")
            is_for_a_model(said)


async def test_resources_and_prompts_that_are_not_there(tmp_path: Path):
    async with inside(tmp_path) as client:
        for address in ("moot://nope", "moot://debates/nope/record", "moot://templates/nope", "https://example.org/"):
            with pytest.raises(Exception, match="There is no (resource|debate|template)") as error:
                await client.read_resource(address)
            is_for_a_model(str(error.value))
        for name, arguments, words in (
            ("nope", {}, "There is no prompt 'nope'. The prompts: debate_question, stress_test_plan, second_opinion."),
            ("debate_question", {}, "`question` is missing: what to debate."),
            ("debate_question", {"question": " "}, "`question` is missing: what to debate."),
            ("second_opinion", {"plan": "x"}, "second_opinion has no argument 'plan'. It takes: decision, reasons."),
        ):
            with pytest.raises(Exception, match=re.escape(words)):
                await client.get_prompt(name, arguments)


def test_a_database_that_is_away_is_said_without_flags():
    error = readable(sqlite3.OperationalError("database is locked"))
    assert isinstance(error, NotWritable)
    is_for_a_model(explained(error))
