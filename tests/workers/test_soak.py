"""A short soak: `python -m tests.workers.soak` is the long one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.workers.soak import EXPIRING, NOBODY, Plan, Report, Sample, soak


@pytest.mark.slow
def test_it_goes_on_and_on(database_url, tmp_path):
    plan = Plan(seconds=20, waiting=1000, queued=100, running=30, latency_ms=300, look_seconds=1)
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


class TestComplaints:
    def test_none(self):
        settles = [90_000 + 300 * min(n, 40) + 500 * (n % 3) for n in range(120)]
        assert ten_minutes(*settles).complaints() == []

    def test_memory_that_grows(self):
        """By three kilobytes for each of six debates a second."""
        (complaint,) = ten_minutes(*(90_000 + 3 * 6 * 5 * n for n in range(120))).complaints()
        assert complaint == "worker 0 grew by 5.6%"

    def test_a_debate_that_is_stuck(self):
        report = replace(ten_minutes(*[90_000] * 120), alarms=["3f2a neither driven nor queued"])
        assert report.complaints() == ["the detector says: 3f2a neither driven nor queued"]

    def test_a_detector_that_can_not_see(self):
        report = replace(ten_minutes(*[90_000] * 120), found=[])
        assert report.complaints() == ["the detector says of a debate that nobody drives: []"]

    def test_what_a_worker_says(self):
        report = replace(ten_minutes(*[90_000] * 120), log_lines=["WARNING The sweep failed"])
        assert report.complaints() == ["a worker says: WARNING The sweep failed"]

    def test_a_queue_that_ran_dry(self):
        report = ten_minutes(*[90_000] * 120)
        report.samples[7].queued = 12
        assert report.complaints() == ["too few were queued after 35 s"]
