"""Wall time of a debate in each installed format, against its critical path.

The critical path is the longest chain of calls in which each must wait for the one before, times the median time of a
call. The chain is found by driving the script over the turns of the debate that was measured, so it follows from the
rules and not from the order in which the runtime executed the steps. Where code is run, the time that each run took is
part of the chain."""

from __future__ import annotations

from pathlib import Path

from moot.app import App
from moot.core.types import Json
from moot.corpus import tasks
from moot.formats import Format, installed
from moot.planning import Plan
from perf.rig import TOPIC, Played, app_in, longest, median, plan, play, run, sim, timed
from perf.table import Goal, Row

_GOAL = Goal(sign="<=", bound=1.05)
_GOAL_WITH_CODE = Goal(sign="<=", bound=1.1)
_ENGINEERS = "&skill=1&cases=1&repair=1&red=1"  # of a simulated model that writes code
_TIMED_CALLS = 10  # on their own, after each debate


def measure(folder: Path, *, repeats: int = 3, latency_ms: int = 100) -> list[Row]:
    rows: list[Row] = []
    for format_ in installed().values():
        name = f"wall time of a debate, {format_.name}"
        try:
            rows.append(run(_measure(folder, name, format_, repeats, latency_ms)))
        except Exception as error:  # of one format; the others are measured all the same
            rows.append(Row(name=name, error=f"{type(error).__name__}: {error}"))
    return rows


async def _measure(folder: Path, name: str, format_: Format, repeats: int, latency_ms: int) -> Row:
    runs_code = bool(format_.needs)
    spec = sim(latency_ms=latency_ms) + _ENGINEERS * runs_code
    debates: list[Played] = []
    calls_s: list[float] = []
    async with app_in(folder, embedder=None) as app:
        await play(app, _plan(app, format_, sim() + _ENGINEERS * runs_code))  # warm-up
        model = app.models.open(spec)  # with the wrappers that it has in a debate
        for _ in range(repeats):
            played = await play(app, _plan(app, format_, spec))
            debates.append(played)
            spread = played.calls[:: max(1, len(played.calls) // _TIMED_CALLS)]
            calls_s += [await timed(model(call, lambda _: None)) for call in spread]
    chain, calls = debates[0].chain, len(debates[0].calls)
    if any((each.chain, len(each.calls)) != (chain, calls) for each in debates):
        raise RuntimeError("the repetitions are not the same debate")
    least, what = chain * median(calls_s), f"the critical path, {chain} times the median call"
    if runs_code:
        paths = [longest(format_.script(each.debate), each.turns, median(calls_s)) for each in debates]
        least, what = median(paths), f"the critical path, {chain} calls and the runs of code between them"
    lookups_s = [_lookup_seconds(each) for each in debates]
    lookups = f"; lookups in memory take {median(lookups_s) * 1000:.0f} ms" if any(lookups_s) else ""
    return Row(
        name=name,
        value=median([each.seconds for each in debates]),
        unit="s",
        reference=least,
        against=f"{least:.3g} s: {what}",
        goal=_GOAL_WITH_CODE if runs_code else _GOAL,
        least=1,
        note=f"{calls} calls of a simulated model that takes {latency_ms} ms{lookups}",
        details={"debates_s": [each.seconds for each in debates], "calls_s": calls_s, "lookups_s": lookups_s},
    )


def _plan(app: App, format_: Format, spec: str) -> Plan:
    settings: Json = {"recall_decisions": False}  # all repetitions are the same debate
    if "checkpoints" in format_.settings.model_fields:
        settings["checkpoints"] = False  # no person is there to answer
    topic = next(iter(tasks())).spec if format_.needs else TOPIC
    return plan(app, spec, format=format_.name, settings=settings, topic=topic)


def _lookup_seconds(played: Played) -> float:
    return sum(turn.created_at - turn.started_at for turn in played.turns if turn.kind == "recall")
