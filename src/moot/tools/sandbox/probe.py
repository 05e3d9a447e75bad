"""Whether the sandbox holds on this machine, by trying to get out of it."""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import socket
import subprocess
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from moot.core.values import Json
from moot.tools.sandbox import seccomp
from moot.tools.sandbox.diagnosis import Diagnosis, after, before
from moot.tools.sandbox.errors import SandboxDied
from moot.tools.sandbox.limits import Limits
from moot.tools.sandbox.mounts import interpreter
from moot.tools.sandbox.recipe import GIVEN, Job, bubblewrap

ATTEMPTS = Path(__file__).with_name("attempts.py")
SECONDS = 30.0
LOWEST_PID = 300  # of processes outside: numbers that no process inside gets to
MOST_PIDS = 20

# At start, those that take no time. The tests make the others.
QUICK = (
    *("system_calls", "clone3", "clone_with_user_namespace", "newer_calls", "x32_calls", "compat_calls", "clock"),
    *("inet", "inet6", "netlink", "vsock", "packet", "dns", "abstract_socket", "descriptors", "terminal_input"),
    *("shadow", "homes", "environments", "command_lines", "other_roots", "sysrq", "core_pattern", "cgroups"),
    *("setuid_programs", "capabilities", "writes", "signals", "symlinks", "shared_memory"),
)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The result of a probe."""

    tried: int = 0
    version: str = ""
    got_through: tuple[str, ...] = ()
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
    """Try every quick attempt in both kinds of sandbox. Never raises but when it is cancelled."""
    problem = before()
    if problem is not None:
        return Standing(problem=problem)
    got: list[str] = []
    tried = 0
    with outside() as known:
        for script in (False, True):
            try:
                found = read_attempts(await run(attempts_job(QUICK, known, script=script)))
            except SandboxDied as died:
                return Standing(problem=after(str(died)))
            tried += len(found)
            got += [f"{name}: {what}" for name, what in found.items() if what]
            got += [f"{name}: it was not tried" for name in QUICK if name not in found]
    if got:
        problem = Diagnosis(
            what=f"The sandbox does not hold on this machine, so no code is run: {'; '.join(got)}.",
            fix="Compare the kernel and bubblewrap with docs/sandbox.md, and report it.",
        )
    return Standing(tried=tried, version=version(), got_through=tuple(got), problem=problem)


def attempts_job(
    names: Iterable[str], known: Json, *, script: bool = False, limits: Limits | None = None, **more: object
) -> Job:
    given = {**known, "scratch": script, "attempts": list(names), "amount": 0, "allowed": 0, **more}
    return Job(
        program=ATTEMPTS.read_text(),
        input=json.dumps(given).encode(),
        script=script,
        limits=limits or Limits(wall_seconds=SECONDS, cpu_seconds=SECONDS),
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
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as abstract,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
    ):
        abstract.bind(f"\0{name}")
        abstract.listen(8)
        server.bind(("127.0.0.1", 0))
        home = os.path.expanduser("~")
        yield {
            "denied": seccomp.DENIED,
            "calls": calls,
            "clone": seccomp.CLONE[column],
            "clone3": seccomp.CLONE3[column],
            "newest": seccomp.NEWEST,
            "abstract": name,
            "port": server.getsockname()[1],
            "homes": sorted({"/root", "/home", home}),
            "paths": sorted({home, os.path.dirname(interpreter().outside), str(ATTEMPTS.parent)} - {"/", "/usr/bin"}),
            "private": "/etc/shadow",
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
