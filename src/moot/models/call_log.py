"""The log file that scripted and simulated models write, one line for each call."""

from __future__ import annotations

import os
from pathlib import Path


def append(log: str | Path, line: str) -> None:
    """Append a line in a single write, so that several processes can share the file."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
