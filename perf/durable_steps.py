"""Durable steps per second on SQLite, with an instant model: against raw SQLite, and against LangGraph."""

from __future__ import annotations

from pathlib import Path

from moot.client import creating
from perf import raw
from perf.peer import Peer
from perf.rig import (
    DUEL_STEPS,
    alternate,
    app_in,
    median,
    plan,
    play_duel,
    run,
    run_all,
    sim,
    timed,
)
from perf.table import Goal, Row

_SETTINGS = "SQLite, WAL, synchronous=FULL"


def against_raw(folder: Path, *, repeats: int = 9, debates: int = 100) -> list[Row]:
    played = run(play_duel(folder))
    rows: list[Row] = []
    for count, times in ((1, repeats * 3), (debates, repeats)):
        ours, theirs = alternate(
            times,
            lambda count=count: rate(count, run(_seconds(folder, count))),
            lambda count=count: rate(count, run(raw.seconds_for(folder, played, debates=count))),
        )
        note = f"{_SETTINGS}; raw: a writer thread that commits prebuilt rows in groups"
        goal = Goal(sign=">=", bound=0.25)
        rows.append(row(count, ours, theirs, "raw SQLite", goal, note if count == 1 else ""))
    return rows


def against_langgraph(folder: Path, *, repeats: int = 5, debates: int = 100, home: Path | None = None) -> list[Row]:
    played = run(play_duel(folder))
    rows: list[Row] = []
    with Peer(
        "LangGraph",
        folder,
        home or folder,
        program="peer_langgraph.py",
        requirements="sqlite_requirements.txt",
        argument=folder,
        texts=[turn.content for turn in played.turns],
    ) as peer:
        for count, times in ((1, repeats * 3), (debates, repeats)):
            ours, theirs = alternate(
                times,
                lambda count=count: rate(count, run(_seconds(folder, count))),
                lambda count=count: rate(count, peer.seconds_for(count)),
            )
            note = f"{peer.versions}, {peer.about}; at least {peer.stored} checkpoints for each debate of 30 steps"
            goal = Goal(sign=">=", bound=10)
            rows.append(row(count, ours, theirs, "LangGraph", goal, note if count == 1 else ""))
    return rows


async def _seconds(folder: Path, count: int) -> float:
    async with app_in(folder) as app:
        duel = plan(app, sim())
        debates = [await creating.create(app, duel) for _ in range(count)]
        return await timed(run_all(app, debates, steps=DUEL_STEPS))


def rate(debates: int, seconds: float) -> float:
    """Steps per second of so many duels."""
    return debates * DUEL_STEPS / seconds


def row(count: int, ours: list[float], theirs: list[float], reference: str, goal: Goal, note: str) -> Row:
    who = "one debate" if count == 1 else f"{count} debates at once"
    return Row(
        name=f"durable steps, {who}, {reference}",
        value=median(ours),
        unit="/s",
        reference=median(theirs),
        against=f"{median(theirs):,.0f} /s: {reference}",
        goal=goal,
        note=note,
        details={"ours": ours, "reference": theirs},
    )
