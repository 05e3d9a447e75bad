"""Use steps: a tool runs once per step, is repeated only when its process died first, and never in a replay."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from moot import formats
from moot.client import creating, documents
from moot.core.errors import ToolError
from moot.core.script import Stage, together
from moot.core.settings import DebateSettings
from moot.core.steps import Failed
from moot.core.types import Answer, Json, Outcome
from moot.request import Request
from moot.runtime.replay import prove, rerun
from moot.runtime.runtime import Runtime
from moot.server.estimate import estimated
from tests.running import an_app, run_to_rest, until
from tests.runtime.calls import words
from tests.runtime.small import a_format, a_runtime, outcome, run

USES = ["1/first/count", "2/second/count", "3/left/count", "3/right/count"]


class WordCount(Answer):
    words: int

    def prose(self) -> str:
        return f"{self.words} words."


class CountWords:
    """A tool that logs each run. It never returns from run number `hang_at`."""

    def __init__(self, log: Path | None = None, hang_at: int = 0) -> None:
        self.log, self.hang_at, self.runs = log, hang_at, 0

    async def __call__(self, arguments: Json, texts: Mapping[str, str], /) -> Json:
        self.runs += 1
        if self.log is not None:
            with self.log.open("a") as log:
                log.write(f"{arguments['text']}\n")
        if self.runs == self.hang_at:
            await asyncio.Event().wait()
        return {"words": len(arguments["text"].split())}


async def counting(stage: Stage, settings: DebateSettings) -> Outcome:
    """Two uses one after the other, then two at once, each with what was counted before."""
    first = await stage.use("count", "first", {"text": "a b c"}, returns=WordCount, round=1, shows="COUNT")
    text = " ".join("x" * first.words)
    second = await stage.use("count", "second", {"text": text}, returns=WordCount, round=2, shows="COUNT")
    left, right = await together(
        stage.use("count", "left", {"text": f"left {second.words}"}, returns=WordCount, round=3, shows="COUNT"),
        stage.use("count", "right", {"text": f"right of {second.words}"}, returns=WordCount, round=3, shows="COUNT"),
    )
    return outcome("tie", f"Counted {first.words}, {second.words}, {left.words} and {right.words}.")


class LenientSettings(DebateSettings):
    tolerant: bool = False


async def measuring(stage: Stage, settings: LenientSettings) -> Outcome:
    """One use of a tool that may fail."""
    if not settings.tolerant:
        measured = await stage.use("measure", "measure", {"text": "a"}, returns=WordCount)
        return outcome("tie", f"{measured.words} measured.")
    tried = await stage.use("measure", "measure", {"text": "a"}, returns=WordCount, tolerant=True)
    if isinstance(tried, Failed):
        return outcome("undecided", f"{tried.failure.kind}: {tried.failure.message}")
    return outcome("tie", f"{tried.words} measured.")


COUNTING = a_format(counting, events=("COUNT",))
MEASURING = a_format(measuring, settings=LenientSettings, events=())


@pytest.fixture
def tool() -> CountWords:
    return CountWords()


@pytest.fixture
def runtime(opened, tmp_path, tool) -> Runtime:
    return opened(a_runtime(tmp_path, COUNTING, tools={"count": tool}))


async def test_a_tool_runs_and_its_result_is_a_turn(runtime, tool):
    done = await run(runtime, COUNTING)
    assert done.outcome is not None, done.error
    assert done.outcome.headline == "Counted 3, 3, 2 and 3."
    turns = {turn.key: turn for turn in await runtime.store.turns(done.id)}
    assert sorted(turns) == sorted(USES)
    first = turns["1/first/count"]
    assert (first.kind, first.data, first.content) == ("use", {"words": 3}, "3 words.")
    assert (first.model, first.provider, first.tokens_out, first.cost_usd) == ("count", "tool", 0, 0.0)
    assert (first.metadata["tool"], first.metadata["arguments"]) == ("count", {"text": "a b c"})
    (call,) = first.tool_calls or ()
    assert call.pop("duration_ms") >= 0
    request = hashlib.sha256(b'{"text": "a b c"}').hexdigest()
    nothing = dict.fromkeys(("limits", "fingerprint", "code"))
    assert call == {"tool": "count", "request": request, "exit": "ended", **nothing}
    assert tool.runs == 4


async def test_a_replay_runs_no_tool_and_gives_the_same_bytes(runtime, tool):
    done = await run(runtime, COUNTING)
    turns, events = await runtime.store.turns(done.id), await runtime.store.events(done.id)
    proof = prove(COUNTING, done, turns, events)
    assert proof.same
    assert proof.replayed == await words(runtime.store, done)
    assert rerun(COUNTING, done, turns).steps["2/second/count"].messages[0].text == '{"text": "x x x"}'
    assert tool.runs == 4
    changed = [turn if turn.key != USES[-1] else replace(turn, data={"words": 9}) for turn in turns]
    assert not prove(COUNTING, done, changed, events).same


async def test_a_fork_copies_the_uses_before_it(runtime, tool):
    parent = await run(runtime, COUNTING)
    fork = await runtime.fork(parent, at="2/second/count", format=COUNTING, config=parent.config, cast=parent.cast)
    await runtime.start(fork.id)
    done = await runtime.wait(fork.id)
    assert done.outcome == parent.outcome
    turns = await runtime.store.turns(done.id)
    assert turns[0] == (await runtime.store.turns(parent.id))[0]
    assert tool.runs == 4 + 3
    assert prove(COUNTING, done, turns, await runtime.store.events(done.id)).same


async def test_an_audit_has_the_tool_its_arguments_and_its_result(tmp_path, tool):
    with formats.DOOR.adding(COUNTING.name, COUNTING):
        async with an_app(tmp_path) as app:
            app.tools["count"] = tool
            plan = app.plan(Request(topic="t", format="counting"))
            estimate = await estimated(app, plan)
            assert estimate.full_length.calls == 0  # no model is called
            assert tool.runs == 0  # the results of tools are made up
            assert not any("calls were counted" in note for note in estimate.notes)  # it came to the end of the rules
            done = await run_to_rest(app, await creating.create(app, plan))
            used = (await documents.audit(app, done.id))["turns"][1]
            assert (used["metadata"]["tool"], used["metadata"]["arguments"]) == ("count", {"text": "x x x"})
            assert len(used["tool_calls"]) == 1
            assert (used["kind"], used["model"], used["data"]) == ("use", "count", {"words": 3})
            assert used["messages"] == [{"role": "user", "text": '{"text": "x x x"}'}]
            assert (await documents.prove(app, done.id)).same


async def refuses(arguments: Json, texts: Mapping[str, str], /) -> Json:
    raise ToolError("The scales are broken; repair them.")


async def answers_nonsense(arguments: Json, texts: Mapping[str, str], /) -> Json:
    return {"words": "many"}


async def works(arguments: Json, texts: Mapping[str, str], /) -> Json:
    return {"words": 1}


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (refuses, "The scales are broken; repair them."),
        (answers_nonsense, "The tool 'measure' gave a result that can't be read: words must be a whole number"),
        (None, "This process has no tool 'measure'; it has count."),
    ],
    ids=["refuses", "nonsense", "missing"],
)
async def test_a_failed_tool_is_given_to_a_tolerant_step(tmp_path, tool, message):
    tools = {"count": works, **({"measure": tool} if tool else {})}
    async with a_runtime(tmp_path, MEASURING, tools=tools) as runtime:
        done = await run(runtime, MEASURING, tolerant=True)
        assert done.outcome is not None, done.error
        assert done.outcome.headline.startswith(f"tool: {message}")
        (turn,) = await runtime.store.turns(done.id)
        assert turn.failure is not None
        assert (turn.failure.kind, turn.metadata["tool"]) == ("tool", "measure")
        calls = [(call["tool"], call["exit"]) for call in turn.tool_calls or ()]
        assert calls == ([("measure", "failed")] if tool else [])
        assert prove(MEASURING, done, [turn], await runtime.store.events(done.id)).same


async def test_a_tool_that_is_not_installed_fails_the_debate_until_it_is(tmp_path):
    tools = {}
    async with a_runtime(tmp_path, MEASURING, tools=tools) as runtime:
        failed = await run(runtime, MEASURING)
        assert (failed.status, failed.turn_count, failed.cursor.open) == ("failed", 0, ("0/measure/measure",))
        assert failed.error is not None
        assert failed.error.message == "This process has no tool 'measure'; it has none."
        tools["measure"] = works
        await runtime.retry(failed.id)
        done = await runtime.wait(failed.id)
        assert done.outcome is not None, done.error
        assert done.outcome.headline == "1 measured."


PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.runtime.small import a_runtime, created
from tests.runtime.test_tools import COUNTING, CountWords
async def main():
    folder, hang_at = Path(sys.argv[1]), int(sys.argv[2])
    tools = {"count": CountWords(folder / "runs.log", hang_at)}
    async with a_runtime(folder, COUNTING, tools=tools) as runtime:
        debate = await created(runtime, COUNTING)
        await runtime.start(debate.id)
        print(debate.id, flush=True)
        await runtime.wait(debate.id)
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("hang_at", [1, 2, 3, 4])
async def test_a_killed_process_repeats_only_the_unfinished_uses(tmp_path, hang_at):
    log = tmp_path / "runs.log"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(hang_at)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        debate_id = process.stdout.readline().strip()
        await until(lambda: log.exists() and len(log.read_text().splitlines()) >= hang_at)
        process.kill()
    before = log.read_text().splitlines()
    async with a_runtime(tmp_path, COUNTING, tools={"count": CountWords(log)}) as runtime:
        stored = {turn.metadata["arguments"]["text"] for turn in await runtime.store.turns(debate_id)}
        assert (await runtime.store.get(debate_id)).status == "running"
        await runtime.resume(debate_id)
        done = await runtime.wait(debate_id)
        assert done.status == "completed", done.error
        assert Counter(turn.key for turn in await runtime.store.turns(debate_id)) == dict.fromkeys(USES, 1)
        repeated = log.read_text().splitlines()[len(before) :]
        assert not stored & set(repeated)
        assert set(before) - stored <= set(repeated)
        assert len(repeated) == len(set(repeated)) == 4 - len(stored)
        undisturbed = await run(runtime, COUNTING)
        assert await words(runtime.store, done) == await words(runtime.store, undisturbed)
