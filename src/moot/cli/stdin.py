"""A question from standard input. Imports little: `moot --help` looks here first."""

from __future__ import annotations

import os
import stat
import sys

SILENT_SECONDS = 0.5  # before a note says what is waited for


def is_piped() -> bool:
    """Whether standard input is a pipe or a file, rather than a terminal or nothing."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):  # closed, or not a file
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def read_question() -> str:
    """All of standard input. Raises InputError when it is not UTF-8 text."""
    from moot.cli.printer import note
    from moot.core.errors import InputError
    from moot.core.settings import MAX_TOPIC_CHARS

    if sys.stdin.isatty():
        note("Type the question, then Ctrl-D.")
    elif not _ready():
        note("Waiting for the question on standard input. Ctrl-C ends it.")
    try:
        # More than can be used, so that too much is noticed.
        return sys.stdin.buffer.read(200 * MAX_TOPIC_CHARS).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("The question on standard input is not UTF-8 text.") from None


def _ready() -> bool:
    """Whether something can be read soon."""
    import select

    try:
        return bool(select.select([sys.stdin], [], [], SILENT_SECONDS)[0])
    except (OSError, ValueError):  # Windows has no select for pipes
        return True
