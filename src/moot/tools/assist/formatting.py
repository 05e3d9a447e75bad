"""Lays Python code out with ruff, in the sandbox."""

from __future__ import annotations

import json

from moot.core.errors import ToolError
from moot.tools.checks.linters import PROGRAM, RUFF_INSIDE, ruff_program
from moot.tools.sandbox import Job, Limits, Mount, Run
from moot.tools.sandbox.mounts import interpreter

SECONDS = 20.0
_SHOW = "import sys; sys.stdout.write(open(sys.argv[1], encoding='utf-8').read())"


def format_job(code: str, source: str, limits: Limits) -> Job:
    """Raises ToolError if ruff is not installed."""
    ruff = ruff_program()
    if ruff is None:
        raise ToolError("ruff is not installed, so code can't be formatted.")
    commands = [
        ("format", [RUFF_INSIDE, "format", "--isolated", "--no-cache", "--quiet", source]),
        ("show", [interpreter().program, "-S", "-B", "-c", _SHOW, source]),
    ]
    given = {"code": code, "source": source, "seconds": SECONDS, "commands": commands}
    return Job(
        program=PROGRAM.read_text(),
        input=json.dumps(given).encode(),
        mounts=(Mount(source=str(ruff), target=RUFF_INSIDE),),
        script=True,
        limits=limits,
    )


def read_formatted(run: Run) -> str:
    """Raises ToolError if the code could not be formatted."""
    try:
        (_, code, _, errors), (_, shown, text, _) = (json.loads(line) for line in run.results.splitlines())
    except ValueError:
        raise ToolError(f"The code could not be formatted: the run ended early ({run.ended_by}).") from None
    if code or shown:
        raise ToolError(f"The code could not be formatted: {' '.join(str(errors).split())[:300]}")
    return text
