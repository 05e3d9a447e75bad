"""Durable steps per second: whole debates with a model that answers at once, against less and against another."""

from __future__ import annotations

from pathlib import Path

from moot.app import App
from moot.bench import raw
from moot.bench.peer import Peer
from moot.bench.rig import (
    DUEL_STEPS,
    alternate,
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

_SETTINGS = "SQLite, WAL, synchronous=FULL"


def against_raw(folder: Path, *, repeats: int = 9, debates: int = 100) -> list[Row]:
    played = run(whole_duel())
    rows: list[Row] = []
    for count, times in ((1, repeats * 3), (debates, repeats)):
        ours, theirs = alternate(
            times,
            lambda count=count: rate(count, run(_seconds(folder, count))),
            lambda count=count: rate(count, run(raw.seconds_for(folder, played, debates=count))),
        )
        note = f"{_SETTINGS}; raw: a writer thread with grouped commits that is given finished rows"
        goal = Goal(sign=">=", bound=0.25)
        rows.append(row(count, ours, theirs, "raw SQLite", goal, note if count == 1 else ""))
    return rows


def against_langgraph(folder: Path, *, repeats: int = 5, debates: int = 100, home: Path | None = None) -> list[Row]:
    played = run(whole_duel())
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
        debates = [await app.create(duel) for _ in range(count)]
        return await timed(_all(app, debates))


async def _all(app: App, debates: list[Debate]) -> None:
    await start_all(app, debates)
    await finish_all(app, debates, steps=DUEL_STEPS)


def rate(debates: int, seconds: float) -> float:
    return debates * DUEL_STEPS / seconds


def row(count: int, ours: list[float], theirs: list[float], whom: str, goal: Goal, note: str) -> Row:
    who = "one debate" if count == 1 else f"{count} debates at once"
    return Row(
        name=f"durable steps, {who}, {whom}",
        value=median(ours),
        unit="/s",
        reference=median(theirs),
        against=f"{median(theirs):,.0f} /s: {whom}",
        goal=goal,
        note=note,
        details={"ours": ours, "reference": theirs},
    )
