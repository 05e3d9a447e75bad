"""Many debates at once in one process, all of them talking. A fresh one: `python -m moot.bench.crowd`."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from moot.app import App
from moot.bench.lag import Lag
from moot.bench.memory import resident
from moot.bench.rig import DUEL_STEPS, app_in, finish_all, plan, run, sim, start_all
from moot.bench.streams import at
from moot.bench.table import Row

_TOKENS = 50  # of each answer
_SECONDS = 500


def measure(folder: Path, *, debates: int = 500, latency_ms: int = 500, per_second: int = 25) -> list[Row]:
    found = _in_fresh_process(folder, debates, latency_ms, per_second)
    who = f"{debates} debates at once in one process"
    beyond = found["busy"] - found["idle"]
    one, all_ = found["one_s"], found["all_s"]
    late, late_one = sorted(found["lags_ms"]), sorted(found["lags_one_ms"])
    return [
        Row(
            name=f"{who}, lag of the event loop, p99",
            value=at(late, 99),
            unit=f"ms (worst {late[-1]:.3g})",
            reference=at(late_one, 99),
            against=f"{at(late_one, 99):.3g} ms: one debate",
            note=f"duels of {DUEL_STEPS} steps; a simulated answer takes {latency_ms} ms to begin and comes at "
            f"{per_second} tokens a second",
            details={"lags_ms": late, "lags_one_ms": late_one},
        ),
        Row(
            name=f"{who}, memory",
            value=beyond / 2**20,
            unit=f"MiB ({beyond / debates / 1024:.1f} KiB each)",
            reference=found["idle"] / 2**20,
            against=f"{found['idle'] / 2**20:.3g} MiB: the process with none",
        ),
        Row(
            name=f"{who}, durable steps",
            value=debates * DUEL_STEPS / all_,
            unit=f"/s (all done in {all_:.3g} s)",
            reference=debates * DUEL_STEPS / one,
            against=f"{debates * DUEL_STEPS / one:,.0f} /s: if each took {one:.3g} s, as one alone does",
            details={"all_s": all_, "one_s": one, "cpu_s": found["cpu_s"]},
        ),
    ]


def _in_fresh_process(folder: Path, debates: int, latency_ms: int, per_second: int) -> dict[str, Any]:
    pace = f"latency_ms={latency_ms}&tps={per_second}&tokens={_TOKENS}"
    command = [sys.executable, "-m", "moot.bench.crowd", folder, str(debates), pace]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS + 60, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout)


async def _crowd(folder: Path, debates: int, pace: str) -> dict[str, Any]:
    lag = Lag(asyncio.get_running_loop())
    async with app_in(folder) as app:
        await _run(app, [sim()])  # everything is loaded
        idle = resident()
        alone = await _run(app, [f"sim:?seed=1&{pace}"])
        highest = [idle]
        over = threading.Event()
        thread = threading.Thread(target=_look, args=(over, highest))
        thread.start()
        cpu = time.process_time()
        try:
            # A seed of its own for each: the same words in all of them would be kept only once.
            together = await _run(app, [f"sim:?seed={number + 2}&{pace}" for number in range(debates)])
        finally:
            over.set()
            thread.join()
    return {
        "idle": idle,
        "busy": max(highest),
        "one_s": alone[1] - alone[0],
        "all_s": together[1] - together[0],
        "cpu_s": time.process_time() - cpu,
        "lags_one_ms": lag.between(*alone),
        "lags_ms": lag.between(*together),
    }


async def _run(app: App, models: Sequence[str]) -> tuple[float, float]:
    """From when to when (monotonic)."""
    made = [await app.create(plan(app, model)) for model in models]
    begin = time.monotonic()
    await start_all(app, made)
    await finish_all(app, made, steps=DUEL_STEPS)
    return begin, time.monotonic()


def _look(over: threading.Event, highest: list[int]) -> None:
    while not over.wait(0.2):
        highest.append(resident(collected=False))


if __name__ == "__main__":
    where, count, how = sys.argv[1:]
    print(json.dumps(run(_crowd(Path(where), int(count), how), seconds=_SECONDS)))
