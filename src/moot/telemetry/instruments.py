"""Every metric, defined once; docs/operations.md lists them."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from moot import __version__
from moot.core.types import STATUSES
from moot.store.overview import Overview
from moot.telemetry.metrics import Histogram, Metric, Numbers

_STARTED = time.time()


class Instruments:
    """Metrics of what this process has done."""

    def __init__(self) -> None:
        self.steps = Numbers("moot_steps_total", "Steps that ended, by how.", "counter", "format", "kind", "outcome")
        self.step_seconds = Histogram(
            "moot_step_seconds", "Time from a step's start to its answer, with retries and waiting.", "format", "kind"
        )
        self.rests = Numbers(
            "moot_rests_total", "Debates that came to rest here, by status.", "counter", "format", "status"
        )
        self.calls = Numbers(
            "moot_model_calls_total", "Calls of models, each retry one, by outcome.", "counter", "model", "outcome"
        )
        self.call_seconds = Histogram("moot_model_call_seconds", "Time of one call of a model.", "model")
        self.tokens = Numbers(
            "moot_tokens_total",
            "Tokens that models read (in; of those, cached) and wrote (out).",
            "counter",
            "model",
            "direction",
        )
        self.cost = Numbers("moot_cost_usd_total", "What calls cost, where the price is known.", "counter", "model")
        self.waits = Numbers(
            "moot_rate_limit_waits_total", "Calls that had to wait for their share of a rate limit.", "counter", "limit"
        )
        self.wait_seconds = Numbers(
            "moot_rate_limit_wait_seconds_total", "How long they waited, together.", "counter", "limit"
        )
        self.take_overs = Numbers(
            "moot_lease_takeovers_total", "Debates taken over from a process whose lease had expired.", "counter"
        )
        self.refused = Numbers(
            "moot_commits_refused_total",
            "Commits rejected because another process had taken the debate over.",
            "counter",
        )
        self.swept = Numbers(
            "moot_swept_total", "What sweeps put right: orphans, answered, stopped.", "counter", "what"
        )
        self.retries = Numbers(
            "moot_store_retries_total", "Tries to reach the database again after it was gone.", "counter"
        )
        self.driven = Numbers("moot_debates_driven", "Debates that this process drives now.", "gauge")

    def all(self) -> list[Metric]:
        return [metric for metric in vars(self).values() if isinstance(metric, Metric)]


def of_process() -> list[Metric]:
    """Metrics of the process, under Prometheus's usual names."""
    build = Numbers("moot_build_info", "What runs here.", "gauge", "version", "python")
    build.set(__version__, platform.python_version(), to=1)
    cpu = Numbers("process_cpu_seconds_total", "Processor time used, in seconds.", "counter")
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu.set(to=used.ru_utime + used.ru_stime)
    started = Numbers("process_start_time_seconds", "When the process began, in seconds since 1970.", "gauge")
    started.set(to=_STARTED)
    memory = Numbers("process_resident_memory_bytes", "Memory in use.", "gauge")
    memory.set(to=_resident(used.ru_maxrss))
    return [build, cpu, started, memory]


def of_database(overview: Overview) -> list[Metric]:
    """Metrics of the database. Every process reports the same values, so aggregate them with max, not sum."""
    debates = Numbers("moot_debates", "Debates in the database.", "gauge", "status")
    for status in STATUSES:
        debates.set(status, to=overview.debates.get(status, 0))
    jobs = Numbers("moot_queue_jobs", "Jobs for workers: waiting for one, taken, or due later.", "gauge", "state")
    queue = overview.queue
    if queue is not None:
        for state, count in (("waiting", queue.waiting), ("taken", queue.taken), ("later", queue.later)):
            jobs.set(state, to=count)
    numbers: Sequence[tuple[str, str, float]] = (
        ("moot_queue_oldest_seconds", "How long the oldest job has waited.", queue.oldest_seconds if queue else 0),
        ("moot_workers", "Workers that are alive.", len(overview.workers)),
        ("moot_gates_open", "Questions that wait for people.", overview.gates_open),
        ("moot_gates_overdue", "Questions whose time is over.", overview.gates_overdue),
        ("moot_leases_expired", "Debates whose lease has expired.", overview.leases_expired),
        ("moot_debates_set_aside", "Failed debates that took several processes down.", len(overview.set_aside)),
        ("moot_debates_stranded", "Debates that should run, but that no process will drive.", len(overview.stranded)),
    )
    gauges = [Numbers(name, about, "gauge") for name, about, _ in numbers]
    for gauge, (_, _, value) in zip(gauges, numbers, strict=True):
        gauge.set(to=value)
    return [debates, jobs, *gauges]


def _resident(peak: int) -> int:
    """Bytes resident now, where /proc tells; else at most so far."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return peak if sys.platform == "darwin" else peak * 1024
