"""A short soak: `python -m tests.workers.soak` is the long one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.workers.soak import EXPIRING, NOBODY, Plan, Report, Sample, soak


@pytest.mark.slow
def test_it_goes_on_and_on(database_url, tmp_path):
    plan = Plan(seconds=6, waiting=200, queued=100, running=30, latency_ms=300, look_seconds=0.5)
    report = soak(database_url, tmp_path, plan)
    print(f"\n{report}")
    assert report.alarms == []
    assert report.found == [NOBODY]
    assert report.log_lines == []
    first, last = report.settled[0], report.settled[-1]
    assert last.completed > first.completed
    assert all(sample.driven <= plan.running for sample in report.samples)
    assert last.stopped == plan.waiting // EXPIRING  # those whose time was over
    assert last.waiting == plan.waiting - last.stopped
    assert last.completed < plan.queued * 100


def ten_minutes(*rss_kb: float) -> Report:
    """A worker whose memory has these sizes, one after the other."""
    plan = Plan(workers=1)
    one = Sample(at=0, rss_kb=[0], completed=0, steps=0, driven=300, queued=1000, waiting=9500, stopped=500)
    return Report(
        plan=plan,
        samples=[replace(one, at=5.0 * n, rss_kb=[round(kb)], completed=n) for n, kb in enumerate(rss_kb)],
        found=[NOBODY],
    )


SETTLES = [90_000 + 300 * min(n, 40) + 500 * (n % 3) for n in range(120)]
GROWS = [90_000 + 3 * 6 * 5 * n for n in range(120)]  # by three kilobytes for each of six debates a second


@pytest.mark.parametrize(
    ("rss_kb", "told", "complaints"),
    [
        (SETTLES, {}, []),
        (GROWS, {}, ["worker 0 grew by 5.6%"]),
        (SETTLES, {"alarms": ["3f2a is stuck"]}, ["the detector says: 3f2a is stuck"]),
        (SETTLES, {"found": []}, ["the detector says of a debate that nobody drives: []"]),
        (SETTLES, {"log_lines": ["WARNING Failed"]}, ["a worker says: WARNING Failed"]),
    ],
    ids=["nothing", "memory that grows", "a debate that is stuck", "a detector that can't see", "what a worker says"],
)
def test_what_is_complained_about(rss_kb, told, complaints):
    report = replace(ten_minutes(*rss_kb), **told)
    assert report.complaints() == complaints
    report.samples[7].queued = 12
    assert report.complaints() == [*complaints, "too few were queued after 35 s"]
