"""Every metric, defined once; docs/operations.md lists them."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector
from prometheus_client.metrics_core import GaugeMetricFamily

from moot import __version__
from moot.core.types import STATUSES
from moot.store.overview import Overview

SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)


class Instruments:
    """Metrics of this process and what it has done, in a registry of their own.

    Those with labels are functions from values to the counter or histogram for them. They are cached: the library's
    own look-up takes three times as long as counting, and steps are counted on the hot path.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        Info("moot_build", "What runs here.", registry=registry).info(
            {"version": __version__, "python": platform.python_version()}
        )
        ProcessCollector(registry=registry)

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(name, about, labels, registry=registry)

        def seconds(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(name, about, labels, buckets=SECONDS, registry=registry)

        steps = counter("moot_steps_total", "Steps that ended, by how.", "format", "kind", "outcome")
        self.steps = cache(steps.labels)
        step_seconds = seconds(
            "moot_step_seconds", "Time from a step's start to its answer, with retries and waiting.", "format", "kind"
        )
        self.step_seconds = cache(step_seconds.labels)
        rests = counter("moot_rests_total", "Debates that came to rest here, by status.", "format", "status")
        self.rests = cache(rests.labels)
        calls = counter("moot_model_calls_total", "Calls of models, each retry one, by outcome.", "model", "outcome")
        self.calls = cache(calls.labels)
        call_seconds = seconds("moot_model_call_seconds", "Time of one call of a model.", "model")
        self.call_seconds = cache(call_seconds.labels)
        tokens = counter(
            "moot_tokens_total", "Tokens that models read (in; of those, cached) and wrote (out).", "model", "direction"
        )
        self.tokens = cache(tokens.labels)
        cost = counter("moot_cost_usd_total", "What calls cost, where the price is known.", "model")
        self.cost = cache(cost.labels)
        waits = counter("moot_rate_limit_waits_total", "Calls that waited for their share of a rate limit.", "limit")
        self.waits = cache(waits.labels)
        wait_seconds = counter("moot_rate_limit_wait_seconds_total", "How long they waited, together.", "limit")
        self.wait_seconds = cache(wait_seconds.labels)
        self.take_overs = counter(
            "moot_lease_takeovers_total", "Debates taken over from a process whose lease had expired."
        )
        self.refused = counter(
            "moot_commits_refused_total", "Commits rejected because another process had taken the debate over."
        )
        swept = counter("moot_swept_total", "What sweeps put right: orphans, answered, stopped.", "what")
        self.swept = cache(swept.labels)


def gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, about, value=value)


def of_database(overview: Overview) -> Iterator[GaugeMetricFamily]:
    """Metrics of the database. Every process reports the same values, so aggregate them with max, not sum."""
    statuses = {status: overview.debates.get(status, 0) for status in STATUSES}
    yield _by_label("moot_debates", "Debates in the database.", "status", statuses)
    queue = overview.queue
    jobs = {} if queue is None else {"waiting": queue.waiting, "taken": queue.taken, "later": queue.later}
    yield _by_label("moot_queue_jobs", "Jobs for workers: waiting for one, taken, or due later.", "state", jobs)
    oldest = queue.oldest_seconds if queue else 0
    yield gauge("moot_queue_oldest_seconds", "How long the oldest job has waited.", oldest)
    yield gauge("moot_workers", "Workers that are alive.", len(overview.workers))
    yield gauge("moot_gates_open", "Questions that wait for people.", overview.gates_open)
    yield gauge("moot_gates_overdue", "Questions whose time is over.", overview.gates_overdue)
    yield gauge("moot_leases_expired", "Debates whose lease has expired.", overview.leases_expired)
    yield gauge("moot_debates_set_aside", "Failed debates that took several processes down.", len(overview.set_aside))
    stranded = "Debates that should run, but that no process will drive."
    yield gauge("moot_debates_stranded", stranded, len(overview.stranded))


def _by_label(name: str, about: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, about, labels=[label])
    for each, value in values.items():
        family.add_metric([each], value)
    return family
