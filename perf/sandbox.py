"""What a run in the sandbox costs: its start over that of the bare interpreter, and many cases in one run."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Job, Limits, Sandbox
from perf.rig import median
from perf.table import Goal, Row

START_MS = 60.0  # that a start may take over a bare interpreter's
CASES = 60
CASES_MS = 1000.0
CODE = "def double(n):\n    return 2 * n\n"


def measure(folder: Path, *, repeats: int = 21) -> list[Row]:
    return asyncio.run(_measure(repeats))


async def _measure(repeats: int) -> list[Row]:
    sandbox = Sandbox(slots=1)
    standing = await sandbox.probe()
    if standing.problem is not None:
        return [Row(name="a run in the sandbox", error=standing.problem.what)]
    calls = [(0, [f"double({n})"]) for n in range(CASES)]
    many = cases_job("python", [CODE], calls, Limits(), CaseLimits())

    async def start() -> None:
        if (await sandbox.run(Job(program="pass"))).code:
            raise RuntimeError("the program failed inside")

    async def bare() -> None:
        await asyncio.to_thread(subprocess.run, [sys.executable, "-I", "-S", "-c", "pass"], check=True)

    async def cases() -> None:
        found = read_cases(await sandbox.run(many), CASES)
        if [each.value for each in found] != [str(2 * n) for n in range(CASES)]:
            raise RuntimeError("not every case was run")

    inside: list[float] = []
    outside: list[float] = []
    together: list[float] = []
    for _ in range(repeats):
        inside.append(await _milliseconds(start))
        outside.append(await _milliseconds(bare))
        together.append(await _milliseconds(cases))
    over = median(inside) - median(outside)
    return [
        Row(
            name="start of a run in the sandbox, over a bare interpreter's",
            value=max(0.0, over),
            unit="ms",
            reference=START_MS,
            against=f"{START_MS:g} ms",
            goal=Goal(sign="<=", bound=1),
            note=f"{median(inside):.3g} ms against {median(outside):.3g} ms",
            details={"inside_ms": inside, "bare_ms": outside},
        ),
        Row(
            name=f"{CASES} cases in one run",
            value=median(together),
            unit="ms",
            reference=CASES_MS,
            against="1 s",
            goal=Goal(sign="<=", bound=1),
            details={"ms": together},
        ),
    ]


async def _milliseconds(work: Callable[[], Awaitable[None]]) -> float:
    clock = time.perf_counter()
    await work()
    return (time.perf_counter() - clock) * 1000
