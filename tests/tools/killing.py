"""Kills a process with SIGKILL while it runs code: `python -m tests.tools.killing`.

Whatever the killed process leaves behind becomes a child of this one, which waits for all of them: it ends only if they
do. After each kill another process runs the same calls to their end. Prints how far each run had come when it was
killed, and what the repetition gave; ends with an error if a mount is left.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import random
import select
import signal
import time
from contextlib import suppress
from pathlib import Path

from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Limits, Sandbox
from moot.tools.sandbox.supervisor import PR_SET_CHILD_SUBREAPER, tree

SECONDS = 60.0
STAGES = ("", "supervisor", "bubblewrap", "inside")
CODE = """
import os, time
def spread(wait):
    for _ in range(3 if wait else 0):
        if os.fork() == 0:
            os.setsid()
            break
    while wait:
        time.sleep(1)
    return [1, 2.5, "three"]
"""


def results(wait: bool) -> list[list[str]]:
    """Run calls to the code; with `wait`, the first of them never ends."""
    calls = [(0, (f"spread({wait})",)), (0, ("spread(0)[5]",)), (0, ("spread(0)[2] * 2",))]
    longer = CaseLimits(wall_seconds=2 * SECONDS)
    job = cases_job("python", [CODE], calls, Limits(wall_seconds=4 * SECONDS), longer)
    found = read_cases(asyncio.run(Sandbox(slots=1)._run(job)), len(calls))
    return [[each.outcome, each.value, each.error] for each in found]


def all_gone(when: str, deadline: float | None = None) -> None:
    """Wait until no child is left."""
    deadline = time.monotonic() + SECONDS if deadline is None else deadline
    while True:
        try:
            done, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not done:
            assert time.monotonic() < deadline, f"{len(tree(os.getpid())[3]) - 1} processes are left {when}"
            time.sleep(0.001)


def begin() -> tuple[int, int]:
    """A process that runs code for ever, once it is told to."""
    waits, tells = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.read(waits, 1)
            results(wait=True)
        finally:
            os._exit(1)
    os.close(waits)
    return pid, tells


def repeated() -> list[list[str]]:
    """The same in another process, to its end."""
    heard, told = os.pipe()
    if os.fork() == 0:
        try:
            os.write(told, json.dumps(results(wait=False)).encode())
        finally:
            os._exit(0)
    os.close(told)
    with os.fdopen(heard) as words:
        said = words.read()
    os.wait()
    return json.loads(said)


def stage(pid: int) -> str:
    """How far the run has come."""
    names: list[str] = []
    for each in tree(pid)[3]:
        with suppress(OSError):
            names.append(Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")[0].decode())
    if any(name.startswith("/opt/python") for name in names):
        return "inside"
    if any(name.endswith("bwrap") for name in names):
        return "bubblewrap"
    return "supervisor" if len(names) > 1 else ""


def kill_at(wanted: str, later: float) -> str:
    """Kill it so many seconds after it has come to a stage; gives the stage that it was killed at."""
    pid, tells = begin()
    os.write(tells, b"x")
    os.close(tells)
    deadline = time.monotonic() + SECONDS
    while STAGES.index(seen := stage(pid)) < STAGES.index(wanted):
        assert time.monotonic() < deadline, f"it never came to {wanted}"
    if later:
        select.select([], [], [], later)
        seen = stage(pid)
    os.kill(pid, signal.SIGKILL)
    all_gone(f"after {seen!r}", deadline)
    return seen


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    chance = random.Random(7)
    moments = [(stage, later) for stage in STAGES[1:] for later in (0.0, *(chance.uniform(0, 0.03) for _ in range(3)))]
    mounts = Path("/proc/self/mountinfo").read_text()
    killed = [(kill_at(*moment), repeated()) for moment in moments]
    for wanted in STAGES[1:]:  # a run may be faster than one can look
        while wanted not in [seen for seen, _ in killed]:
            killed.append((kill_at(wanted, 0.0), repeated()))
    assert Path("/proc/self/mountinfo").read_text() == mounts
    print(json.dumps(killed))


if __name__ == "__main__":
    main()
