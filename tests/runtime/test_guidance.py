"""Guidance: it reaches every seat with its next step, never a step in flight, and is stored like any turn."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from moot.client import creating, documents
from moot.core.errors import InputError, WrongStatus
from moot.core.script import Stage, together
from moot.core.settings import DebateSettings
from moot.core.types import Call, Hear, Outcome, Prompt, Reply
from moot.runtime.replay import rerun
from tests.running import answers_file, new_debate, run_to_rest, until
from tests.runtime.small import a_format, a_runtime, created, outcome

WORDS = "Look at what it costs to run."
GUIDED = re.compile(rf"\[guidance begins (\w{{12}})\]\n.* adds: {re.escape(WORDS)}\n\[guidance ends \1\]\Z")


class Held:
    """A model whose calls end when they are let go."""

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        self.go: dict[str, asyncio.Event] = {}

    def open(self, spec: str) -> Any:
        async def model(call: Call, hear: Hear, /) -> Reply:
            self.calls[call.key] = call
            await self.go.setdefault(call.key, asyncio.Event()).wait()
            return Reply(text=f"Said at {call.key}.", model="held", provider="test")

        return model

    def check(self, spec: str) -> None: ...

    def price(self, spec: str) -> None: ...

    def let(self, key: str) -> None:
        self.go.setdefault(key, asyncio.Event()).set()

    def asked(self, key: str) -> str:
        return self.calls[key].messages[-1].text


async def talk(stage: Stage, settings: DebateSettings) -> Outcome:
    a, b = stage.seat("a"), stage.seat("b")
    for round in (1, 2, 3):
        await together(*(seat.ask("speak", Prompt(name="t", text="Speak."), round=round) for seat in (a, b)))
    return outcome("tie", "Done.")


TALK = a_format(talk, "a", "b")


async def test_guidance_from_another_process_reaches_every_seat_once_and_no_step_under_way(tmp_path):
    models = Held()
    async with a_runtime(tmp_path, TALK, models=models) as runtime, a_runtime(tmp_path, TALK) as elsewhere:
        debate_id = (await created(runtime, TALK)).id
        await runtime.start(debate_id)
        await until(lambda: len(models.calls) == 2)
        await elsewhere.guide(debate_id, WORDS, by="ann")
        models.let("1/speak/a")
        while not [turn for turn in await elsewhere.store.turns(debate_id) if turn.kind == "guidance"]:
            await asyncio.sleep(0.005)
        for key in ("1/speak/b", "2/speak/a", "2/speak/b", "3/speak/a", "3/speak/b"):
            models.let(key)
        done = await runtime.wait(debate_id)
        assert done.status == "completed"
        for seat in "ab":
            assert WORDS not in models.asked(f"1/speak/{seat}")
            assert GUIDED.search(models.asked(f"2/speak/{seat}"))
            assert WORDS not in models.asked(f"3/speak/{seat}")  # it is in their history, once
            assert sum(WORDS in message.text for message in models.calls[f"3/speak/{seat}"].messages) == 1
        turns = await runtime.store.turns(debate_id)
        (said,) = [turn for turn in turns if turn.kind == "guidance"]
        assert (said.content, said.metadata["by"], said.seat) == (WORDS, "ann", "you")
        shown = [event for event in await runtime.store.events(debate_id) if event.type == "PERSON"]
        assert [event.turn.content for event in shown] == [WORDS]
        assert rerun(TALK, done, turns).outcome == done.outcome


async def test_a_stopped_debate_gets_it_in_the_steps_that_were_open(tmp_path):
    models = Held()
    async with a_runtime(tmp_path, TALK, models=models) as first:
        debate_id = (await created(first, TALK)).id
        await first.start(debate_id)
        await until(lambda: len(models.calls) == 2)
        models.let("1/speak/a")
        while len(await first.store.turns(debate_id)) < 1:
            await asyncio.sleep(0.005)
    assert "1/speak/b" in models.calls  # and was cut off
    models.calls.clear()
    async with a_runtime(tmp_path, TALK, models=models) as second:
        await second.guide(debate_id, WORDS, by="ann")
        for round in (1, 2, 3):
            models.let(f"{round}/speak/a")
            models.let(f"{round}/speak/b")
        await second.resume(debate_id)
        done = await second.wait(debate_id)
        assert done.status == "completed"
        assert GUIDED.search(models.asked("1/speak/b"))
        assert GUIDED.search(models.asked("2/speak/a"))
        assert not GUIDED.search(models.asked("2/speak/b"))
        (said,) = [turn for turn in await second.store.turns(debate_id) if turn.kind == "guidance"]
        assert said.metadata["reaches"] == ["1/speak/b"]


async def test_a_fork_of_a_fork_keeps_the_guidance_of_both(app, tmp_path):
    parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=4))
    fork = await run_to_rest(app, await creating.fork(app, parent.id, "2/speak/b", {}, guidance=WORDS))
    again = await creating.fork(app, fork.id, "3/speak/a", {}, guidance="And at who runs it.")
    assert again.guided == 1  # the parent's guidance is among its turns
    done = await run_to_rest(app, again)
    audit = await documents.audit(app, done.id)
    prompts = {turn["key"]: turn["messages"][-1]["text"] for turn in audit["turns"] if turn["kind"] == "ask"}
    assert GUIDED.search(prompts["2/speak/b"])
    assert "And at who runs it." in prompts["3/speak/a"]


async def test_empty_and_late_guidance_is_refused(app, tmp_path):
    debate = await new_debate(app, answers_file(tmp_path), turns=2)
    for empty in ("", "  \n", "\u200b"):
        with pytest.raises(InputError, match="needs words"):
            await app.runtime.guide(debate.id, empty, by="ann")
    with pytest.raises(InputError, match="20,001 characters"):
        await app.runtime.guide(debate.id, "x" * 20_001, by="ann")
    done = await run_to_rest(app, debate)
    with pytest.raises(WrongStatus, match="is completed; it can't be guided"):
        await app.runtime.guide(done.id, WORDS, by="ann")
    with pytest.raises(InputError, match="needs words"):
        await creating.fork(app, done.id, "1/speak/a", {}, guidance="")
    assert len((await app.runtime.store.page()).debates) == 1  # the fork was not made
