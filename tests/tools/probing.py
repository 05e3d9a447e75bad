"""Makes every attempt, in the real sandbox and in weakened ones, as whoever runs it: `python -m tests.tools.probing`.

Prints JSON: for each attempt what it got hold of in each sandbox, and how the run ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import socket
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from moot.core.values import Json
from moot.tools.sandbox import Job, Limits, Run, SandboxDied, seccomp
from moot.tools.sandbox.attempts import attempts
from moot.tools.sandbox.limits import MEGABYTE
from moot.tools.sandbox.mounts import interpreter
from moot.tools.sandbox.probe import ATTEMPTS, PROBED, SECONDS, outside, read_attempts
from moot.tools.sandbox.recipe import READY, Specification, bubblewrap, specification
from moot.tools.sandbox.sandbox import run_specification
from tests.tools import escapes

CANARY = "sk-canary-of-the-parent"
Weaken = Callable[[Specification], Specification]

# Those that take no time, and use no more than is allowed.
QUICK = (
    *PROBED,
    *("clone3", "clone_with_user_namespace", "newer_calls", "x32_calls", "compat_calls", "clock", "inet6", "netlink"),
    *("vsock", "packet", "dns", "descriptors", "terminal_input", "shadow", "command_lines", "other_roots", "sysrq"),
    *("core_pattern", "cgroups", "setuid_programs", "symlinks", "shared_memory"),
)

# What is over a limit: amount, the limit that holds, and one that does not.
EXCESSES: dict[str, tuple[float, Limits, Limits]] = {
    "fork_bomb": (50, Limits(processes=20), Limits(processes=100)),
    "zombies": (50, Limits(processes=20), Limits(processes=100)),
    "memory_across_forks": (96, Limits(memory_bytes=64 * MEGABYTE), Limits()),
    "cpu": (0.5, Limits(cpu_seconds=0.2), Limits()),
    "sleep": (20, Limits(wall_seconds=1.5), Limits()),
    "output": (200, Limits(), Limits(output_bytes=MEGABYTE)),
    "disk": (8, Limits(scratch_bytes=4 * MEGABYTE), Limits()),
    "files": (3000, Limits(scratch_files=500), Limits()),
}
SHORT_SLEEP = 0.1  # where nothing would end it


def program() -> str:
    """The attempts of the package and those of the tests, as one program that imports neither."""
    name = "moot.tools.sandbox.attempts"
    more = Path(escapes.__file__).read_text()
    return (
        f"import sys, types\nbase = sys.modules[{name!r}] = types.ModuleType({name!r})\n"
        f'exec({ATTEMPTS.read_text()!r}, vars(base))\nexec({more!r}, {{"__name__": "__main__"}})\n'
    )


def attempts_job(
    names: Sequence[str], known: Json, *, script: bool = False, limits: Limits | None = None, **more: object
) -> Job:
    given = {**known, "scratch": script, "attempts": names, "amount": 0, "allowed": 0, **more}
    limits = limits or Limits(wall_seconds=SECONDS, cpu_seconds=SECONDS)
    return Job(program=program(), input=json.dumps(given).encode(), script=script, limits=limits)


@contextmanager
def all_outside() -> Generator[Json]:
    """What all attempts try to reach, and what they have to know."""
    column = seccomp.ARCHITECTURES[platform.machine()].column
    home, python = os.path.expanduser("~"), os.path.dirname(interpreter().outside)
    with outside() as known, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        yield {
            **known,
            "clone": seccomp.CLONE[column],
            "clone3": seccomp.CLONE3[column],
            "newest": seccomp.NEWEST,
            "port": server.getsockname()[1],
            "paths": sorted({home, python, str(ATTEMPTS.parent)} - {"/", "/usr/bin"}),
        }


def without(*names: str) -> Weaken:
    """The recipe without some of bubblewrap's options."""

    def weaken(spec: Specification) -> Specification:
        kept = [tuple(each for each in option if each not in names) for option in spec.options]
        return replace(spec, options=tuple(kept))

    return weaken


def with_options(*given: str) -> Weaken:
    return lambda spec: replace(spec, options=(given, *spec.options))


def without_filter(spec: Specification) -> Specification:
    unused = replace(spec, options=tuple(each for each in spec.options if each[0] != "filter"))
    return with_options("raw", "--ro-bind-data", "12", "/unused")(unused)  # or its descriptor would stay open


def writable(spec: Specification) -> Specification:
    options = [each for each in spec.options if "--remount-ro" not in each]
    return replace(spec, options=(*options, ("raw", "--tmpfs", "/tmp")))


def with_environment(spec: Specification) -> Specification:
    return replace(spec, environment={"PROVIDER_KEY": CANARY})


def with_a_descriptor(spec: Specification) -> Specification:
    return replace(spec, data=(*spec.data, b"something of the host"))


def options_on_the_command_line(path: str) -> Weaken:
    return lambda spec: replace(spec, command=("--setenv", "X", path, *spec.command))


def no_sandbox(folder: Path) -> Weaken:
    """Not even bubblewrap: the attempts run as they would without us, root as root. For root, the supervisor hides
    /tmp, where a checkout and its environment may lie: what is run here lies elsewhere."""
    fake, alone = folder / "bwrap", folder / "attempts.py"
    alone.write_text(program())
    alone.chmod(0o644)
    fake.write_text(f"#!/bin/sh\nprintf '\\{READY[0]:03o}' >&3\nexec {interpreter().outside} -I -S {alone}\n")
    fake.chmod(0o755)
    return lambda spec: replace(spec, bubblewrap=str(fake), user=0)


async def made(job: Job, weaken: Weaken = lambda spec: spec) -> Run:
    installed = bubblewrap()
    assert installed is not None
    return await run_specification(weaken(specification(job, installed)))


async def main() -> dict[str, Any]:
    found: dict[str, Any] = {"held": {}, "weak": {}, "excess": {}, "weak_excess": {}}
    line = asyncio.Semaphore(2)

    async def one(place: str, name: str, job: Job, weaken: Weaken = lambda spec: spec) -> None:
        async with line:
            try:
                run = await made(job, weaken)
            except SandboxDied as died:
                raise AssertionError(f"{place}, {name}: {died}") from died
        if place in ("held", "weak"):
            for attempt, got in read_attempts(run.results).items():
                found[place].setdefault(attempt, {})[name] = got
        else:
            results = read_attempts(run.results)
            found[place][name] = {"ended_by": run.ended_by, "got": results.get(name), "output": len(run.output)}
            found[place][name]["truncated"] = run.truncated

    with all_outside() as known, tempfile.TemporaryDirectory(dir="/var/tmp") as made_folder:
        folder = Path(made_folder)
        folder.chmod(0o755)
        private = folder / "private"
        private.write_text("of the host")
        known["environment"] += [sha256(f"{known['salt']}PROVIDER_KEY={CANARY}".encode()).hexdigest()]
        known |= {"homes": [*known["homes"], str(folder)], "private": str(private), "mark": f"moot-{os.getpid()}"}
        jobs = [
            one("held", "cases", attempts_job(QUICK, known)),
            one("held", "scripts", attempts_job(QUICK, known, script=True)),
        ]

        def weak(name: str, names: str, weaken: Weaken, *, script: bool = False, **more: Any) -> None:
            jobs.append(one("weak", name, attempts_job(names.split(), known, script=script, **more), weaken))

        calls = "system_calls clone3 clone_with_user_namespace newer_calls x32_calls compat_calls clock terminal_input"
        weak("no filter", f"{calls} inet inet6 netlink vsock packet shared_memory", without_filter, amount=1)
        weak("host network", "abstract_socket", without("--unshare-net"))
        open_network = lambda spec: without("--unshare-net")(without_filter(spec))  # noqa: E731
        weak("host network, no filter", "dns", open_network)
        weak("environment", "environments", with_environment, script=True)
        weak("command line", "command_lines", options_on_the_command_line(known["paths"][0]), script=True)
        weak("descriptor", "descriptors", with_a_descriptor)
        weak("writable", "writes", writable)
        weak("private folder", "symlinks", with_options("mount", str(folder), str(folder)), script=True)
        bare = "shadow homes environments command_lines other_roots sysrq core_pattern cgroups setuid_programs"
        weak("no sandbox", f"{bare} capabilities signals", no_sandbox(folder))
        for name, (amount, limits, loose) in EXCESSES.items():
            for place, given in (("excess", limits), ("weak_excess", loose)):
                most = SHORT_SLEEP if (place, name) == ("weak_excess", "sleep") else amount
                allowed = 5 if name == "disk" else 0
                job = attempts_job([name], known, script=True, limits=given, amount=most, allowed=allowed)
                jobs.append(one(place, name, job))
        daemon = attempts_job(["daemon"], known, script=True, amount=60)
        await asyncio.gather(*jobs, one("excess", "daemon", daemon))
        in_sandbox = processes_with(known["mark"])
        unwatched = await left_without_a_sandbox(daemon, folder / "attempts.py")
        found["left"] = {"sandbox": in_sandbox, "no sandbox": unwatched}
    found["all"] = sorted(attempts)
    return found


async def left_without_a_sandbox(job: Job, alone: Path) -> int:
    """How many daemons are left of an attempt that nothing watches."""
    mark = json.loads(job.input)["mark"]
    output = os.open(os.devnull, os.O_WRONLY)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", f"import os; os.dup2({output}, 3); exec(open({str(alone)!r}).read())"),
        stdin=asyncio.subprocess.PIPE,
        pass_fds=(output,),
    )
    os.close(output)
    await process.communicate(job.input)
    found = processes_with(mark)
    for pid in found:
        os.kill(pid, 9)
    return len(found)


def processes_with(mark: str) -> list[int]:
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in place.read_bytes() and place.parent.name != str(os.getpid()):
                found.append(int(place.parent.name))
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))
