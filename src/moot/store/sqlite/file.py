"""Whether the database file is still the one that was opened.

SQLite goes on writing into a file that was deleted or replaced, and all of it is lost when the process ends. Into one
that a copy was written over, such as an older backup, it writes pages that do not belong together.

In WAL mode the database file itself is written by checkpoints only, of any process, and those are counted in the shared
memory of SQLite, the file that ends in `-shm`. So a time of change that no checkpoint explains is that of a copy.
"""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path
from typing import ClassVar

from moot.core.errors import NotWritable

LEAST_FREE_BYTES = 16 * 2**20  # less on the disk than this is as good as full: a checkpoint may need it at once

Identity = tuple[int, int]  # device and inode

# Two salts of the log, the frames that checkpoints have copied from it, and those that the last one set out to copy.
Checkpoints = tuple[int, int, int, int]
# Where they are in the shared memory: see "WAL-Index Header" in https://www.sqlite.org/walformat.html.
_HEADER = struct.Struct("=32x 2I 56x I 28x I")


class OpenFile:
    """The database and its write-ahead log, as they were when they were opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._paths = (os.fspath(path), f"{path}-wal")
        self._known: dict[str, Identity] = {}
        self._size, self._overwritten = 0, False
        self._memory: _SharedMemory | None = None
        self._written: tuple[Checkpoints, int] | None = None  # when it was last looked at; see `_check_written`
        self.check(all_there=False)

    def check(self, *, all_there: bool = True) -> None:
        """Raises NotWritable when one of the files is gone, or another is in its place. `all_there`: a transaction has
        begun, so that both must exist; each is remembered when it is first seen."""
        for path in self._paths:
            if not all_there and path not in self._known and path != self._paths[0]:
                continue
            # Before the time of change: what another process writes after this look is counted at the next.
            checkpoints = self._checkpoints() if path == self._paths[0] else None
            found = _stat(path)
            if found is None or not self._is_known(path, (found.st_dev, found.st_ino)):
                raise NotWritable(
                    f"The database file {Path(path).name} was deleted or replaced while moot had it open, so nothing "
                    "more is written: it would be lost. Put the file back or restore a backup, then start moot again."
                )
            if path == self._paths[0]:
                self._check_size(found.st_size)
                self._check_written(checkpoints, found.st_mtime_ns)

    def close(self) -> None:
        """Call when no connection of this process has the file open any more."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _is_known(self, path: str, identity: Identity) -> bool:
        return identity == self._known.setdefault(path, identity)

    def _check_size(self, size: int) -> None:
        """Raises NotWritable, from then on, when the file is shorter than it was: moot never shortens it."""
        self._overwritten |= size < self._size
        self._size = size
        self._raise_if_overwritten()

    def _check_written(self, checkpoints: Checkpoints | None, changed: int) -> None:
        """Raises NotWritable, from then on, when the file was changed and no checkpoint explains it."""
        if self._written is not None and self._written[1] != changed and self._written[0] == checkpoints:
            again = self._checkpoints()  # one may have begun since
            self._overwritten |= again == checkpoints and not _under_way(again)
        self._written = None if checkpoints is None else (checkpoints, changed)
        self._raise_if_overwritten()

    def _checkpoints(self) -> Checkpoints | None:
        self._memory = self._memory or _SharedMemory.of(f"{self._paths[0]}-shm")
        return None if self._memory is None else self._memory.checkpoints()

    def _raise_if_overwritten(self) -> None:
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


class _SharedMemory:
    """SQLite's shared memory, open for reading. A file is opened once in a process, and closed with its last user: to
    close it drops every lock that SQLite has on it here."""

    _open: ClassVar[dict[Identity, tuple[int, int]]] = {}  # the descriptor, and how many use it
    _lock = threading.Lock()

    def __init__(self, identity: Identity, descriptor: int) -> None:
        self._identity, self._descriptor = identity, descriptor

    @classmethod
    def of(cls, path: str) -> _SharedMemory | None:
        """Return None when there is none yet, or this system has no such file."""
        if not hasattr(os, "pread"):
            return None
        with cls._lock:
            try:
                found = os.stat(path)
                identity = found.st_dev, found.st_ino
                descriptor, users = cls._open.get(identity, (-1, 0))
                if not users:
                    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return None
            cls._open[identity] = descriptor, users + 1
            return cls(identity, descriptor)

    def checkpoints(self) -> Checkpoints | None:
        """Return None when nothing is there yet."""
        header = os.pread(self._descriptor, _HEADER.size, 0)
        return _HEADER.unpack(header) if len(header) == _HEADER.size else None

    def close(self) -> None:
        with self._lock:
            descriptor, users = self._open.pop(self._identity)
            if users > 1:
                self._open[self._identity] = descriptor, users - 1
            else:
                os.close(descriptor)


def _under_way(checkpoints: Checkpoints | None) -> bool:
    """Whether a checkpoint may be writing right now."""
    return checkpoints is None or checkpoints[2] != checkpoints[3]


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
