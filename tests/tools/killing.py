"""Kills a process with SIGKILL while it runs code: `python -m tests.tools.killing`.

Whatever the killed process leaves behind becomes a child of this one, which waits for all of them: it ends only if they
do. Prints how far each run had come when it was killed.
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

from moot.tools.sandbox import Job, Sandbox
from moot.tools.sandbox.supervisor import PR_SET_CHILD_SUBREAPER, tree

SECONDS = 60.0
STAGES = ("", "supervisor", "bubblewrap", "inside")
PROGRAM = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        break
while True:
    time.sleep(1)
"""


def begin() -> tuple[int, int]:
    """A process that runs code for ever, once it is told to."""
    waits, tells = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.read(waits, 1)
        sandbox = Sandbox(slots=1)
        asyncio.run(sandbox._run(Job(program=PROGRAM)))
        os._exit(1)
    os.close(waits)
    return pid, tells


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
    while STAGES.index(stage(pid)) < STAGES.index(wanted):
        assert time.monotonic() < deadline, f"it never came to {wanted}"
    select.select([], [], [], later)
    seen = stage(pid)
    os.kill(pid, signal.SIGKILL)
    while True:
        try:
            done, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return seen
        if not done:
            assert time.monotonic() < deadline, f"{len(tree(os.getpid())[3]) - 1} processes are left after {seen!r}"
            time.sleep(0.002)


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    chance = random.Random(7)
    moments = [(stage, later) for stage in STAGES[1:] for later in (0.0, *(chance.uniform(0, 0.03) for _ in range(3)))]
    print(json.dumps([kill_at(*moment) for moment in moments]))


if __name__ == "__main__":
    main()
