"""Latency from a provider's chunk to a watcher: one stream against a bare Starlette app, and 500 of one debate."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from moot.server.live import TICK_SECONDS
from perf import lag
from perf.rig import TOPIC, alternate, percentile
from perf.servers import RunningServer, moot_serve, running
from perf.sse_client import WatchResult, watch
from perf.table import Goal, Row

PACE = 50  # chunks a second, as from a fast model
_WINDOW_MS = TICK_SECONDS * 1000
_STATEMENTS = 2


def latency(folder: Path, *, repeats: int = 3, chunks: int = 300) -> list[Row]:
    with (
        running(folder, "-m", "perf.chunk_source") as bare,
        running(folder, "-m", "perf.chunk_source") as provider,
        moot_serve(folder, folder / "moot.db") as moot,
    ):
        _debate(moot, provider, chunks=5, watchers=1)  # warm-up
        through_moot, through_starlette = alternate(
            repeats,
            lambda: _debate(moot, provider, chunks=chunks, watchers=1),
            lambda: watch(bare.port, 1, f"/sse?chunks={chunks * _STATEMENTS}&pace={PACE}"),
        )
    ours, theirs = _pooled(through_moot), _pooled(through_starlette)
    allowed, middle = 2 * percentile(theirs, 99) + _WINDOW_MS, percentile(theirs, 50) + _WINDOW_MS / 2
    return [
        Row(
            name="chunk to watcher, p99",
            value=percentile(ours, 99),
            unit="ms",
            reference=allowed,
            against=f"{allowed:.3g} ms: 2 x {percentile(theirs, 99):.3g} ms of bare Starlette + window of "
            f"{_WINDOW_MS:.0f} ms",
            goal=Goal(sign="<=", bound=1),
            note=f"{PACE} chunks a second from a provider on loopback through `moot serve` to a client, each in a "
            "process of its own; text is sent at most once per window",
            details={"ours_ms": ours, "bare_ms": theirs},
        ),
        Row(
            name="chunk to watcher, p50",
            value=percentile(ours, 50),
            unit="ms",
            reference=middle,
            against=f"{middle:.3g} ms: {percentile(theirs, 50):.3g} ms of bare Starlette + half a window",
        ),
    ]


def watchers(folder: Path, *, count: int = 500, chunks: int = 250) -> list[Row]:
    lags = folder / "lags.json"
    with (
        running(folder, "-m", "perf.chunk_source") as provider,
        moot_serve(folder, folder / "moot.db", lags=lags) as moot,
    ):
        _debate(moot, provider, chunks=5, watchers=1)  # warm-up
        one = _debate(moot, provider, chunks=chunks, watchers=1)
        before = moot.resident_bytes()
        with _memory_samples(moot) as samples:
            many = _debate(moot, provider, chunks=chunks, watchers=count)
    lag_one, lag_many = (sorted(lag.read(lags, each.begin, each.end)) for each in (one, many))
    growth = max(before, *samples) - before
    who = f"{count} watchers of one debate"
    return [
        Row(
            name=f"{who}, chunk to watcher, p99",
            value=percentile(many.latencies, 99),
            unit=f"ms (p50 {percentile(many.latencies, 50):.3g})",
            reference=percentile(one.latencies, 99),
            against=f"{percentile(one.latencies, 99):.3g} ms (p50 {percentile(one.latencies, 50):.3g}): one watcher",
            note=f"each received all {many.events} events and all {many.chunks} chunks of text, in order",
            details={"all_ms": many.latencies, "one_ms": one.latencies},
        ),
        Row(
            name=f"{who}, lag of the event loop, p99",
            value=percentile(lag_many, 99),
            unit=f"ms (worst {lag_many[-1]:.3g})",
            reference=percentile(lag_one, 99),
            against=f"{percentile(lag_one, 99):.3g} ms: one watcher",
        ),
        Row(
            name=f"{who}, memory of the server",
            value=growth / 2**20,
            unit=f"MiB ({growth / count / 1024:.3g} KiB each)",
            reference=before / 2**20,
            against=f"{before / 2**20:.3g} MiB: the server with none",
        ),
    ]


def _debate(moot: RunningServer, provider: RunningServer, *, chunks: int, watchers: int) -> WatchResult:
    """Run one debate of two statements of `chunks` chunks each, watched from before its start to its end."""
    model = f"openai:{chunks}x{PACE}@{provider.url}/v1"
    settings = {"model_debater": model, "model_judge": "sim:", "max_rounds": 1, "debater_max_tokens": 100_000}
    debate = moot.post("/v1/debates", {"topic": TOPIC, "format": "classic", "settings": settings, "start": False})
    path = f"/v1/debates/{debate['id']}"
    result = watch(moot.port, watchers, f"{path}/events", f"{path}/start")
    done = moot.get(path)
    received, expected = (result.chunks, result.events), (chunks * _STATEMENTS, done["last_seq"])
    if done["status"] != "completed" or received != expected:
        raise RuntimeError(f"the debate is {done['status']}; received {received} chunks and events of {expected}")
    return result


def _pooled(results: Sequence[WatchResult]) -> list[float]:
    return sorted(latency for result in results for latency in result.latencies)


@contextmanager
def _memory_samples(server: RunningServer) -> Generator[list[int]]:
    """Sample the server's resident memory ten times a second within the context."""
    samples = [server.resident_bytes()]
    over = threading.Event()

    def sample() -> None:
        while not over.wait(0.1):
            samples.append(server.resident_bytes())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()
