"""A short soak: `python -m tests.workers.soak` is the long one."""

from __future__ import annotations

import pytest

from tests.workers.soak import Plan, soak


@pytest.mark.slow
def test_it_goes_on_and_on(database_url, tmp_path):
    plan = Plan(seconds=20, waiting=1000, queued=100, running=30, latency_ms=300, look_seconds=1)
    report = soak(database_url, tmp_path, plan)
    print(f"\n{report}")
    assert report.alarms == []
    assert report.log_lines == []
    first, last = report.settled[0], report.settled[-1]
    assert last.completed > first.completed
    assert all(sample.driven <= plan.running for sample in report.samples)
    assert last.stopped == plan.waiting // 20  # those whose time was over
    assert last.waiting == plan.waiting - last.stopped
    assert last.completed < plan.queued * 100
