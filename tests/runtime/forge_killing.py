"""Runs a forge in processes that are killed with SIGKILL, one after another, at every step:
`python -m tests.runtime.forge_killing DATABASE DEBATE one|together`.

Each step is killed when it has its result but has not stored it; one that runs code also before that, once the code is
in its sandbox. With `together`, one kill is for all steps that are executed at the same time, once all of them have
their results. Each process resumes what the one before has left. Whatever a killed process leaves behind becomes a
child of this one, which waits for all of them before it goes on. Prints the killed steps, and the folders left.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from moot.app import App
from moot.core.settings import Settings
from moot.core.values import sha256_of
from moot.corpus import tasks
from moot.runtime.executors.ask import AskExecutor
from moot.runtime.executors.recall import RecallExecutor
from moot.runtime.executors.tool import ToolExecutor
from moot.tools.sandbox import PROCESS
from moot.tools.sandbox.supervisor import PR_SET_CHILD_SUBREAPER
from tests.tools.killing import SECONDS, all_gone, stage

MOMENTS = {"ask": ("has its result",), "recall": ("has its result",), "use": ("runs", "has its result")}
Killed = set[tuple[str, str]]


class Victim:
    """The process that runs the debate. It reports the first step that was not killed yet, or all that are executed
    beside it, and goes no further."""

    def __init__(self, killed: Killed, tell: IO[str], *, together: bool) -> None:
        self._killed, self._tell, self._together = killed, tell, together
        self._target: str | None = None
        self._executing = 0
        self._with_results: list[str] = []
        self.stored: frozenset[str] = frozenset()  # before it began

    def install(self) -> None:
        for executor in (AskExecutor, RecallExecutor, ToolExecutor):
            executor.execute = self._held(executor.execute)  # type: ignore[method-assign]

    def _held(self, execute: Any) -> Any:
        async def held(executor: Any, step: Any, allowance: Any, hear: Any) -> Any:
            assert step.key not in self.stored, f"{step.key} was stored, and is executed again"
            left = [moment for moment in MOMENTS[step.kind] if (step.key, moment) not in self._killed]
            if not left:
                return await execute(executor, step, allowance, hear)
            if self._target is not None and not (self._together and left[0] != "runs"):
                await asyncio.Event().wait()
            self._target = step.key
            if left[0] == "runs":
                self._say("runs", step.key)
            self._executing += 1
            reply = await execute(executor, step, allowance, hear)
            self._executing -= 1
            self._with_results.append(step.key)
            if not (self._together and self._executing):
                self._say("has its result", *self._with_results)
            await asyncio.Event().wait()
            return reply

        return held

    def _say(self, moment: str, *keys: str) -> None:
        print(json.dumps([moment, *keys]), file=self._tell, flush=True)


async def run(url: str, debate_id: str, victim: Victim) -> None:
    values: dict[str, Any] = {"database_url": url, "embedder": "none"}
    values["data_dir"] = os.environ["MOOT_DATA_DIR"]
    app = App(Settings(**values), environ={})
    try:
        await app.open()
        debate = await app.runtime.store.get(debate_id)
        victim.stored = frozenset(turn.key for turn in await app.runtime.store.turns(debate_id))
        victim.install()
        await (app.runtime.start if debate.status == "pending" else app.runtime.resume)(debate_id)
        ended = await app.runtime.wait(debate_id)
        assert ended.status == "completed", ended.error
    finally:
        await app.close()


def begin(url: str, debate_id: str, killed: Killed, *, together: bool) -> tuple[int, IO[str]]:
    heard, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            asyncio.run(run(url, debate_id, Victim(killed, os.fdopen(told, "w"), together=together)))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(told)
    return pid, os.fdopen(heard)


def kill_one(url: str, debate_id: str, killed: Killed, *, together: bool) -> list[tuple[str, str, str]]:
    """Resume the debate and kill its process at the first step that was not killed yet, or at all steps beside it.
    None are killed: the debate has ended."""
    pid, heard = begin(url, debate_id, killed, together=together)
    with heard:
        line = heard.readline()
        if not line:
            _, status = os.waitpid(pid, 0)
            assert os.waitstatus_to_exitcode(status) == 0, "the process failed"
            return []
        moment, *keys = json.loads(line)
        seen = _in_the_sandbox(pid, heard) if moment == "runs" else moment
        os.kill(pid, signal.SIGKILL)
    all_gone(f"after {keys}")
    return [(key, moment, seen) for key in keys]


def _in_the_sandbox(pid: int, heard: IO[str]) -> str:
    """Wait until code runs inside, or the step has its result."""
    os.set_blocking(heard.fileno(), False)
    deadline = time.monotonic() + SECONDS
    while stage(pid) != "inside":
        if heard.readline():
            return "result"
        assert time.monotonic() < deadline, "it never came to its sandbox"
    return "inside"


def killings(url: str, debate_id: str, *, together: bool) -> Iterator[tuple[str, str, str]]:
    killed: Killed = set()
    while some := kill_one(url, debate_id, killed, together=together):
        killed |= {one[:2] for one in some}
        yield from some


def warm_up() -> None:
    """Import and look up here what every process would, without a thread that outlasts this."""
    app = App(Settings(database_url=os.devnull, embedder="none"), environ={})
    assert "forge" in app.formats
    assert all(importlib.import_module(f"moot.store.{name}") for name in ("sqlite", "postgres"))
    code = next(iter(tasks())).solution
    name = sha256_of(code)
    for tool, request in (("cases", {"calls": [["1"]]}), ("checks", {"tools": ["ruff", "mypy", "bandit", "radon"]})):
        asyncio.run(app.tools[tool]({"version": name, "language": "python", **request}, {name: code}))


def main(url: str, debate_id: str, how: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    assert PROCESS.probed().problem is None
    warm_up()
    scratch = Path(os.environ["TMPDIR"])
    mounts = Path("/proc/self/mountinfo").read_text()
    made = [*killings(url, debate_id, together=how == "together")]
    all_gone("at the end")
    assert Path("/proc/self/mountinfo").read_text() == mounts
    print(json.dumps({"killed": made, "left": sorted(str(each) for each in scratch.rglob("*"))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
