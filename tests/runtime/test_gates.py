"""Gates: waiting costs nothing, survives crashes, and a question is answered once."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import InputError, WrongStatus
from moot.runtime.replay import prove
from moot.runtime.runtime import Runtime
from tests.runtime.asking import FORMAT
from tests.runtime.small import a_runtime, run


async def waiting_debate(runtime: Runtime, **settings):
    return await run(runtime, FORMAT, **settings)


async def answer(runtime: Runtime, debate_id: str, given, **more):
    await runtime.answer(debate_id, given, by="ann", **more)
    await runtime.resume(debate_id)
    return await runtime.wait(debate_id)


def go(check, folder):
    async def main():
        async with a_runtime(folder, FORMAT) as runtime:
            return await check(runtime)

    return asyncio.run(main())


def test_a_gate_stops_the_clock_and_frees_the_worker(tmp_path):
    async def check(runtime):
        debate = await waiting_debate(runtime)
        assert (debate.status, debate.owner, debate.cursor.open) == ("waiting", None, ("1/checkpoint/you",))
        assert not runtime._drives
        assert not runtime._tasks
        (gate,) = await runtime.store.gates(debate.id)
        assert (gate.kind, gate.status, gate.choices) == ("checkpoint", "open", ("continue", "guide", "end"))
        assert gate.question.startswith("Go on after")
        assert [g.key for g in await runtime.store.gates()] == ["1/checkpoint/you"]

    go(check, tmp_path)


def test_answers_are_turns_with_who_and_when_and_the_debate_goes_on(tmp_path):
    async def check(runtime):
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
        proof = prove(FORMAT, debate, await runtime.store.turns(debate.id), events)
        assert proof.same

    go(check, tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"choice": "maybe"}, "choice"),
        ({"choice": "guide"}, "guidance needs words"),
        ({"choice": "guide", "text": "x" * 20_001}, "text"),
        ({"chioce": "end"}, "Did you mean 'choice'"),
        ({}, "choice"),
    ],
)
def test_a_bad_answer_is_refused_and_the_gate_stays_open(tmp_path, given, said):
    async def check(runtime):
        debate = await waiting_debate(runtime)
        with pytest.raises(InputError, match=said):
            await runtime.answer(debate.id, given, by="ann")
        assert (await runtime.store.gates(debate.id))[0].status == "open"
        assert (await runtime.store.get(debate.id)) == debate

    go(check, tmp_path)


def test_of_concurrent_answers_one_wins_and_the_others_are_refused(tmp_path):
    async def check(runtime):
        debate = await waiting_debate(runtime)
        results = await asyncio.gather(
            *(runtime.answer(debate.id, {"choice": "end", "text": str(n)}, by=f"p{n}") for n in range(8)),
            return_exceptions=True,
        )
        won = [result for result in results if not isinstance(result, Exception)]
        lost = [result for result in results if isinstance(result, WrongStatus)]
        assert (len(won), len(lost)) == (1, 7)
        assert all(f"answered by {won[0].reviewer}. Let it go on." in str(error) for error in lost)
        assert {(error.verb, error.remedy) for error in lost} == {("answer", "resume")}
        await runtime.resume(debate.id)
        done = await runtime.wait(debate.id)
        assert done.status == "completed"
        turn = (await runtime.store.turns(debate.id))[-1]
        assert turn.metadata["by"] == won[0].reviewer

    go(check, tmp_path)


def test_an_answer_to_nothing_is_refused(tmp_path):
    async def check(runtime):
        debate = await waiting_debate(runtime)
        done = await answer(runtime, debate.id, {"choice": "end"})
        assert done.status == "completed"
        with pytest.raises(WrongStatus, match="answered by ann. Get its decision record"):
            await runtime.answer(debate.id, {"choice": "end"}, by="bob")
        canceled = await waiting_debate(runtime)
        await runtime.cancel(canceled.id)
        with pytest.raises(WrongStatus, match="canceled"):
            await runtime.answer(canceled.id, {"choice": "end"}, by="bob")
        assert await runtime.store.gates() == []

    go(check, tmp_path)


def test_an_answer_that_comes_while_the_debate_goes_to_wait_is_not_lost(tmp_path):
    async def check(runtime):
        store, commit = runtime.store, runtime.store.commit

        async def slow_commit(given):
            done = await commit(given)
            if given.status == "waiting":
                await store.decide(given.debate_id, given.gates[0].key, {"choice": "end", "text": ""}, by="fast")
            return done

        store.commit = slow_commit
        debate = await waiting_debate(runtime)
        assert (debate.status, debate.outcome.ended_by) == ("completed", "person")

    go(check, tmp_path)


def test_an_unanswered_gate_pauses_the_debate_and_can_still_be_answered(tmp_path):
    async def check(runtime):
        debate = await waiting_debate(runtime, timeout_seconds=1800)
        assert await runtime.expire() == []
        assert (await runtime.store.get(debate.id)).status == "waiting"
        with closing(sqlite3.connect(tmp_path / "moot.db", isolation_level=None)) as other:
            other.execute("update debate_gates set expires_at = ?", [time.time() - 1])
        assert await runtime.expire() == []
        assert (await runtime.store.get(debate.id)).status == "stopped"
        await runtime.resume(debate.id)
        again = await runtime.wait(debate.id)
        assert again.status == "waiting"
        (gate,) = await runtime.store.gates(debate.id)
        assert gate.status == "open"
        assert gate.expires_at > time.time() + 1700  # its time starts again
        assert (await answer(runtime, debate.id, {"choice": "end"})).status == "completed"

    go(check, tmp_path)


def test_a_gate_with_a_default_answer_gets_it_when_its_time_is_over(tmp_path):
    async def check(runtime):
        debate = await waiting_debate(runtime, timeout_seconds=0, decides=True)
        (ready,) = await runtime.expire()
        assert ready.id == debate.id
        await runtime.resume(debate.id)
        gone_on = await runtime.wait(debate.id)
        assert gone_on.cursor.open == ("2/clarify/you",)
        turn = next(t for t in await runtime.store.turns(debate.id) if t.kind == "gate")
        assert turn.metadata["by"] == "no one: the time was over"
        assert turn.content == "No one answered in time; it went on, as `on_timeout` says."
        assert turn.finish_reason == "timed_out"
        with pytest.raises(WrongStatus, match="No one answered 1/checkpoint/you of debate .* in time"):
            await runtime.answer(debate.id, {"choice": "end"}, by="bob", key="1/checkpoint/you")

    go(check, tmp_path)


def test_a_person_can_take_a_seat(tmp_path):
    async def check(runtime):
        debate = await waiting_debate(runtime, human=True)
        assert debate.cursor.open == ("1/speak/a",)
        (gate,) = await runtime.store.gates(debate.id)
        assert (gate.kind, gate.question, gate.choices) == ("statement", "Speak.", ())
        debate = await answer(runtime, debate.id, {"text": "My own words."})
        assert "My own words." in (await runtime.store.gates(debate.id))[1].question
        assert (await runtime.store.turns(debate.id))[0].content == "My own words."

    go(check, tmp_path)


def test_killed_at_a_gate_another_process_takes_the_answer_once(tmp_path):
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
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    async def check(runtime):
        debate = await runtime.store.get(debate_id)
        assert debate.status == "waiting"
        done = await answer(runtime, debate_id, {"choice": "end"})
        assert done.status == "completed"
        assert [t.key for t in await runtime.store.turns(debate_id)] == ["1/speak/a", "1/checkpoint/you"]

    go(check, tmp_path)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_a_thousand_waiting_debates_cost_no_task_no_thread_and_little_memory(tmp_path):
    program = """
import asyncio, gc, sys, threading
from pathlib import Path
from tests.runtime.asking import FORMAT
from tests.runtime.small import a_runtime
from tests.runtime.test_gates import resident, waiting_debate
async def main():
    async with a_runtime(Path(sys.argv[1]), FORMAT) as runtime:
        for _ in range(20):
            await waiting_debate(runtime)
        gc.collect()
        before, tasks, threads = resident(), len(asyncio.all_tasks()), threading.active_count()
        for _ in range(10):
            await asyncio.gather(*(waiting_debate(runtime) for _ in range(100)))
        gc.collect()
        assert len(await runtime.store.gates()) == 1020
        print(resident() - before, len(asyncio.all_tasks()) - tasks, threading.active_count() - threads)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    memory, tasks, threads = map(int, done.stdout.split())
    assert tasks == 0
    assert threads == 0
    assert memory < 50_000_000
