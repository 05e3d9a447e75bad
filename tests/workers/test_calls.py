"""The proof that no committed step is paid for twice rests on a file in which simulated models note their calls: every
call is there, of whichever process, and one too many would be seen."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import replace

import pytest

from moot.app import App
from moot.core.types import Debate, Turn
from tests.store.samples import turn
from tests.workers.crew import Called, Crew, new, on, paid_twice, status, wait_until


def called(key: str, at: float, model: str = "sim:") -> Called:
    return Called(f"{at:.6f}", "1", model, key, "a")


def kept(key: str, began: float, ended: float) -> Turn:
    return replace(turn(key), started_at=began, created_at=ended)


class TestPaidTwice:
    turns = (kept("1/speak/a", 100.0, 101.0), kept("1/speak/b", 101.0, 102.0))

    def test_once_is_not_twice(self):
        assert paid_twice([called("1/speak/a", 100.0), called("1/speak/b", 101.0)], "sim:", [*self.turns]) == []

    def test_what_was_asked_before_the_answer_came_was_not_known_to_be_answered(self):
        """The killed worker had called first, or a paused one called at the same time."""
        calls = [called("1/speak/a", 40.0), called("1/speak/a", 100.0), called("1/speak/a", 100.9)]
        assert paid_twice(calls, "sim:", [*self.turns]) == []

    def test_what_was_asked_after_it_was_answered_was_paid_for_twice(self):
        calls = [called("1/speak/a", 100.0), called("1/speak/b", 101.0), called("1/speak/a", 101.5)]
        assert paid_twice(calls, "sim:", [*self.turns]) == ["1/speak/a"]

    def test_each_debate_has_a_model_of_its_own(self):
        assert paid_twice([called("1/speak/a", 101.5, "sim:?seed=2")], "sim:", [*self.turns]) == []

    def test_a_call_without_a_turn_was_lost_and_not_doubled(self):
        assert paid_twice([called("2/speak/a", 500.0)], "sim:", [*self.turns]) == []


@pytest.mark.slow
def test_every_call_of_every_process_is_a_line(database_url, tmp_path):
    """Several processes write at once: no line is torn or lost, and each says who called, when, and for which step."""

    async def main(crew: Crew) -> None:
        async with on(crew.url, crew.folder) as app:
            made = [await new(app, f"sim:?seed={n}&latency_ms=5", "duel", turns=2) for n in range(24)]
            began = time.time()  # the clock of this machine, which is that of the workers
            for debate in made:
                await app.hand_over(debate)
            for debate in made:
                await status(app, debate.id, "completed", seconds=120)
            ended = time.time()
            await as_noted(app, crew, made)
            assert all(began <= call.at <= ended for call in crew.called())

    with Crew(database_url, tmp_path, MOOT_LEASE_SECONDS="600") as crew:  # a slow worker must not look dead
        workers = [crew.worker("--debates", "8") for _ in range(3)]
        for worker in workers:
            worker.ready()
        asyncio.run(main(crew))
        assert {call.pid for call in crew.called()} <= {worker.pid for worker in workers}


async def as_noted(app: App, crew: Crew, made: list[Debate]) -> None:
    noted = Counter((call.model, call.key, call.seat) for call in crew.called())
    assert set(noted.values()) == {1}
    asked = [
        (debate.cast[0].model, turn.key, turn.seat)
        for debate in made
        for turn in await app.runtime.store.turns(debate.id)
        if turn.kind == "ask"
    ]
    assert set(noted) == set(asked)


@pytest.mark.slow
def test_a_call_that_a_dead_worker_had_begun_is_noted_too(database_url, tmp_path):
    """A call is logged when it begins, so that one cut off by a kill counts as paid."""

    async def main(crew: Crew) -> None:
        async with on(crew.url, crew.folder) as app:
            debate = await new(app, "sim:?latency_ms=600000")
            await app.hand_over(debate)
            wait_until(lambda: crew.called())
            crew.processes[0].kill()
            (call,) = crew.called()
            assert (call.pid, call.model) == (crew.processes[0].pid, debate.cast[0].model)
            left = await app.runtime.store.get(debate.id)
            assert (left.turn_count, call.key in left.cursor.open) == (0, True)

    with Crew(database_url, tmp_path) as crew:
        crew.worker().ready()
        asyncio.run(main(crew))
