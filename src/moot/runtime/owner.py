"""Names of processes that drive debates, from which others on the same machine can tell whether they live."""

from __future__ import annotations

import os
import socket
import uuid
from functools import cache
from pathlib import Path


def this_process() -> str:
    return _name(os.getpid())


@cache
def _name(pid: int) -> str:
    """A process that was forked has a name of its own."""
    return f"{_place()}/{pid}/{_started(pid) or ''}/{uuid.uuid4().hex[:8]}"


def is_dead(owner: str) -> bool:
    """Whether the owner is certainly dead: a process of this machine that no longer exists."""
    parts = owner.split("/")
    if len(parts) != 4 or parts[0] != _place() or not parts[1].isdigit():
        return False
    pid, started = int(parts[1]), parts[2]
    now = _started(pid)
    if started and now is not None and now != started:
        return True
    try:
        os.kill(pid, 0)  # also tells of processes that /proc hides
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _place() -> str:
    """What a pid is relative to: the machine, its boot, and the pid namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = namespace = ""
    return f"{socket.gethostname()} {boot[:8]} {namespace}".strip()


def _started(pid: int) -> str | None:
    """The start time of a process in kernel ticks, which tells it from a later one with the same pid; empty for a
    zombie. None when /proc does not show the process: there is none, or it is another user's and hidden (`hidepid`)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return None
