"""Start-up time of `moot --help`, against `python -c pass`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from perf.process import last_line
from perf.rig import alternate, median
from perf.table import Goal, Row


def measure(folder: Path, *, repeats: int = 41) -> list[Row]:
    command = Path(sys.executable).with_name("moot")
    ours, bare = alternate(
        repeats, lambda: _milliseconds(command, "--help"), lambda: _milliseconds(sys.executable, "-c", "pass")
    )
    return [
        Row(
            name="start of `moot --help`",
            value=median(ours),
            unit="ms",
            reference=median(bare),
            against=f"{median(bare):.3g} ms: python -c pass",
            goal=Goal(sign="<=", bound=1.3),
            least=1,
            details={"ours_ms": ours, "bare_ms": bare},
        )
    ]


def _milliseconds(*command: str | Path) -> float:
    clock = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    seconds = time.perf_counter() - clock
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {last_line(done.stderr)}")
    return seconds * 1000
