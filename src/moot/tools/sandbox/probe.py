"""Whether the sandbox holds on this machine, by trying to get out of it."""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import socket
import subprocess
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from moot.core.values import Json
from moot.tools.sandbox import seccomp
from moot.tools.sandbox.diagnosis import Diagnosis, after, before
from moot.tools.sandbox.errors import SandboxDied
from moot.tools.sandbox.limits import Limits
from moot.tools.sandbox.recipe import GIVEN, Job, bubblewrap

ATTEMPTS = Path(__file__).with_name("attempts.py")
SECONDS = 30.0
LOWEST_PID = 300  # of processes outside: numbers that no process inside gets to
MOST_PIDS = 20

# What depends on the machine: filter, namespaces of network, processes and mounts, rights. The tests make many more.
PROBED = ("system_calls", "inet", "abstract_socket", "signals", "environments", "homes", "writes", "capabilities")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The result of a probe."""

    tried: int = 0
    version: str = ""
    problem: Diagnosis | None = None  # why there is no sandbox

    @property
    def holds(self) -> bool:
        return self.problem is None

    def __str__(self) -> str:
        if self.problem is not None:
            return self.problem.what
        return f"the sandbox ({self.version}) holds: {self.tried} attempts to get out, none got through"


Runs = Callable[[Job], Awaitable[bytes]]  # a job to its results


async def probe(run: Runs) -> Standing:
    """Make every attempt in both kinds of sandbox. Never raises but when it is cancelled."""
    problem = before()
    if problem is not None:
        return Standing(problem=problem)
    got: list[str] = []
    tried = 0
    with outside() as known:
        for script in (False, True):
            try:
                found = read_attempts(await run(attempts_job(known, script=script)))
            except SandboxDied as died:
                return Standing(problem=after(str(died)))
            tried += len(found)
            got += [f"{name}: {what}" for name, what in found.items() if what]
            got += [f"{name}: it was not tried" for name in PROBED if name not in found]
    if got:
        problem = Diagnosis(
            what=f"The sandbox does not hold on this machine, so no code is run: {'; '.join(got)}.",
            fix="Compare the kernel and bubblewrap with docs/sandbox.md, and report it.",
        )
    return Standing(tried=tried, version=version(), problem=problem)


def attempts_job(known: Json, *, script: bool) -> Job:
    given = {**known, "scratch": script, "attempts": PROBED}
    return Job(
        program=ATTEMPTS.read_text(),
        input=json.dumps(given).encode(),
        script=script,
        limits=Limits(wall_seconds=SECONDS, cpu_seconds=SECONDS),
    )


def read_attempts(results: bytes) -> dict[str, str]:
    """What each attempt got hold of; nothing where the sandbox held."""
    return dict(json.loads(line) for line in results.splitlines())


@contextmanager
def outside() -> Generator[Json]:
    """What the attempts try to reach, and what they have to know."""
    column = seccomp.ARCHITECTURES[platform.machine()].column
    calls = {name: numbers[column] for name, numbers in seccomp.DENIED_CALLS.items() if numbers[column] is not None}
    salt = secrets.token_hex(8)
    name = f"moot-probe-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen(8)
        yield {
            "denied": seccomp.DENIED,
            "calls": calls,
            "abstract": name,
            "homes": sorted({"/root", "/home", os.path.expanduser("~")}),
            "salt": salt,
            "environment": [sha256(f"{salt}{name}={value}".encode()).hexdigest() for name, value in _secrets()],
            "pids": [pid for pid in _processes() if pid > LOWEST_PID][-MOST_PIDS:],
        }


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _secrets() -> list[tuple[str, str]]:
    """This process's environment, without what is the same in every sandbox."""
    return [(name, value) for name, value in os.environ.items() if name not in GIVEN]


def version() -> str:
    program = bubblewrap()
    if program is None:
        return ""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    number = re.search(r"\d[\d.]*", said)
    return f"bubblewrap {number.group()}" if number else "bubblewrap"
