"""Whether the database file is still the one that was opened.

SQLite goes on writing into a file that was deleted or replaced, and all of it is lost when the process ends. Into one
that a copy was written over, such as an older backup, it writes pages that do not belong together.
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
        self._size, self._overwritten = 0, False
        self.check(all_there=False)

    def check(self, *, all_there: bool = True) -> None:
        """Raises NotWritable when one of the files is gone, or another is in its place. `all_there`: a transaction has
        begun, so that both must exist; each is remembered when it is first seen."""
        for path in self._paths:
            if not all_there and path not in self._known and path != self._paths[0]:
                continue
            found = _stat(path)
            if found is None or not self._is_known(path, (found.st_dev, found.st_ino)):
                raise NotWritable(
                    f"The database file {Path(path).name} was deleted or replaced while moot had it open, so nothing "
                    "more is written: it would be lost. Put the file back or restore a backup, then start moot again."
                )
            if path == self._paths[0]:
                self._check_size(found.st_size)

    def _is_known(self, path: str, identity: Identity) -> bool:
        return identity == self._known.setdefault(path, identity)

    def _check_size(self, size: int) -> None:
        """Raises NotWritable, from then on, when the file is shorter than it was: moot never shortens it."""
        self._overwritten |= size < self._size
        self._size = size
        if self._overwritten:
            raise NotWritable(
                f"Something was written over the database file {self._path.name} while moot had it open, so nothing "
                "more is written: it would be lost. Stop moot, restore a backup, then start moot again."
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


def _stat(path: str) -> os.stat_result | None:
    """What is there, or None. Raises NotWritable when that can't be seen."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotWritable(
            f"The database file {Path(path).name} can't be reached any more ({error.strerror}), so nothing more is "
            "written. Check the permissions of its folder, and its disk."
        ) from None
