"""How much of a debate's wall time is not waiting for models: the waves of a duel, one call each, are the least."""

from __future__ import annotations

from pathlib import Path

from moot.app import App
from moot.bench.rig import (
    DUEL_STEPS,
    app_in,
    finish_all,
    median,
    plan,
    run,
    sim,
    start_all,
    timed,
    whole_duel,
)
from moot.bench.table import Goal, Row
from moot.types import Debate


def measure(folder: Path, *, repeats: int = 5, latency_ms: int = 100) -> list[Row]:
    return run(_measure(folder, repeats, latency_ms))


async def _measure(folder: Path, repeats: int, latency_ms: int) -> list[Row]:
    played = await whole_duel()
    spec = sim(latency_ms=latency_ms)
    debates: list[float] = []
    calls: list[float] = []
    async with app_in(folder) as app:
        model = app.models.open(spec)  # with its wrappers, as the debate gets it
        for _ in range(repeats):
            debate = await app.create(plan(app, spec))
            debates.append(await timed(_debate(app, debate)))
            calls += [await timed(model(call, lambda _: None)) for call in played.calls[: played.waves]]
    least = played.waves * median(calls)
    return [
        Row(
            name="wall time of a duel",
            value=median(debates),
            unit="s",
            reference=least,
            against=f"{least:.3g} s: the critical path, {played.waves} times the median call",
            goal=Goal(sign="<=", bound=1.05),
            least=1,
            note=f"6 turns, {len(played.turns)} calls of a simulated model that takes {latency_ms} ms",
            details={"debates_s": debates, "calls_s": calls},
        )
    ]


async def _debate(app: App, debate: Debate) -> None:
    await start_all(app, [debate])
    await finish_all(app, [debate], steps=DUEL_STEPS)
