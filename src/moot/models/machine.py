"""What this machine has to run a model on: free memory and disk space."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


def available_memory() -> int | None:
    """Return the bytes of memory that a new program can use, within a container's limit, or None if not known."""
    known = [each for each in (_system_memory(), _container_memory()) if each is not None]
    return min(known, default=None)


def free_disk(folder: Path) -> int | None:
    """Return the free bytes where `folder` is or would be made, or None if not known."""
    for place in (folder, *folder.absolute().parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None


def _system_memory() -> int | None:
    if sys.platform == "linux":
        try:
            lines = _MEMINFO.read_text().splitlines()
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
        except (OSError, ValueError, StopIteration, IndexError):
            return None
    if sys.platform == "win32":
        return None
    try:
        # All of it: macOS does not say how much of it is free.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _container_memory() -> int | None:
    """What is left of the limit of the control group (v2); caches of files count as free."""
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        stat = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        return max(0, limit - used + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None
