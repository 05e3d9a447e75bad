"""Run modules of this package as separate processes, from any working directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent  # the repository: `perf` is not installed


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` with the repository root first on PYTHONPATH, which `python -m perf.x` needs."""
    return {**base, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), base.get("PYTHONPATH")]))}


def run_module(name: str, *arguments: str | Path, timeout: float, stdin: str = "") -> Any:
    """Run `python -m NAME` to its end and return the JSON that it prints.

    Raises RuntimeError with the last line of its stderr if it fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=environment(os.environ),
    )
    if done.returncode:
        raise RuntimeError(last_line(done.stderr))
    return json.loads(done.stdout)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:200]
