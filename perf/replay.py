"""Time to resume a long debate: read its turns and replay its script. Must not grow faster than the turns."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from moot.core.types import Json
from moot.formats import Format
from moot.store import Store
from perf.rig import app_in, median, plan, play, run, sim
from perf.table import Goal, Row

_TIMES_LONGER = 10


def measure(folder: Path, *, repeats: int = 7, turns: int = 1000) -> list[Row]:
    return run(_measure(folder, repeats, turns))


async def _measure(folder: Path, repeats: int, turns: int) -> list[Row]:
    short = turns // _TIMES_LONGER
    long_ms: list[float] = []
    short_ms: list[float] = []
    async with app_in(folder) as app:
        spec = sim(tokens=150)
        settings: Json = {
            "max_rounds": turns // 2,
            "max_total_output_tokens": 100_000_000,
            "max_runtime_seconds": 604_800,
        }
        classic = plan(app, spec, format="classic", settings=settings)
        played = await play(app, classic)
        store = app.runtime.store
        for length in (turns, short):
            await store.create(replace(played.debate, id=_id(length)), played.turns[:length])
        for _ in range(repeats):
            long_ms.append(await _per_turn(store, classic.format, turns, times=1))
            # Repeated, so that both take about as long.
            short_ms.append(await _per_turn(store, classic.format, short, times=_TIMES_LONGER))
    return [
        Row(
            name=f"replay of {turns:,} turns",
            value=median(long_ms),
            unit=f"ms a turn ({median(long_ms) * turns:.0f} ms)",
            reference=median(short_ms),
            against=f"{median(short_ms):.3g} ms a turn with {short} turns",
            goal=Goal(sign="<=", bound=1.5),
            note="a classic debate read from SQLite and run through its script, as a resume does; no model is called",
            details={"long_ms": long_ms, "short_ms": short_ms},
        )
    ]


async def _per_turn(store: Store, format_: Format, length: int, *, times: int) -> float:
    """Milliseconds for one turn of a debate of `length` turns."""
    clock = time.perf_counter()
    for _ in range(times):
        script = format_.script(await store.get(_id(length)))
        script.replay(await store.turns(_id(length)))
        if script.turn_count != length:
            raise RuntimeError(f"{script.turn_count} of {length} turns were replayed")
        script.close()
    return (time.perf_counter() - clock) * 1000 / times / length


def _id(length: int) -> str:
    return f"bench-{length}"
