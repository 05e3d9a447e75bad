"""How a sandbox is made: what bubblewrap is told, and what is done before and beside it."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from moot.tools.sandbox import seccomp
from moot.tools.sandbox.limits import Limits
from moot.tools.sandbox.mounts import Mount, View, interpreter, libraries, system

INSIDE = "/moot"  # our own programs, inside
SCRATCH = "/tmp"  # the one writable folder, for scripts
USER = 65533  # whom root becomes first. No account has this number, and every container maps it
NOBODY = "65534"  # the user inside
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
GIVEN = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "PWD")  # the environment of every program inside
CORE_LIMIT = 1  # unlike 0, this also keeps the kernel from handing memory to a core dump program
OPEN_FILES = 256
PENDING_SIGNALS = 1024

Option = tuple[str, ...] | tuple[str, int] | tuple[str, int, str]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A Python program of ours to run inside, with data for it. What models wrote is in the data.

    The program reads its input from descriptor 0 and writes results to descriptor 3. Everything it prints is output.
    """

    program: str  # source text; the standard library is there, and nothing else
    input: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])  # more files beside it, by name
    mounts: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    script: bool = False  # it gets the system's programs, /proc and a writable folder
    limits: Limits = field(default_factory=Limits)


READY = b"\x06"  # begins the results; where it is missing, the sandbox failed before the program began

# What runs first inside. Since 5.14 the kernel counts the tasks of each user namespace by itself; before, all that the
# user has on the machine.
START = f"""\
import os, resource, sys
tasks = int(sys.argv.pop())
if tasks:
    resource.setrlimit(resource.RLIMIT_NPROC, (tasks, tasks))
with open("{INSIDE}/program.py", "rb") as program:
    program = compile(program.read(), "program.py", "exec")
os.write(3, {READY!r})
exec(program)
"""


@dataclass(frozen=True, kw_only=True)
class Specification:
    """What the supervisor does."""

    bubblewrap: str
    options: tuple[Option, ...]  # ("raw", …), ("mount", source, target), ("data", number, target), ("filter", number)
    command: tuple[str, ...]
    data: tuple[bytes, ...]
    input: int  # which of `data` the program reads
    rlimits: Mapping[str, int]
    limits: Limits
    scratch: str = ""
    user: int = USER
    environment: Mapping[str, str] = field(default_factory=dict[str, str])  # of bubblewrap: none

    def frame(self) -> bytes:
        head = {
            "bubblewrap": self.bubblewrap,
            "options": self.options,
            "command": self.command,
            "data": [len(each) for each in self.data],
            "input": self.input,
            "rlimits": dict(self.rlimits),
            "limits": vars(self.limits),
            "scratch": self.scratch,
            "user": self.user,
            "environment": dict(self.environment),
        }
        text = json.dumps(head).encode()
        return b"".join((struct.pack("<I", len(text)), text, *self.data))


@cache
def bubblewrap() -> str | None:
    """Where bubblewrap is installed, if it is."""
    return shutil.which("bwrap", path=os.pathsep.join(("/usr/bin", "/bin", "/usr/local/bin")))


def specification(job: Job, program: str) -> Specification:
    """The recipe for a job; `program` is bubblewrap's."""
    python = interpreter()
    view = system() if job.script else libraries()
    files = {"start.py": START.encode(), "program.py": job.program.encode(), **job.files}
    data = (seccomp.program(), job.input, *files.values())
    options: list[Option] = [
        ("raw", "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        ("raw", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        ("raw", "--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox", "--chdir", "/"),
        *_scratch(job),  # before what is mounted: a folder of the machine may lie below /tmp
        *_seen(view, (*python.mounts, *job.mounts)),
        *(("raw", "--dev-bind", each, each) for each in DEVICES),
        *(("data", 2 + number, f"{INSIDE}/{name}") for number, name in enumerate(files)),
    ]
    options += [("raw", "--tmpfs", folder, "--remount-ro", folder) for folder in python.masked]
    if job.script:
        options.append(("raw", "--proc", "/proc", "--symlink", SCRATCH, "/dev/shm"))
    options.append(("raw", "--remount-ro", "/"))
    options.append(("filter", 0))
    home = SCRATCH if job.script else "/"
    given = dict(zip(GIVEN, ("/usr/bin:/bin", home, "C.UTF-8", python.library_path, "/"), strict=True))
    options += [("raw", "--setenv", name, value) for name, value in {**given, **job.environment}.items()]
    return Specification(
        bubblewrap=program,
        options=tuple(options),
        command=("--", python.program, "-I", "-S", "-B", "-X", "utf8", f"{INSIDE}/start.py", str(_tasks(job))),
        data=data,
        input=1,
        rlimits=_rlimits(job),
        limits=job.limits,
        scratch=SCRATCH if job.script else "",
    )


def _scratch(job: Job) -> list[Option]:
    size = str(job.limits.scratch_bytes)
    return [("raw", "--size", size, "--perms", "0700", "--tmpfs", SCRATCH)] if job.script else []


def _seen(view: View, more: Sequence[Mount]) -> list[Option]:
    mounts = [("mount", each.source, each.target) for each in (*view.mounts, *more)]
    return [*mounts, *(("raw", "--symlink", link.target, link.place) for link in view.links)]


def _rlimits(job: Job) -> dict[str, int]:
    """Limits of single processes, as far as the kernel keeps them; the supervisor keeps those of all together."""
    return {
        "RLIMIT_CORE": CORE_LIMIT,
        "RLIMIT_DATA": job.limits.memory_bytes,
        "RLIMIT_CPU": int(job.limits.cpu_seconds) + 1,
        "RLIMIT_FSIZE": job.limits.scratch_bytes,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_SIGPENDING": PENDING_SIGNALS,
    }


def _tasks(job: Job) -> int:
    release = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
    return job.limits.processes + 1 if release >= (5, 14) else 0  # 1: bubblewrap's own process inside


def clean_output(output: bytes) -> str:
    """Text without what terminals obey."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", output.decode(errors="replace"))
