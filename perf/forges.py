"""Many debates that run code in the sandbox, at once in a fresh process: `python -m perf.forges FOLDER FORGES`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from moot.app import App
from moot.client import creating
from moot.corpus import tasks
from moot.tools.sandbox import PROCESS
from perf.lag import LoopLag
from perf.process import run_module
from perf.rig import app_in, percentile, plan, run
from perf.table import Goal, Row

LAG_MS = 100.0  # p99, that other debates of the process may wait
MODEL = "sim:?seed={seed}&skill=.7&cases=.9"
SETTINGS: dict[str, Any] = {"preset": "quick", "clarify": "judge", "recall_decisions": False, "hooks": []}
_SECONDS = 500


def measure(folder: Path, *, forges: int = 120) -> list[Row]:
    problem = PROCESS.probed().problem
    if problem is not None:
        return [Row(name="forges at once", error=problem.what)]
    found = run_module("perf.forges", folder, str(forges), timeout=_SECONDS + 60)
    lags, alone = sorted(found["lags_ms"]), percentile(sorted(found["lags_one_ms"]), 99)
    return [
        Row(
            name=f"{forges} forges at once in one process, lag of the event loop, p99",
            value=percentile(lags, 99),
            unit=f"ms (worst {lags[-1]:.3g}; one alone: {alone:.3g})",
            reference=LAG_MS,
            against=f"{LAG_MS:g} ms",
            goal=Goal(sign="<=", bound=1),
            note=f"quick ones on instant models, whose code is run on {found['slots']} slots; all done in "
            f"{found['all_s']:.3g} s",
            details=found,
        )
    ]


async def _forges(folder: Path, forges: int) -> dict[str, Any]:
    lag = LoopLag(asyncio.get_running_loop())
    async with app_in(folder) as app:
        await _run(app, 1, 0)  # warm-up
        alone = await _run(app, 1, 1)
        together = await _run(app, forges, 2)
    return {
        "slots": PROCESS.slots.count,
        "all_s": together[1] - together[0],
        "lags_one_ms": lag.between(*alone),
        "lags_ms": lag.between(*together),
    }


async def _run(app: App, count: int, seed: int) -> tuple[float, float]:
    """Run so many at once; return when they began and ended (monotonic)."""
    task = tasks()[0]
    debates = [
        await creating.create(
            app, plan(app, MODEL.format(seed=seed + n), format="forge", settings=SETTINGS, topic=task.spec)
        )
        for n in range(count)
    ]
    begin = time.monotonic()
    await asyncio.gather(*(app.runtime.start(debate.id) for debate in debates))
    for debate in debates:
        ended = await app.runtime.wait(debate.id)
        if ended.status != "completed":
            raise RuntimeError(f"a debate is {ended.status}: {ended.error}")
    return begin, time.monotonic()


def main(folder: str, forges: str) -> None:
    print(json.dumps(run(_forges(Path(folder), int(forges)), seconds=_SECONDS)))


if __name__ == "__main__":
    main(*sys.argv[1:])
