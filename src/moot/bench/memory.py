"""What debates in flight cost in memory. Measured in a fresh process: `python -m moot.bench.memory 1000 10`."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from moot.app import App
from moot.bench.rig import DUEL_STEPS, app_in, finish_all, plan, run, sim, start_all
from moot.bench.table import Row
from moot.types import Debate

_SLOW_MS = 3_600_000  # in flight until the process lets go of it


def measure(folder: Path, *, debates: int = 1000) -> list[Row]:
    rows: list[Row] = []
    for late, when in ((False, "at their first step"), (True, "when all has been said")):
        found = _in_fresh_process(folder, debates, late)
        beyond = found["busy"] - found["idle"]
        each = beyond / debates
        rows.append(
            Row(
                name=f"memory of {debates:,} debates, {when}",
                value=beyond / 2**20,
                unit=f"MiB ({each / 1024:.1f} KiB each)",
                reference=found["idle"] / 2**20,
                against=f"{found['idle'] / 2**20:.3g} MiB: the process with none",
                note="" if late else "resident memory; every debate has a step in flight on a slow simulated model",
                details={**found, "per_debate": each},
            )
        )
    return rows


def _in_fresh_process(folder: Path, debates: int, late: bool) -> dict[str, int]:
    command = [sys.executable, "-m", "moot.bench.memory", folder, str(debates), "late" if late else "early"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout)


async def _resident(folder: Path, debates: int, late: bool) -> dict[str, int]:
    async with app_in(folder) as app:
        warm = await app.create(plan(app, sim()))
        await start_all(app, [warm])
        await finish_all(app, [warm], steps=DUEL_STEPS)
        idle = resident()
        slow = sim(latency_ms=_SLOW_MS)
        # A seed of its own for each: the same words in all of them would be kept only once.
        specs = [sim(seed=1000 + number) if late else slow for number in range(debates)]
        waiting = [await app.create(plan(app, spec, judge=slow)) for spec in specs]
        await start_all(app, waiting)
        turns = 14 if late else 0  # plans, thoughts and statements, but no score
        await _reached(app, waiting, turns)
        busy = resident()
    return {"idle": idle, "busy": busy, "turns_each": turns}


async def _reached(app: App, debates: list[Debate], turns: int) -> None:
    """Until each has so many turns and a step in flight."""
    until = time.monotonic() + 60
    for debate in debates:
        while True:
            now = await app.runtime.store.get(debate.id)
            if now.turn_count == turns and app.runtime.hub.flights(debate.id):
                break
            if now.status != "running" or time.monotonic() > until:
                raise RuntimeError(f"a debate is {now.status} after {now.turn_count} turns of {turns}: {now.error}")
            await asyncio.sleep(0.02)


def resident(*, collected: bool = True) -> int:
    """Bytes of memory that this process holds, what is no longer used let go of before."""
    if collected:
        gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    where, count, when = sys.argv[1:]
    print(json.dumps(run(_resident(Path(where), int(count), when == "late"))))
