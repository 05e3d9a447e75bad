"""Whether the database file is still the one that was opened.

SQLite goes on writing into a file that was deleted or replaced, and all of it is lost when the process ends.
"""

from __future__ import annotations

import os
from pathlib import Path

from moot.core.errors import NotWritable

LEAST_FREE_BYTES = 16 * 2**20  # less on the disk than this is as good as full: a checkpoint may need it at once

Identity = tuple[int, int]  # device and inode


class OpenFile:
    """The database and its write-ahead log, as they were when they were opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._paths = (os.fspath(path), f"{path}-wal")
        self._known: dict[str, Identity] = {}
        self.check(all_there=False)

    def check(self, *, all_there: bool = True) -> None:
        """Raises NotWritable when one of the files is gone, or another is in its place. `all_there`: a transaction has
        begun, so that both must exist; each is remembered when it is first seen."""
        for path in self._paths:
            if not all_there and path not in self._known and path != self._paths[0]:
                continue
            found = _identity(path)
            if found is None or found != self._known.setdefault(path, found):
                raise NotWritable(
                    f"The database file {Path(path).name} was deleted or replaced while moot had it open, so nothing "
                    "more is written: it would be lost. Put the file back or restore a backup, then start moot again."
                )

    def check_space(self) -> None:
        """Raises NotWritable when the disk is all but full."""
        if not hasattr(os, "statvfs"):
            return
        disk = os.statvfs(self._path)
        free = disk.f_bavail * disk.f_frsize
        if free < LEAST_FREE_BYTES:
            raise NotWritable(
                f"The disk of the database is full: {free / 2**20:.1f} MB are left. What is stored is whole: free some "
                "space, then go on.",
                remedy="resume",
            )


def _identity(path: str) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
