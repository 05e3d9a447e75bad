"""Debates under suspicion in processes of their own: which share one, and what becomes of the processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from moot.runtime.isolation import AGAIN_SECONDS, AT_ONCE, GATHER_SECONDS, Isolation, Report
from moot.runtime.processes import ForkedProcesses

LIMIT = 6


class Recorded:
    """Processes that end when they are told to."""

    def __init__(self) -> None:
        self.begun: list[tuple[tuple[str, ...], Report, asyncio.Event]] = []
        self.recalled = False

    async def run(self, debates: Sequence[str], report: Report) -> None:
        ends = asyncio.Event()
        self.begun.append((tuple(debates), report, ends))
        await ends.wait()

    def recall(self) -> None:
        self.recalled = True
        for _, _, ends in self.begun:
            ends.set()

    @property
    def groups(self) -> list[tuple[str, ...]]:
        return [debates for debates, _, _ in self.begun]


async def settled() -> None:
    """Until what has come so far had its time to gather."""
    await asyncio.sleep(GATHER_SECONDS)
    for _ in range(5):
        await asyncio.sleep(0)


def test_debates_with_fewer_deaths_share_a_process():
    async def main() -> None:
        processes = Recorded()
        isolation = Isolation(processes, LIMIT)
        given = [*["two"] * 12, *["three"] * 4, *["four"] * 2]
        deaths = {"two": 2, "three": 3, "four": 4}
        driving = [asyncio.create_task(isolation.drive(f"{each}{n}", deaths[each])) for n, each in enumerate(given)]
        await settled()
        sizes = [(debates[0].rstrip("0123456789"), len(debates)) for debates in processes.groups]
        assert sizes == [("two", 10), ("two", 2), ("three", 3), ("three", 1)][:AT_ONCE]
        for _, _, ends in processes.begun:
            ends.set()
        await settled()
        assert processes.groups[AT_ONCE:] == [("four16",), ("four17",)]
        await isolation.recall(0)
        assert await asyncio.gather(*driving) == [AGAIN_SECONDS] * len(given)

    asyncio.run(main())


def test_a_debate_is_delivered_again_if_its_process_said_nothing_of_it():
    async def main() -> None:
        processes = Recorded()
        isolation = Isolation(processes, LIMIT)
        driving = [asyncio.create_task(isolation.drive(each, 2)) for each in ("done", "later", "lost")]
        await settled()
        debates, report, ends = processes.begun[0]
        assert debates == ("done", "later", "lost")
        report("done", None)
        report("later", 2.0)
        await settled()
        assert [task.done() for task in driving] == [True, True, False]
        ends.set()
        assert await asyncio.gather(*driving) == [None, 2.0, AGAIN_SECONDS]

    asyncio.run(main())


def test_a_debate_that_is_delivered_twice_is_driven_once():
    async def main() -> None:
        processes = Recorded()
        isolation = Isolation(processes, LIMIT)
        first = asyncio.create_task(isolation.drive("a", 4))
        await settled()
        assert await isolation.drive("a", 4) is None
        processes.begun[0][1]("a", None)
        assert await first is None
        again = asyncio.create_task(isolation.drive("a", 4))
        await settled()
        assert processes.groups == [("a",), ("a",)]
        processes.begun[0][2].set()  # that the first process ends says nothing of the second
        await settled()
        assert not again.done()
        await isolation.recall(0)

    asyncio.run(main())


def test_no_more_processes_than_allowed_are_there_at_once():
    async def main() -> None:
        processes = Recorded()
        isolation = Isolation(processes, LIMIT)
        driving = [asyncio.create_task(isolation.drive(f"d{n}", 5)) for n in range(AT_ONCE + 2)]
        await settled()
        assert len(processes.begun) == AT_ONCE
        processes.begun[0][2].set()
        await settled()
        assert len(processes.begun) == AT_ONCE + 1
        await isolation.recall(0)
        assert await asyncio.gather(*driving) == [AGAIN_SECONDS] * len(driving)  # also the one that waited
        assert len(processes.begun) == AT_ONCE + 1

    asyncio.run(main())


@pytest.mark.parametrize(("error", "tried"), [(BrokenPipeError(), 1), (OSError(), 3)])
def test_where_no_process_can_be_had_debates_wait_for_another(
    error: OSError, tried: int, caplog: pytest.LogCaptureFixture
):
    class Missing(Recorded):
        async def run(self, debates: Sequence[str], report: Report) -> None:
            self.begun.append((tuple(debates), report, asyncio.Event()))
            raise error

    async def main() -> None:
        processes = Missing()
        isolation = Isolation(processes, LIMIT)
        for each in "abc":
            assert await isolation.drive(each, 4) == AGAIN_SECONDS
            assert not isolation.has(each)
        assert len(processes.begun) == tried  # the process to fork from does not come back

    asyncio.run(main())
    assert caplog.text.count("can begin no other") == tried


@pytest.mark.parametrize(("limit", "deaths", "takes"), [(6, 1, False), (6, 2, True), (3, 1, True), (3, 0, False)])
def test_which_debates_are_taken(limit: int, deaths: int, takes: bool):
    assert Isolation(Recorded(), limit).takes(deaths) is takes


def program(debates: Sequence[str], known: Any, ended: int, report: Report) -> None:
    for debate in debates:
        if debate == "poison":
            os.kill(os.getpid(), signal.SIGKILL)
        elif debate == "breaks":
            raise RuntimeError("on purpose")
        elif debate == "waits":
            report("pid", os.getpid())
            os.read(ended, 1)
            report(debate, 0.5)
        else:
            report(debate, None)


async def ran(processes: ForkedProcesses, *debates: str) -> list[tuple[str, float | None]]:
    told: list[tuple[str, float | None]] = []
    await processes.run(debates, lambda *what: told.append(what))
    return told


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(60):
        while not gone(pid):
            await asyncio.sleep(0.01)


def test_a_process_that_dies_takes_no_other_along():
    async def main() -> None:
        processes = ForkedProcesses(program)
        assert await ran(processes, "a", "b") == [("a", None), ("b", None)]
        assert await ran(processes, "a", "poison", "b") == [("a", None)]
        assert await ran(processes, "breaks", "b") == []
        assert await ran(processes, "b") == [("b", None)]
        many = await asyncio.gather(*(ran(processes, f"d{n}", "poison" if n % 2 else "e") for n in range(20)))
        assert [len(each) for each in many] == [1 if n % 2 else 2 for n in range(20)]
        processes.recall()
        with pytest.raises(OSError, match=r"."):
            await ran(processes, "a")

    asyncio.run(main())


def test_processes_that_are_recalled_end_and_none_is_left():
    async def main() -> None:
        processes = ForkedProcesses(program)
        told: list[tuple[str, Any]] = []
        running = asyncio.create_task(processes.run(["waits"], lambda *what: told.append(what)))
        async with asyncio.timeout(60):
            while not told:
                await asyncio.sleep(0.01)
        processes.recall()
        await running
        assert told[1:] == [("waits", 0.5)]
        await until_gone(told[0][1])

    asyncio.run(main())


KILLED = """
import asyncio, os, sys
from moot.runtime.processes import ForkedProcesses
from tests.runtime.test_isolation import program
async def main():
    processes = ForkedProcesses(program)
    def report(name, value):
        print(int(value), flush=True)
        os.kill(os.getpid(), 9)
    await processes.run(["waits"], report)
asyncio.run(main())
"""


def test_processes_end_when_the_one_that_began_them_is_killed():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    asyncio.run(until_gone(int(done.stdout)))
