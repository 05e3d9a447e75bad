"""How long `moot --help` takes to come up, against a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from moot.bench.rig import alternate, median
from moot.bench.table import Goal, Row


def measure(folder: Path, *, repeats: int = 41) -> list[Row]:
    moot = Path(sys.executable).with_name("moot")
    ours, bare = alternate(
        repeats, lambda: _milliseconds(moot, "--help"), lambda: _milliseconds(sys.executable, "-c", "pass")
    )
    return [
        Row(
            name="start of `moot --help`",
            value=median(ours),
            unit="ms",
            reference=median(bare),
            against=f"{median(bare):.3g} ms: python -c pass",
            goal=Goal(sign="<=", bound=6),
            least=1,
            details={"ours_ms": ours, "bare_ms": bare},
        )
    ]


def _milliseconds(*command: str | Path) -> float:
    clock = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    seconds = time.perf_counter() - clock
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"{command[0]} failed"])[-1])
    return seconds * 1000
