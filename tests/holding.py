"""A process that holds an SQLite database, as a backup program or a forgotten shell does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLD = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("begin exclusive")
print("held", flush=True)
sys.stdin.readline()
other.execute("rollback")
"""


class Holder:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def release(self) -> None:
        self._process.communicate("\n")


@contextmanager
def held(path: Path) -> Iterator[Holder]:
    """Another process holds the database until it is released, or the block ends."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        holder = Holder(process)
        try:
            yield holder
        finally:
            if process.poll() is None:
                holder.release()
