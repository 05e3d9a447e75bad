"""Gates: waiting costs nothing, survives crashes, and a question is answered once."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from moot.core.errors import InputError, WrongStatus
from moot.runtime.replay import prove
from moot.runtime.runtime import Runtime
from tests.runtime.asking import FORMAT
from tests.runtime.small import a_runtime, run


async def waiting_debate(runtime: Runtime, **settings):
    return await run(runtime, FORMAT, **settings)


async def answer(runtime: Runtime, debate_id: str, given, **more):
    await runtime.gates.answer(debate_id, given, by="ann", **more)
    await runtime.resume(debate_id)
    return await runtime.wait(debate_id)


@pytest.fixture
def runtime(opened, tmp_path) -> Runtime:
    return opened(a_runtime(tmp_path, FORMAT))


async def test_a_gate_stops_the_clock_and_frees_the_worker(runtime):
    debate = await waiting_debate(runtime)
    assert (debate.status, debate.owner, debate.cursor.open) == ("waiting", None, ("1/checkpoint/you",))
    assert not runtime._drives
    assert not runtime._tasks
    (gate,) = await runtime.store.gates(debate.id)
    assert (gate.kind, gate.status, gate.choices) == ("checkpoint", "open", ("continue", "guide", "end"))
    assert gate.question.startswith("Go on after")
    assert [g.key for g in await runtime.store.gates()] == ["1/checkpoint/you"]


async def test_answers_are_turns_with_who_and_when_and_the_debate_goes_on(runtime):
    debate = await waiting_debate(runtime)
    debate = await answer(runtime, debate.id, {"choice": "guide", "text": "Mind the cost."})
    assert (debate.status, debate.cursor.open) == ("waiting", ("2/clarify/you",))
    turns = {turn.key: turn for turn in await runtime.store.turns(debate.id)}
    turn = turns["1/checkpoint/you"]
    assert (turn.kind, turn.model, turn.metadata["by"]) == ("gate", "human", "ann")
    assert turn.data == {"choice": "guide", "text": "Mind the cost."}
    assert (turn.tokens_out, turn.duration_ms) == (0, 0)
    assert "2/speak/a" in turns  # the step beside the question is kept
    debate = await answer(runtime, debate.id, {"text": "Mean time."})
    debate = await answer(runtime, debate.id, {"choice": "approve"})
    assert (debate.status, debate.outcome.headline) == ("completed", "approve: Mean time.")
    events = await runtime.store.events(debate.id)
    assert [e.key for e in events if e.type == "gate"] == ["1/checkpoint/you", "2/clarify/you", "2/approve/you"]
    assert prove(FORMAT, debate, await runtime.store.turns(debate.id), events).same


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"choice": "maybe"}, "choice"),
        ({"choice": "guide"}, "guidance needs words"),
        ({"chioce": "end"}, "Did you mean 'choice'"),
        ({}, "choice"),
    ],
)
async def test_a_bad_answer_is_refused_and_the_gate_stays_open(runtime, given, said):
    debate = await waiting_debate(runtime)
    with pytest.raises(InputError, match=said):
        await runtime.gates.answer(debate.id, given, by="ann")
    assert (await runtime.store.gates(debate.id))[0].status == "open"
    assert (await runtime.store.get(debate.id)) == debate


async def test_of_concurrent_answers_one_wins_and_the_others_are_refused(runtime):
    debate = await waiting_debate(runtime)
    results = await asyncio.gather(
        *(runtime.gates.answer(debate.id, {"choice": "end", "text": str(n)}, by=f"p{n}") for n in range(8)),
        return_exceptions=True,
    )
    won = [result for result in results if not isinstance(result, Exception)]
    lost = [result for result in results if isinstance(result, WrongStatus)]
    assert (len(won), len(lost)) == (1, 7)
    assert all(f"answered by {won[0].reviewer}. Let it go on." in str(error) for error in lost)
    assert {(error.verb, error.remedy) for error in lost} == {("answer", "resume")}
    await runtime.resume(debate.id)
    assert (await runtime.wait(debate.id)).status == "completed"
    turn = (await runtime.store.turns(debate.id))[-1]
    assert turn.metadata["by"] == won[0].reviewer


async def test_an_answer_to_nothing_is_refused(runtime):
    debate = await waiting_debate(runtime)
    await runtime.cancel(debate.id)
    with pytest.raises(WrongStatus, match="is canceled and asks nothing"):
        await runtime.gates.answer(debate.id, {"choice": "end"}, by="bob")
    assert await runtime.store.gates() == []


async def test_an_answer_that_comes_while_the_debate_goes_to_wait_is_not_lost(runtime):
    store, commit = runtime.store, runtime.store.commit

    async def slow_commit(given):
        done = await commit(given)
        if given.status == "waiting":
            await store.decide(given.debate_id, given.gates[0].key, {"choice": "end", "text": ""}, by="fast")
        return done

    store.commit = slow_commit
    debate = await waiting_debate(runtime)
    assert (debate.status, debate.outcome.ended_by) == ("completed", "person")


async def test_a_gate_with_a_default_answer_gets_it_when_its_time_is_over(runtime):
    debate = await waiting_debate(runtime, timeout_seconds=0, decides=True)
    (ready,) = await runtime.gates.expire()
    assert ready.id == debate.id
    await runtime.resume(debate.id)
    gone_on = await runtime.wait(debate.id)
    assert gone_on.cursor.open == ("2/clarify/you",)
    turn = next(t for t in await runtime.store.turns(debate.id) if t.kind == "gate")
    assert turn.metadata["by"] == "no one: the time was over"
    assert turn.content == "No one answered in time; it went on, as `on_timeout` says."
    assert turn.finish_reason == "timed_out"
    with pytest.raises(WrongStatus, match="No one answered 1/checkpoint/you of debate .* in time"):
        await runtime.gates.answer(debate.id, {"choice": "end"}, by="bob", key="1/checkpoint/you")


async def test_a_person_can_take_a_seat(runtime):
    debate = await waiting_debate(runtime, human=True)
    assert debate.cursor.open == ("1/speak/a",)
    (gate,) = await runtime.store.gates(debate.id)
    assert (gate.kind, gate.question, gate.choices) == ("statement", "Speak.", ())
    debate = await answer(runtime, debate.id, {"text": "My own words."})
    assert "My own words." in (await runtime.store.gates(debate.id))[1].question
    assert (await runtime.store.turns(debate.id))[0].content == "My own words."


async def test_killed_at_a_gate_another_process_takes_the_answer_once(runtime, tmp_path):
    program = """
import asyncio, sys
from pathlib import Path
from tests.runtime.asking import FORMAT
from tests.runtime.small import a_runtime
from tests.runtime.test_gates import waiting_debate
async def main():
    async with a_runtime(Path(sys.argv[1]), FORMAT) as runtime:
        print((await waiting_debate(runtime)).id, flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    debate_id = process.stdout.readline().strip()
    process.kill()
    process.communicate()
    assert (await runtime.store.get(debate_id)).status == "waiting"
    assert (await answer(runtime, debate_id, {"choice": "end"})).status == "completed"
    assert [t.key for t in await runtime.store.turns(debate_id)] == ["1/speak/a", "1/checkpoint/you"]


@pytest.mark.slow
def test_a_thousand_waiting_debates_cost_no_task_no_thread_and_little_memory(tmp_path):
    program = """
import asyncio, gc, sys, threading
from pathlib import Path
from perf.memory import resident_bytes
from tests.runtime.asking import FORMAT
from tests.runtime.small import a_runtime
from tests.runtime.test_gates import waiting_debate
async def main():
    async with a_runtime(Path(sys.argv[1]), FORMAT) as runtime:
        for _ in range(20):
            await waiting_debate(runtime)
        gc.collect()
        before, tasks, threads = resident_bytes(), len(asyncio.all_tasks()), threading.active_count()
        for _ in range(10):
            await asyncio.gather(*(waiting_debate(runtime) for _ in range(100)))
        gc.collect()
        assert len(await runtime.store.gates()) == 1020
        print(resident_bytes() - before, len(asyncio.all_tasks()) - tasks, threading.active_count() - threads)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    memory, tasks, threads = map(int, done.stdout.split())
    assert (tasks, threads) == (0, 0)
    assert memory < 50_000_000
