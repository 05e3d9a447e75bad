"""Measure what moot itself costs, each figure as a ratio to a reference from the same run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from perf import (
    critical_path,
    crowd,
    durable_steps,
    embedded,
    evaluations,
    forges,
    frames,
    heap,
    memory,
    postgres,
    prefix,
    replay,
    request_rate,
    sandbox,
    start,
    streams,
    votes,
)
from perf.process import ROOT
from perf.table import Row, render

HOME = ROOT / ".bench"  # on disk, not in a tmpfs; ignored by git


@dataclass(frozen=True, kw_only=True)
class Measurement:
    measure: Callable[..., list[Row]]
    quick: Mapping[str, Any] = field(default_factory=dict[str, Any])  # arguments with --quick


MEASUREMENTS: Mapping[str, Measurement] = {
    "path": Measurement(measure=critical_path.measure, quick={"repeats": 1}),
    "raw": Measurement(measure=durable_steps.against_raw, quick={"repeats": 2}),
    "langgraph": Measurement(
        measure=partial(durable_steps.against_langgraph, home=HOME), quick={"repeats": 1, "debates": 20}
    ),
    "postgres": Measurement(measure=postgres.against_raw, quick={"repeats": 1, "debates": 20}),
    "engines": Measurement(measure=partial(postgres.against_engines, home=HOME), quick={"repeats": 1, "debates": 10}),
    "workers": Measurement(measure=postgres.with_workers, quick={"repeats": 1, "debates": 20}),
    "memory": Measurement(measure=memory.measure, quick={"debates": 200}),
    "replay": Measurement(measure=replay.measure, quick={"repeats": 3}),
    "prefix": Measurement(measure=prefix.measure),
    "votes": Measurement(measure=votes.measure, quick={"repeats": 1}),
    "evaluations": Measurement(measure=evaluations.measure, quick={"items": 250, "repeats": 1}),
    "sandbox": Measurement(measure=sandbox.measure, quick={"repeats": 3}),
    "start": Measurement(measure=start.measure, quick={"repeats": 21}),
    "stream": Measurement(measure=streams.latency, quick={"repeats": 1, "chunks": 100}),
    "watchers": Measurement(measure=streams.watchers, quick={"count": 100, "chunks": 50}),
    "crowd": Measurement(measure=crowd.measure, quick={"debates": 100, "latency_ms": 50, "per_second": 400}),
    "forges": Measurement(measure=forges.measure, quick={"forges": 20}),
    "requests": Measurement(
        measure=request_rate.measure, quick={"many": 10_000, "repeats": 2, "seconds": 1.0, "postgres": False}
    ),
    "embedded": Measurement(measure=embedded.measure),
    "frames": Measurement(measure=frames.measure, quick={"seconds": 3}),
    "heap": Measurement(measure=heap.measure, quick={"seconds": 20}),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m perf", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MEASUREMENTS)}")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, smaller numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured to FILE")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"there is no measurement {unknown[0]!r}; choose from {', '.join(MEASUREMENTS)}")
    HOME.mkdir(exist_ok=True)
    print(f"{machine()}\nThe model is simulated, but for `embedded`: the figures are moot's own cost.\n")
    before = load()
    rows = run(options.names or list(MEASUREMENTS), quick=options.quick)
    print(f"{render(rows)}\n\nLoad of the machine before and after: {before}, {load()}.")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": [row.as_json() for row in rows]}, indent=2))


def run(names: Sequence[str], *, quick: bool) -> list[Row]:
    rows: list[Row] = []
    for name in names:
        chosen = MEASUREMENTS[name]
        clock = time.perf_counter()
        with tempfile.TemporaryDirectory(dir=HOME, prefix="run-") as folder:
            try:
                rows += chosen.measure(Path(folder), **(chosen.quick if quick else {}))
            except Exception as error:
                rows.append(Row(name=name, error=f"{type(error).__name__}: {error}"))
        print(f"{name}: {time.perf_counter() - clock:.0f} s", file=sys.stderr)
    return rows


def machine() -> str:
    python = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {python}, databases on {filesystem(HOME)}"
    )


def load() -> str:
    """Load average of the last minute. Above 1 before a run, only the ratios are meaningful."""
    return f"{os.getloadavg()[0]:.1f}"


def filesystem(path: Path) -> str:
    """Type of the filesystem that holds `path`, from /proc/mounts."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "an unknown filesystem"
    above = [mount for mount in mounts if path.is_relative_to(mount[1])]
    return max(above, key=lambda mount: len(mount[1]))[2] if above else "an unknown filesystem"


if __name__ == "__main__":
    main()
