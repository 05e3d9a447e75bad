"""Many debates for a long time: does memory stay flat, does work go on steadily, does nothing get stuck?

    python -m tests.workers.soak [--minutes 10] [--waiting 10000] [--queued 1000] [--running 300] [--workers 2]

On a PostgreSQL of its own, or on a database of the server that MOOT_TEST_DATABASE_URL names. The model is simulated.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from moot.app import App
from moot.core.settings import Settings
from moot.runtime.worker import SWEEPS
from perf.cluster import a_cluster
from tests.forking import constants
from tests.postgres import GIVEN, execute, other
from tests.workers.crew import Crew, Process, new, on, rows, status

GRACE_SECONDS = 3 * Settings().lease_seconds / SWEEPS
SEEDS = 10  # few, so that what the simulated model keeps of its texts is soon all there
FORMATS = ("classic", "duel", "council", "crucible")
KINDS = 20  # of waiting debates; the rest are copies of these
EXPIRING = 20  # one in so many of those that wait is not answered in time
UNLIMITED = {"max_total_output_tokens": 10_000_000, "max_runtime_seconds": 600_000}
NOBODY = "neither driven nor queued"
FLAT = 0.05  # of its memory that a worker may seem to gain in the second half: it comes and goes in pieces of 1 MB


@dataclass(kw_only=True)
class Plan:
    seconds: float = 600
    waiting: int = 10_000
    queued: int = 1_000
    running: int = 300
    workers: int = 2
    latency_ms: int = 2_000
    look_seconds: float = 5


@dataclass(kw_only=True)
class Sample:
    at: float
    rss_kb: list[int]
    completed: int
    steps: int
    driven: int
    queued: int
    waiting: int
    stopped: int


@dataclass(kw_only=True)
class Report:
    plan: Plan
    samples: list[Sample] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)  # what the detector says of a debate that is stuck on purpose
    looks: dict[str, list[float]] = field(default_factory=dict)  # what it takes to look at everything
    log_lines: list[str] = field(default_factory=list)  # of the workers, that tell of trouble

    @property
    def settled(self) -> list[Sample]:
        """The second half: whatever is kept for later is there by then."""
        return self.samples[len(self.samples) // 2 :]

    def slope_kb_per_minute(self, worker: int) -> float:
        times = [sample.at / 60 for sample in self.settled]
        return statistics.linear_regression(times, [sample.rss_kb[worker] for sample in self.settled]).slope

    def gained(self, worker: int) -> float:
        """By how much of its memory it has grown in the second half."""
        minutes = (self.settled[-1].at - self.settled[0].at) / 60
        return self.slope_kb_per_minute(worker) * minutes / self.settled[0].rss_kb[worker]

    def complaints(self) -> list[str]:
        """What is not as it should be."""
        wrong = [f"worker {n} grew by {self.gained(n):.1%}" for n in range(self.plan.workers) if self.gained(n) > FLAT]
        wrong += [f"the detector says: {alarm}" for alarm in self.alarms]
        wrong += [] if self.found == [NOBODY] else [f"the detector says of a debate that nobody drives: {self.found}"]
        wrong += [f"a worker says: {line}" for line in self.log_lines]
        low = [sample.at for sample in self.samples if sample.queued < self.plan.queued * 0.9]
        wrong += [f"too few were queued after {at:.0f} s" for at in low]
        return wrong

    def rates(self) -> list[float]:
        """Debates completed per second, in ten equal parts of the settled time."""
        parts = self.settled[:: max(1, len(self.settled) // 10)]
        return [(two.completed - one.completed) / (two.at - one.at) for one, two in pairwise(parts)]

    def __str__(self) -> str:
        lines = [f"{'s':>5} {'RSS MB':>16} {'completed':>10} {'driven':>7} {'queued':>7} {'waiting':>8} {'stopped':>8}"]
        for sample in self.samples[:: max(1, len(self.samples) // 20)]:
            memory = " ".join(f"{kb / 1024:.1f}" for kb in sample.rss_kb)
            lines.append(
                f"{sample.at:>5.0f} {memory:>16} {sample.completed:>10} {sample.driven:>7} {sample.queued:>7} "
                f"{sample.waiting:>8} {sample.stopped:>8}"
            )
        first, middle, last = self.samples[0], self.settled[0], self.samples[-1]
        for n in range(self.plan.workers):
            megabytes = [f"{sample.rss_kb[n] / 1024:.1f}" for sample in (first, middle, last)]
            lines.append(
                f"memory of worker {n}: {', '.join(megabytes)} MB at the start, in the middle and at the end; "
                f"{self.slope_kb_per_minute(n):+.0f} kB a minute ({self.gained(n):+.2%}) in the second half"
            )
        rates, seconds = self.rates(), last.at - first.at
        lines += [
            f"steps: {(last.steps - first.steps) / seconds:.0f} a second, {last.steps - first.steps} in all",
            f"throughput: {statistics.mean(rates):.2f} debates a second, from {min(rates):.2f} to {max(rates):.2f}",
            f"deadlock detector: {len(self.samples)} looks, {len(self.alarms)} alarms; "
            f"of a debate that is stuck on purpose it says {self.found}",
            *(f"{name}: {statistics.median(took) * 1000:.0f} ms (median)" for name, took in self.looks.items()),
            f"trouble in the logs: {len(self.log_lines)} lines {self.log_lines[:3]}",
        ]
        return "\n".join(lines)


async def prepare(app: App, plan: Plan) -> None:
    """Debates that wait for people: some are driven there by the workers, the rest are copies of those in every row."""
    kinds = min(KINDS, plan.waiting)
    made = []
    for n in range(kinds):
        model = f"sim:?seed={n % SEEDS}"
        if n % 2:
            made.append(await new(app, model, "classic", seats={"a": {"model": "human"}}))
        else:
            made.append(await new(app, model, "panel", checkpoint_timeout_seconds=86_400, **UNLIMITED))
    for debate in made:
        await app.hand_over(debate)
    for debate in made:
        await status(app, debate.id, "waiting", seconds=120)
    each = plan.waiting // kinds - 1
    await rows(
        app,
        "create table clones as select s.id as old, gen_random_uuid()::text as new"
        " from debate_sessions s, generate_series(1, $1::integer)",
        each,
    )
    same = "jsonb_populate_record(t, jsonb_build_object('{0}', c.new"
    await rows(
        app,
        f"insert into debate_sessions select ({same.format('id')}))).*"
        " from debate_sessions t join clones c on c.old = t.id",
    )
    for table, new_id in (
        ("debate_turns", ""),
        ("debate_events", ""),
        ("debate_gates", ", 'id', gen_random_uuid()::text"),
    ):
        await rows(
            app,
            f"insert into {table} select ({same.format('session_id')}{new_id}))).*"
            f" from {table} t join clones c on c.old = t.session_id",
        )
    await rows(app, "drop table clones")
    await rows(app, "analyze")
    # The time of some is over when half of ours is.
    soon = time.time() + plan.seconds / 2
    expiring = await rows(
        app,
        "update debate_gates set expires_at = $1 where id in"
        " (select id from debate_gates where status = 'open' and expires_at is not null limit $2) returning session_id",
        soon,
        plan.waiting // EXPIRING,
    )
    for row in expiring:
        await app.workers_queue().put_later(row["session_id"], soon - time.time())


class Soak:
    def __init__(self, app: App, workers: Sequence[Process], plan: Plan) -> None:
        self.app, self.workers, self.plan = app, workers, plan
        self.report = Report(plan=plan)
        self._made = 0

    async def feed(self) -> None:
        """Keep the queue as long as it is meant to be."""
        while True:
            missing = self.plan.queued - (await self.app.workers_queue().depth()).waiting
            await asyncio.gather(*(self._one() for _ in range(min(missing, 50))))
            if missing < 50:
                await asyncio.sleep(0.5)

    async def _one(self) -> None:
        self._made += 1
        n = self._made
        model = f"sim:?seed={n % SEEDS}&latency_ms={self.plan.latency_ms}"
        debate = await new(self.app, model, FORMATS[n % len(FORMATS)], **UNLIMITED)
        await self.app.hand_over(debate)

    async def look(self, began: float) -> None:
        counted = await rows(self.app, "select status, count(*) as count from debate_sessions group by status")
        counts = {row["status"]: row["count"] for row in counted}
        (done,) = await rows(self.app, "select sum(turn_count)::bigint as steps from debate_sessions")
        depth = await self._timed("depth", self.app.workers_queue().depth())
        driven = await self._timed("workers", self.app.workers_queue().workers())
        stuck = await self._timed("deadlock detector", self.app.workers_queue().stuck(GRACE_SECONDS))
        await self._timed("sweep", self.app.workers_queue().sweep(600))
        await self._timed("expired questions", self.app.runtime.store.gates(expired=True))
        self.report.alarms += [f"{each.debate_id[:8]} {each.why}" for each in stuck]
        self.report.samples.append(
            Sample(
                at=time.monotonic() - began,
                rss_kb=[worker.rss_kb for worker in self.workers],
                completed=counts.get("completed", 0),
                steps=done["steps"],
                driven=sum(driven.values()),
                queued=depth.waiting,
                waiting=counts.get("waiting", 0),
                stopped=counts.get("stopped", 0),
            )
        )

    async def _timed(self, name: str, work):
        began = time.monotonic()
        done = await work
        self.report.looks.setdefault(name, []).append(time.monotonic() - began)
        return done

    async def run(self) -> Report:
        feeding = asyncio.create_task(self.feed())
        try:
            async with asyncio.timeout(300):
                while True:  # until all of it is as it is meant to be
                    depth = await self.app.workers_queue().depth()
                    driven = sum((await self.app.workers_queue().workers()).values())
                    if depth.waiting >= self.plan.queued * 0.9 and driven >= self.plan.running * 0.9:
                        break
                    await asyncio.sleep(0.2)
            began = time.monotonic()
            while (elapsed := time.monotonic() - began) < self.plan.seconds:
                assert not feeding.done(), feeding.exception()
                assert all(worker.popen.poll() is None for worker in self.workers), "a worker ended"
                await self.look(began)
                await asyncio.sleep(max(0.0, self.plan.look_seconds - (time.monotonic() - began - elapsed)))
            async with asyncio.timeout(60):
                while self.report.samples[-1].stopped < self.plan.waiting // EXPIRING:
                    await self.look(began)
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
        for worker in self.workers:
            self.report.log_lines += [
                line for line in worker.said.splitlines() if " WARNING " in line or " ERROR " in line
            ]
            worker.kill()
        await self.get_stuck()
        return self.report

    async def get_stuck(self) -> None:
        """A detector that was silent all the time must be able to speak: with nobody left who would sweep, the job of
        a debate is lost."""
        debate = await new(self.app)
        await self.app.hand_over(debate)
        await rows(self.app, "delete from moot_jobs where dedupe_key like $1", f"{debate.id}/%")
        long_ago = "update debate_sessions set updated_at = updated_at - $2::float8 where id = $1"
        await rows(self.app, long_ago, debate.id, 2 * GRACE_SECONDS)
        stuck = await self.app.workers_queue().stuck(GRACE_SECONDS)
        self.report.found = [each.why for each in stuck if each.debate_id == debate.id]


def soak(url: str, folder: Path, plan: Plan) -> Report:
    async def main(crew: Crew) -> Report:
        at_once = str(plan.running // plan.workers)
        environ = {"MOOT_SIM_LOG": "", **constants({"moot.runtime.worker.DRAIN_SECONDS": 0})}
        workers = [crew.worker("--debates", at_once, **environ).ready() for _ in range(plan.workers)]
        async with on(url, folder, "soak") as app:
            await prepare(app, plan)
            return await Soak(app, workers, plan).run()

    with Crew(url, folder) as crew:
        return asyncio.run(main(crew))


@contextmanager
def a_database() -> Iterator[str]:
    given = os.environ.get(GIVEN)
    if given:
        name = f"moot_soak_{os.getpid()}"
        execute(given, f"create database {name}")
        yield other(given, name)
        execute(given, f"drop database {name} with (force)")
        return
    with a_cluster() as cluster:
        yield cluster.url()


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.workers.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    for name in ("waiting", "queued", "running", "workers"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Plan, name))
    args = vars(parser.parse_args(argv))
    plan = Plan(seconds=args.pop("minutes") * 60, **args)
    with a_database() as url, tempfile.TemporaryDirectory() as folder:
        report = soak(url, Path(folder), plan)
    print(report)
    complaints = report.complaints()
    print("\n".join(complaints) or "Nothing to complain about.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
