"""Memory of debates in flight, in a fresh process: `python -m perf.memory FOLDER DEBATES early|late`."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from moot.app import App
from moot.client import creating
from moot.core.types import Debate
from perf.process import run_module
from perf.rig import DUEL_STEPS, app_in, plan, run, run_all, sim, start_all
from perf.table import Row

_SLOW_MS = 3_600_000  # outlasts the process
_TURNS_BEFORE_SCORES = 14  # plans, thoughts and statements of a duel


def measure(folder: Path, *, debates: int = 1000) -> list[Row]:
    rows: list[Row] = []
    for stage, when in (("early", "at their first step"), ("late", "after the last statement")):
        found = run_module("perf.memory", folder, str(debates), stage, timeout=120)
        growth = found["busy"] - found["idle"]
        rows.append(
            Row(
                name=f"memory of {debates:,} debates, {when}",
                value=growth / 2**20,
                unit=f"MiB ({growth / debates / 1024:.1f} KiB each)",
                reference=found["idle"] / 2**20,
                against=f"{found['idle'] / 2**20:.3g} MiB: the process with none",
                note="" if rows else "resident memory; every debate has a step in flight on a slow simulated model",
                details={**found, "per_debate": growth / debates},
            )
        )
    return rows


async def _resident(folder: Path, count: int, *, late: bool) -> dict[str, int]:
    async with app_in(folder) as app:
        await run_all(app, [await creating.create(app, plan(app, sim()))], steps=DUEL_STEPS)  # warm-up
        idle = resident_bytes()
        slow = sim(latency_ms=_SLOW_MS)
        # A different seed for each: equal texts would share memory.
        specs = [sim(seed=1000 + number) if late else slow for number in range(count)]
        debates = [await creating.create(app, plan(app, spec, judge=slow)) for spec in specs]
        await start_all(app, debates)
        turns = _TURNS_BEFORE_SCORES if late else 0
        await _wait_for_turns(app, debates, turns)
        busy = resident_bytes()
    return {"idle": idle, "busy": busy, "turns_each": turns}


async def _wait_for_turns(app: App, debates: Sequence[Debate], turns: int) -> None:
    """Wait until each debate has exactly `turns` turns and a step in flight."""
    until = time.monotonic() + 60
    for debate in debates:
        while True:
            now = await app.runtime.store.get(debate.id)
            if now.turn_count == turns and app.runtime.hub.flights(debate.id):
                break
            if now.status != "running" or time.monotonic() > until:
                raise RuntimeError(f"a debate is {now.status} after {now.turn_count} turns of {turns}: {now.error}")
            await asyncio.sleep(0.02)


def resident_bytes(*, collect: bool = True) -> int:
    """Resident memory of this process, by default after a garbage collection."""
    if collect:
        gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(folder: str, debates: str, stage: str) -> None:
    print(json.dumps(run(_resident(Path(folder), int(debates), late=stage == "late"))))


if __name__ == "__main__":
    main(*sys.argv[1:])
