"""Many streaming debates at once in a fresh process: `python -m perf.crowd FOLDER DEBATES SIM_OPTIONS`."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from moot.app import App
from moot.client import creating
from perf.lag import LoopLag
from perf.memory import resident_bytes
from perf.process import run_module
from perf.rig import DUEL_STEPS, app_in, percentile, plan, run, run_all, sim
from perf.table import Row

_TOKENS = 50  # of each answer
_SECONDS = 500


def measure(folder: Path, *, debates: int = 500, latency_ms: int = 500, per_second: int = 25) -> list[Row]:
    pace = f"latency_ms={latency_ms}&tps={per_second}&tokens={_TOKENS}"
    found = run_module("perf.crowd", folder, str(debates), pace, timeout=_SECONDS + 60)
    who = f"{debates} debates at once in one process"
    growth = found["busy"] - found["idle"]
    one_s, all_s = found["one_s"], found["all_s"]
    lags, lags_one = sorted(found["lags_ms"]), sorted(found["lags_one_ms"])
    return [
        Row(
            name=f"{who}, lag of the event loop, p99",
            value=percentile(lags, 99),
            unit=f"ms (worst {lags[-1]:.3g})",
            reference=percentile(lags_one, 99),
            against=f"{percentile(lags_one, 99):.3g} ms: one debate",
            note=f"duels of {DUEL_STEPS} steps; a simulated answer takes {latency_ms} ms to begin and comes at "
            f"{per_second} tokens a second",
            details={"lags_ms": lags, "lags_one_ms": lags_one},
        ),
        Row(
            name=f"{who}, memory",
            value=growth / 2**20,
            unit=f"MiB ({growth / debates / 1024:.1f} KiB each)",
            reference=found["idle"] / 2**20,
            against=f"{found['idle'] / 2**20:.3g} MiB: the process with none",
        ),
        Row(
            name=f"{who}, durable steps",
            value=debates * DUEL_STEPS / all_s,
            unit=f"/s (all done in {all_s:.3g} s)",
            reference=debates * DUEL_STEPS / one_s,
            against=f"{debates * DUEL_STEPS / one_s:,.0f} /s: if each took {one_s:.3g} s, as one alone does",
            details={"all_s": all_s, "one_s": one_s, "cpu_s": found["cpu_s"]},
        ),
    ]


async def _crowd(folder: Path, debates: int, pace: str) -> dict[str, Any]:
    lag = LoopLag(asyncio.get_running_loop())
    async with app_in(folder) as app:
        await _run(app, [sim()])  # warm-up
        idle = resident_bytes()
        alone = await _run(app, [f"sim:?seed=1&{pace}"])
        samples = [idle]
        over = threading.Event()
        thread = threading.Thread(target=_sample_memory, args=(over, samples))
        thread.start()
        cpu = time.process_time()
        try:
            # A different seed for each: equal texts would share memory.
            together = await _run(app, [f"sim:?seed={number + 2}&{pace}" for number in range(debates)])
        finally:
            over.set()
            thread.join()
    return {
        "idle": idle,
        "busy": max(samples),
        "one_s": alone[1] - alone[0],
        "all_s": together[1] - together[0],
        "cpu_s": time.process_time() - cpu,
        "lags_one_ms": lag.between(*alone),
        "lags_ms": lag.between(*together),
    }


async def _run(app: App, models: Sequence[str]) -> tuple[float, float]:
    """Run a duel on each model, all at once; return when they began and ended (monotonic)."""
    debates = [await creating.create(app, plan(app, model)) for model in models]
    begin = time.monotonic()
    await run_all(app, debates, steps=DUEL_STEPS)
    return begin, time.monotonic()


def _sample_memory(over: threading.Event, samples: list[int]) -> None:
    while not over.wait(0.2):
        samples.append(resident_bytes(collect=False))


def main(folder: str, debates: str, pace: str) -> None:
    print(json.dumps(run(_crowd(Path(folder), int(debates), pace), seconds=_SECONDS)))


if __name__ == "__main__":
    main(*sys.argv[1:])
