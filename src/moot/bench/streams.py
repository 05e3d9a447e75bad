"""From a provider's chunk to whoever watches: one stream beside a bare Starlette app, and 500 of one debate."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from moot.bench import lag
from moot.bench.rig import TOPIC, alternate
from moot.bench.serving import Served, moot, program
from moot.bench.table import Goal, Row
from moot.bench.watching import Watched, watch
from moot.server.live import TICK_SECONDS

PACE = 50  # chunks a second, about as a quick model
_WINDOW_MS = TICK_SECONDS * 1000
_STATEMENTS = 2


def latency(folder: Path, *, repeats: int = 3, chunks: int = 300) -> list[Row]:
    with (
        program(folder, "-m", "moot.bench.stamping") as bare,
        program(folder, "-m", "moot.bench.stamping") as provider,
        moot(folder, folder / "moot.db") as ours,
    ):
        _debate(ours, provider, 5, 1)  # what the first debate has to load is loaded
        found, least = alternate(
            repeats,
            lambda: _debate(ours, provider, chunks, 1),
            lambda: watch(bare.port, 1, f"/sse?chunks={chunks * _STATEMENTS}&pace={PACE}"),
        )
    mine, theirs = _pooled(found), _pooled(least)
    allowed, middle = 2 * at(theirs, 99) + _WINDOW_MS, at(theirs, 50) + _WINDOW_MS / 2
    return [
        Row(
            name="chunk to watcher, p99",
            value=at(mine, 99),
            unit="ms",
            reference=allowed,
            against=f"{allowed:.3g} ms: 2 x {at(theirs, 99):.3g} ms of bare Starlette + window of {_WINDOW_MS:.0f} ms",
            goal=Goal(sign="<=", bound=1),
            note=f"{PACE} chunks a second from a provider on loopback through `moot serve` to a client, all in "
            "processes of their own; text in flight is told at most once in each window",
            details={"ours_ms": mine, "bare_ms": theirs},
        ),
        Row(
            name="chunk to watcher, p50",
            value=at(mine, 50),
            unit="ms",
            reference=middle,
            against=f"{middle:.3g} ms: {at(theirs, 50):.3g} ms of bare Starlette + half a window",
        ),
    ]


def watchers(folder: Path, *, count: int = 500, chunks: int = 250) -> list[Row]:
    lags = folder / "lags.json"
    with (
        program(folder, "-m", "moot.bench.stamping") as provider,
        moot(folder, folder / "moot.db", lags=lags) as ours,
    ):
        _debate(ours, provider, 5, 1)
        one = _debate(ours, provider, chunks, 1)
        before = ours.resident()
        with _highest(ours) as highest:
            all_ = _debate(ours, provider, chunks, count)
    late_one, late_all = (sorted(lag.read(lags, each.begin, each.end)) for each in (one, all_))
    most = max(before, *highest) - before
    who = f"{count} watchers of one debate"
    note = f"each was told all {all_.events} events and all {all_.chunks} chunks of text, in order"
    return [
        Row(
            name=f"{who}, chunk to watcher, p99",
            value=at(all_.latencies, 99),
            unit=f"ms (p50 {at(all_.latencies, 50):.3g})",
            reference=at(one.latencies, 99),
            against=f"{at(one.latencies, 99):.3g} ms (p50 {at(one.latencies, 50):.3g}): one watcher",
            note=note,
            details={"all_ms": all_.latencies, "one_ms": one.latencies},
        ),
        Row(
            name=f"{who}, lag of the event loop, p99",
            value=at(late_all, 99),
            unit=f"ms (worst {late_all[-1]:.3g})",
            reference=at(late_one, 99),
            against=f"{at(late_one, 99):.3g} ms: one watcher",
        ),
        Row(
            name=f"{who}, memory of the server",
            value=most / 2**20,
            unit=f"MiB ({most / count / 1024:.3g} KiB each)",
            reference=before / 2**20,
            against=f"{before / 2**20:.3g} MiB: the server with none",
        ),
    ]


def at(values: Sequence[float], percent: float) -> float:
    """Of sorted values."""
    return values[min(len(values) - 1, int(len(values) * percent / 100))]


def _debate(ours: Served, provider: Served, chunks: int, count: int) -> Watched:
    """One debate, watched from before its start to its end. Two statements of so many chunks each."""
    model = f"openai:{chunks}x{PACE}@{provider.url}/v1"
    settings = {"model_debater": model, "model_judge": "sim:", "max_rounds": 1, "debater_max_tokens": 100_000}
    debate = ours.post("/v1/debates", {"topic": TOPIC, "format": "classic", "settings": settings, "start": False})
    path = f"/v1/debates/{debate['id']}"
    watched = watch(ours.port, count, f"{path}/events", f"{path}/start")
    done = ours.get(path)
    told, wanted = (watched.chunks, watched.events), (chunks * _STATEMENTS, done["last_seq"])
    if done["status"] != "completed" or told != wanted:
        raise RuntimeError(f"the debate is {done['status']}; of {wanted} chunks and events, {told} were told")
    return watched


def _pooled(watched: Sequence[Watched]) -> list[float]:
    return sorted(late for each in watched for late in each.latencies)


@contextmanager
def _highest(served: Served) -> Generator[list[int]]:
    """What the process holds, looked at while something goes on."""
    seen = [served.resident()]
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            seen.append(served.resident())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
