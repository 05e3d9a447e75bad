"""Who drives a debate, written so that another process on the same machine can tell whether it still lives."""

from __future__ import annotations

import os
import socket
import uuid
from functools import cache
from pathlib import Path


@cache
def this_process() -> str:
    return f"{_place()}/{os.getpid()}/{_started(os.getpid())}/{uuid.uuid4().hex[:8]}"


def is_dead(owner: str) -> bool:
    """True only when it is certain: the owner was a process of this machine, and is gone."""
    parts = owner.split("/")
    if len(parts) != 4 or parts[0] != _place() or not parts[1].isdigit():
        return False
    pid, started = int(parts[1]), parts[2]
    if started and _started(pid) != started:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _place() -> str:
    """Where a pid means something: this machine since it was started, and this namespace of processes."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = namespace = ""
    return f"{socket.gethostname()} {boot[:8]} {namespace}".strip()


def _started(pid: int) -> str:
    """When the process began, in kernel ticks: a pid that is used again is another process. One that has ended, and
    whose parent has not noticed yet, is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return ""
