"""A forge with real tools: code of simulated engineers runs in the sandbox."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing, suppress
from typing import Any

import pytest

from moot.app import App
from moot.client import creating, documents
from moot.core.errors import ToolError, WrongStatus
from moot.core.types import UNDECIDED, Debate
from moot.corpus import tasks
from moot.request import Request
from moot.runtime.replay import rerun
from tests.postgres import execute
from tests.running import an_app, run_to_rest

pytestmark = pytest.mark.slow

TASK = next(iter(tasks()))
SKILLED = "sim:?seed=3&skill=1&cases=1&repair=1&red=1"


async def new_forge(app: App, model: str = SKILLED, **settings: Any) -> Debate:
    chosen = {"model_debater": model, "model_judge": model, "clarify": "judge", **settings}
    return await creating.create(app, app.plan(Request(topic=TASK.spec, format="forge", settings=chosen)))


async def test_a_default_forge_ends_within_its_calls_and_replays(app: App) -> None:
    ended = await run_to_rest(app, await new_forge(app))
    assert ended.status == "completed", ended.error
    assert ended.outcome is not None
    assert ended.outcome.answer is not None
    assert ended.outcome.answer.kind == "code"
    assert "tests that count" in ended.outcome.headline
    turns = await app.runtime.store.turns(ended.id)
    calls = sum(1 + len(turn.metadata.get("attempts", ())) for turn in turns if turn.kind == "ask")
    assert calls <= 39
    versions = await app.runtime.store.versions(ended.id)
    assert ended.outcome.answer.value in [each.code for each in versions]
    again = rerun(app.formats["forge"], ended, turns)
    assert again.outcome == ended.outcome


EVIDENCE = """select key, kind, tool_calls, test_results, reflections from debate_turns
    where tool_calls is not null or test_results is not null or reflections is not null order by seq"""


async def test_the_evidence_of_a_turn_is_in_columns_of_its_own(tmp_path, database) -> None:
    async with an_app(tmp_path, database_url=database) as app:
        model = "sim:?seed=4&skill=.3&cases=.9&repair=.5&red=1"  # its engineers repair
        ended = await run_to_rest(app, await new_forge(app, model, preset="quick", hooks=[]))
        assert ended.status == "completed", ended.error
        turns = await app.runtime.store.turns(ended.id)
        audited = (await documents.audit(app, ended.id))["turns"]
    kept: list[Any] = [(each.key, each.kind, each.tool_calls, each.test_results, each.reflections) for each in turns]
    assert kept == [(t["key"], t["kind"], t["tool_calls"], t["test_results"], t["reflections"]) for t in audited]
    kept = [each for each in kept if any(each[2:])]
    if "://" in database:
        rows = [tuple(row) for row in await asyncio.to_thread(execute, database, EVIDENCE)]
    else:
        with closing(sqlite3.connect(database)) as reader:
            rows = reader.execute(EVIDENCE).fetchall()
    assert kept == [(*row[:2], *(None if text is None else json.loads(text) for text in row[2:])) for row in rows]
    assert {kind for _, kind, *_ in kept} == {"use", "ask"}
    for _, kind, calls, cases, reflections in kept:
        if kind == "use":
            (call,) = calls
            assert (call["tool"], call["exit"], reflections) == ("cases", "ended", None)
            assert len(call["request"]) == 64
            assert call["limits"]["memory_bytes"] > 0
            assert cases
            assert all(each.keys() == {"case", "outcome", "got"} for each in cases)
        else:
            (reflection,) = reflections
            assert calls is cases is None
            assert reflection.keys() == {"root_cause", "went_wrong", "change_next", "confidence"}


async def test_cheats_win_nothing(app: App) -> None:
    model = "sim:?seed=5&skill=0&cases=1&repair=0&red=1&cheat=1"
    ended = await run_to_rest(app, await new_forge(app, model, preset="quick", attempts=0, hooks=[]))
    assert ended.status == "completed", ended.error
    assert ended.outcome is not None
    assert ended.outcome.winner == UNDECIDED
    assert ended.outcome.answer is None


async def test_interrupted_after_every_step_and_resumed_elsewhere_it_comes_out_the_same(app: App, tmp_path) -> None:
    whole = await run_to_rest(app, await new_forge(app, preset="quick", hooks=[]))
    (tmp_path / "pieces").mkdir()
    async with an_app(tmp_path / "pieces") as first:
        debate = await new_forge(first, preset="quick", hooks=[])
    verb = "start"
    while not debate.terminal:
        async with an_app(tmp_path / "pieces") as other:
            await getattr(other.runtime, verb)(debate.id)
            verb = "resume"
            with suppress(WrongStatus):  # it has ended meanwhile
                await other.runtime.stop(debate.id)  # after the steps in progress
            debate = await other.runtime.wait(debate.id)
            assert debate.terminal or debate.status == "stopped"
    assert debate.outcome is not None
    assert debate.outcome == whole.outcome
    assert debate.turn_count == whole.turn_count


async def test_a_sandbox_that_fails_leaves_the_debate_failed_and_is_never_held_against_the_code(app: App) -> None:
    works = app.tools["cases"]

    async def broken(arguments: Any, texts: Any, /) -> Any:
        raise ToolError("The sandbox is gone.")

    app.tools["cases"] = broken
    failed = await run_to_rest(app, await new_forge(app, preset="quick", hooks=[]))
    assert failed.status == "failed"
    assert failed.error is not None
    assert "sandbox is gone" in failed.error.message
    app.tools["cases"] = works
    await app.runtime.retry(failed.id)
    ended = await app.runtime.wait(failed.id)
    assert ended.status == "completed"
    assert ended.outcome is not None
    assert ended.outcome.answer is not None
