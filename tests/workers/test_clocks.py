"""Machines whose clocks are wrong by minutes, or are set while they work."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from moot.app import App
from tests.forking import constants
from tests.workers.crew import ENDLESS, Crew, Process, driven_by, new, queued, rows, status, turns

pytestmark = pytest.mark.slow

# Read by Python before anything else is: what `time.time` says is off by what a file says.
WRONG = """
import os, time
right = time.time
def wrong():
    with open(os.environ["WRONG_BY"]) as file:
        return right() + float(file.read() or 0)
time.time = wrong
"""


class Machine:
    """A place for processes whose clock can be set."""

    def __init__(self, crew: Crew, folder: Path, by: float = 0) -> None:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(WRONG)
        self._by, self._crew = folder / "wrong_by", crew
        self.environ = {"PYTHONPATH": str(folder), "WRONG_BY": str(self._by)}
        self.set(by)

    def set(self, by: float) -> None:
        new = self._by.with_suffix(".new")
        new.write_text(str(by))
        new.replace(self._by)

    def worker(self) -> Process:
        often = constants({"moot.runtime.worker.SWEEPS": 600})
        return self._crew.worker(MOOT_LEASE_SECONDS="120", **often, **self.environ).ready()


async def sweeps(app: App, worker: Process) -> None:
    """Until it has swept once more: it finds what is put in its way, and would find whatever looks abandoned to it."""
    before = worker.said.count("orphans queued")
    async with asyncio.timeout(90):
        while worker.said.count("orphans queued") == before:  # another may have found it first
            lost = await new(app, max_rounds=1)
            await app.workers_queue().put(lost.id, expect=("pending",))
            await rows(app, "delete from moot_jobs where dedupe_key like $1", f"{lost.id}/%")
            await status(app, lost.id, "completed")


@pytest.mark.parametrize("by", [-600, 600], ids=["late", "early"])
async def test_nobody_takes_what_another_drives(app: App, crew: Crew, tmp_path, by):
    right, astray = Machine(crew, tmp_path / "right"), Machine(crew, tmp_path / "astray", by)
    # By its own clock, the second would see that the leases of the first are over.
    first, second = (astray, right) if by < 0 else (right, astray)
    one = first.worker()
    made = [await queued(app, "sim:?latency_ms=600000") for _ in range(4)]
    await driven_by(app, one, made)
    two = second.worker()
    for worker in (one, two):
        await sweeps(app, worker)
    for debate in await driven_by(app, one, made):
        assert debate.epoch == 1
        await app.runtime.cancel(debate.id)
    for worker in (one, two):
        assert not any(word in worker.said for word in ("WARNING", "ERROR")), worker.said


@pytest.mark.parametrize("by", [-600, 600], ids=["back", "forward"])
async def test_a_clock_that_is_set_in_the_middle(app: App, crew: Crew, tmp_path, by):
    machine = Machine(crew, tmp_path / "machine")
    one = machine.worker()
    made = [await queued(app, f"sim:?seed={n}&latency_ms=100", **ENDLESS) for n in range(3)]
    await driven_by(app, one, made)
    other = Machine(crew, tmp_path / "other").worker()
    machine.set(by)
    for worker in (one, other):
        await sweeps(app, worker)
    for debate in made:
        now = await app.runtime.store.get(debate.id)
        await turns(app, debate.id, now.turn_count + 2)
    for debate in await driven_by(app, one, made):
        assert debate.epoch == 1
        said = await app.runtime.store.turns(debate.id)
        # Whenever it was said: by the server's clock.
        assert max(turn.created_at for turn in said) - min(turn.started_at for turn in said) < 300
        await app.runtime.cancel(debate.id)


async def test_a_question_waits_as_long_as_it_should(app: App, crew: Crew, tmp_path):
    Machine(crew, tmp_path / "astray", -600).worker()
    asks = await queued(app, "sim:", "panel", checkpoint_timeout_seconds=300, max_total_output_tokens=10_000_000)
    await status(app, asks.id, "waiting")
    (left,) = await rows(
        app,
        "select expires_at - extract(epoch from clock_timestamp())::float8 as seconds"
        " from debate_gates where session_id = $1 and status = 'open'",
        asks.id,
    )
    assert 0 < left["seconds"] <= 300


def test_a_process_with_a_wrong_clock_does_have_one(crew: Crew, tmp_path):
    """Else all of the above would prove nothing."""
    worker = Machine(crew, tmp_path / "astray", 86_400 * 400).worker()
    year = int(worker.said.lstrip()[:4])
    assert year > datetime.now(UTC).year
