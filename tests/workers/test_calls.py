"""The proof that no committed step is paid for twice rests on a file in which simulated models note their calls: every
call is there, of whichever process, and one too many would be seen."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import pytest

from moot.app import App
from tests.store.samples import turn
from tests.workers.crew import Called, Crew, new, paid_twice, queued, status, wait_until


def called(key: str, at: float, model: str = "sim:") -> Called:
    return Called(f"{at:.6f}", "1", model, key, "a")


def test_what_was_asked_after_it_was_answered_was_paid_for_twice():
    """A call before the answer came, by a worker that was killed or paused, is none; nor is one without a turn, or of
    another debate, which has a model of its own."""
    turns = [
        replace(turn("1/speak/a"), started_at=100.0, created_at=101.0),
        replace(turn("1/speak/b"), started_at=101.0, created_at=102.0),
    ]
    once = [called("1/speak/a", 100.0), called("1/speak/b", 101.0)]
    none = [called("1/speak/a", 40.0), called("1/speak/a", 100.9), called("2/speak/a", 500.0)]
    others = [called("1/speak/a", 101.5, "sim:?seed=2")]
    assert paid_twice([*once, *none, *others], "sim:", turns) == []
    assert paid_twice([*once, called("1/speak/a", 101.5)], "sim:", turns) == ["1/speak/a"]


@pytest.mark.slow
async def test_every_call_of_every_process_is_a_line(app: App, database_url, tmp_path):
    """Several processes write at once: no line is torn or lost, and each says who called, when, and for which step."""
    with Crew(database_url, tmp_path, MOOT_LEASE_SECONDS="600") as crew:  # a slow worker must not look dead
        workers = [crew.worker("--debates", "8") for _ in range(3)]
        for worker in workers:
            worker.ready()
        made = [await new(app, f"sim:?seed={n}&latency_ms=5", "duel", turns=2) for n in range(24)]
        began = time.time()  # the clock of this machine, which is that of the workers
        for debate in made:
            await app.hand_over(debate)
        for debate in made:
            await status(app, debate.id, "completed")
        ended = time.time()
        assert all(began <= call.at <= ended for call in crew.called())
        assert {call.pid for call in crew.called()} <= {worker.pid for worker in workers}
        noted = Counter((call.model, call.key, call.seat) for call in crew.called())
        assert set(noted.values()) == {1}
        asked = {
            (debate.cast[0].model, turn.key, turn.seat)
            for debate in made
            for turn in await app.runtime.store.turns(debate.id)
            if turn.kind == "ask"
        }
        assert set(noted) == asked


@pytest.mark.slow
async def test_a_call_that_a_dead_worker_had_begun_is_noted_too(app: App, crew: Crew):
    """A call is logged when it begins, so that one cut off by a kill counts as paid."""
    worker = crew.worker().ready()
    debate = await queued(app, "sim:?latency_ms=600000")
    wait_until(lambda: crew.called())
    worker.kill()
    (call,) = crew.called()
    assert (call.pid, call.model) == (worker.pid, debate.cast[0].model)
    left = await app.runtime.store.get(debate.id)
    assert (left.turn_count, call.key in left.cursor.open) == (0, True)
