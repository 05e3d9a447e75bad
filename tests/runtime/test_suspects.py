"""Debates whose processes died: who is driven beside whom, and for how long others wait."""

from __future__ import annotations

import asyncio
import math
import time
from types import SimpleNamespace
from typing import Any

import pytest

from moot.core.types import Debate
from moot.runtime import suspects
from moot.runtime.runtime import Runtime
from moot.runtime.suspects import Suspects
from tests.running import Held, an_app, new_debate, until

LIMIT, SECONDS = 6, 10.0


class Process:
    """What one process drives, with a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.drives = 100.0, {}
        monkeypatch.setattr(suspects, "_now", lambda: self.now)
        self.suspects = Suspects(self.drives, LIMIT, SECONDS)

    def drive(self, name: str, crashes: int) -> None:
        with self.suspects.entering(name, crashes):
            self.drives[name] = SimpleNamespace(progressed=False, debate=SimpleNamespace(crashes=crashes, alone=False))

    def admits(self, crashes: int) -> bool:
        return self.suspects.admits("another", crashes)


@pytest.fixture
def process(monkeypatch) -> Process:
    return Process(monkeypatch)


@pytest.mark.parametrize(("crashes", "most"), [(2, 10), (3, 3)])
def test_the_more_deaths_the_fewer_beside_each_other(process, crashes, most):
    for n in range(50):
        process.drive(f"clean {n}", n % 2)
    for n in range(most):
        assert process.admits(crashes)
        process.drive(f"suspect {n}", crashes)
    assert not process.admits(crashes)
    assert process.admits(1)
    assert not process.admits(LIMIT - 2)
    process.drives["suspect 0"].progressed = True
    assert process.admits(crashes)


def test_one_of_many_deaths_keeps_the_group_small(process):
    for n in range(3):
        process.drive(f"two {n}", 2)
    assert process.admits(2)
    assert not process.admits(3)


@pytest.mark.parametrize(
    ("crashes", "seconds"),
    [(LIMIT - 2, SECONDS), (LIMIT - 1, SECONDS), (LIMIT, 2 * SECONDS), (LIMIT + 1, 4 * SECONDS)],
)
def test_others_are_let_in_again_after_a_while(process, crashes, seconds):
    process.drive("suspect", crashes)
    assert process.suspects.closed
    assert not process.admits(0)
    process.now += seconds - 0.1
    assert not process.admits(0)
    process.now += 0.2
    assert process.admits(0)
    assert not process.admits(2), "suspects don't come together"
    # They have as long before the next debate is driven alone.
    del process.drives["suspect"]
    assert not process.suspects.may_close
    process.now += seconds
    assert process.suspects.may_close


def test_a_step_that_is_stored_lets_others_in_at_once(process):
    process.drive("suspect", LIMIT - 1)
    process.now += 3
    process.drives["suspect"].progressed = True
    assert not process.suspects.closed
    assert process.admits(0)


def test_debates_that_must_be_alone_follow_on_each_other_for_half_a_lease(process):
    process.drive("first", LIMIT - 1)
    process.now += 3
    process.drives.pop("first")
    assert process.suspects.may_close
    process.drive("second", LIMIT - 1)
    assert process.suspects.closed
    process.now += 3
    process.drives.pop("second")
    assert not process.suspects.may_close, "others have as much time as both have taken"
    process.now += 5.9
    assert not process.suspects.may_close
    process.now += 0.2
    assert process.suspects.may_close


def test_the_time_alone_of_those_that_follow_on_each_other_is_a_lease_in_all(process):
    process.drive("first", LIMIT - 1)
    process.now += SECONDS / 2 - 0.1
    process.drives.pop("first")
    process.drive("second", LIMIT - 1)
    process.now += SECONDS / 2
    assert process.suspects.closed
    process.now += 0.2
    assert not process.suspects.closed


def test_one_that_has_stored_a_step_alone_makes_room_for_the_next(process):
    async def main() -> None:
        process.drive("first", LIMIT - 1)
        assert not process.suspects.should_leave("first"), "no other waits"
        waiting = asyncio.create_task(process.suspects.room("second", LIMIT - 1, 60))
        await asyncio.sleep(0)
        assert process.suspects.should_leave("first")
        assert not process.suspects.should_leave("another")
        process.drives.pop("first")
        process.suspects.notify()
        assert await waiting
        assert not process.suspects.should_leave("first")

    asyncio.run(main())


def test_one_that_was_turned_away_comes_in_when_there_is_room(process):
    async def main() -> None:
        for n in range(3):
            process.drive(f"suspect {n}", 3)
        waiting = [asyncio.create_task(process.suspects.room(f"innocent {n}", 2, 60)) for n in range(2)]
        await asyncio.sleep(0)
        process.suspects.notify()
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting), "nothing has changed"
        process.drives["suspect 0"].progressed = True
        process.suspects.notify()
        assert await asyncio.gather(*waiting) == [True, True]

    asyncio.run(main())


def test_after_a_while_a_debate_is_overdue_unless_the_process_has_only_begun(process):
    overdue = SECONDS * suspects.OVERDUE
    assert not process.suspects.is_overdue(overdue + 0.1)
    process.now += SECONDS * suspects.BEGINNING + 0.1
    assert process.suspects.is_overdue(overdue + 0.1)
    assert not process.suspects.is_overdue(overdue - 0.1)


def test_none_comes_in_where_another_is_driven_alone(process):
    process.suspects.is_overdue(0)
    process.now += SECONDS * suspects.BEGINNING + 0.1
    process.drive("alone", LIMIT - 1)
    assert not process.suspects.is_overdue(100 * SECONDS)


def test_where_one_is_driven_alone_no_other_waits_for_room(process):
    process.drive("suspect", LIMIT - 1)
    assert not asyncio.run(process.suspects.room("innocent", 0, 60))


def test_a_sweep_comes_as_soon_as_there_is_room(process):
    async def main() -> None:
        process.drive("suspect", LIMIT - 1)
        process.suspects.turn_away("innocent", 0)
        sweep = asyncio.create_task(process.suspects.until_sweep(1000))
        await asyncio.sleep(0)
        del process.drives["suspect"]
        process.suspects.notify()
        await sweep

    asyncio.run(main())


async def died(runtime: Runtime, debate: Debate, times: int = 1) -> None:
    """As if so many processes had died driving it."""
    for n in range(times):
        await runtime.store.claim(debate.id, f"dead {n}", 0, expect=["pending", "running"])


async def swept_until(runtime: Runtime, debate: Debate, status: str) -> Debate:
    async with asyncio.timeout(60):
        while (now := await runtime.store.get(debate.id)).status != status:
            await runtime.recover()
            await asyncio.sleep(0.02)
    return now


def on(tmp_path, check: Any) -> None:
    async def main() -> None:
        async with an_app(tmp_path, lease_seconds=1, crash_limit=3) as app:
            await check(app)

    asyncio.run(main())


def test_no_one_waits_for_long_behind_a_step_that_takes_for_ever(tmp_path):
    held = Held(tmp_path)

    async def check(app) -> None:
        runtime = app.runtime
        suspect, other = await new_debate(app, held.model, turns=2), await new_debate(app, "sim:", turns=2)
        await died(runtime, suspect)
        await runtime.recover()
        assert (await runtime.store.get(suspect.id)).alone
        await runtime.defer(other.id, "start")
        await runtime.recover()
        assert runtime.driven == 1, "not beside it, as long as it may be the reason"
        await swept_until(runtime, other, "completed")
        beside = await runtime.store.get(suspect.id)
        assert (beside.status, beside.alone, beside.crashes) == ("running", False, 1)
        held.release()
        await swept_until(runtime, suspect, "completed")

    on(tmp_path, check)


def test_a_suspect_does_not_wait_for_ever_for_the_steps_of_others(tmp_path):
    held = Held(tmp_path)

    async def check(app) -> None:
        runtime = app.runtime
        slow, suspect = await new_debate(app, held.model, turns=2), await new_debate(app, "sim:", turns=2)
        await runtime.start(slow.id)
        await until(lambda: held.log.exists() and held.log.read_text())
        await died(runtime, suspect)
        done = await swept_until(runtime, suspect, "completed")
        assert done.crashes == 0
        held.release()
        await runtime.wait(slow.id)
        assert (await swept_until(runtime, slow, "completed")).epoch == 2, "it was handed back when its step was over"

    on(tmp_path, check)


def test_suspects_beyond_a_group_come_in_when_one_of_it_stores_a_step(tmp_path):
    held = Held(tmp_path)

    async def check(app) -> None:
        runtime = app.runtime
        group = [await new_debate(app, held.model, turns=2) for _ in range(10)]
        last = await new_debate(app, "sim:", turns=2)
        for debate in (*group, last):
            await died(runtime, debate, 2)
        for debate in group:
            assert await runtime.advance(debate.id) is not None
        assert await runtime.advance(last.id) is None
        turned_away = asyncio.create_task(runtime.advance(last.id, patience=600))
        await until(lambda: held.log.exists() and held.log.read_text())
        assert not turned_away.done()
        held.release()
        assert (await turned_away).status == "running"
        await runtime.wait(last.id)

    async def main() -> None:
        async with an_app(tmp_path, crash_limit=LIMIT) as app:
            await check(app)

    asyncio.run(main())


def test_one_that_has_waited_too_long_comes_in_beside_any_others(tmp_path):
    held = Held(tmp_path)

    async def check(app) -> None:
        runtime = app.runtime
        group = [await new_debate(app, held.model, turns=2) for _ in range(3)]
        late, alone = await new_debate(app, "sim:", turns=2), await new_debate(app, "sim:", turns=2)
        for debate in (*group, late):
            await died(runtime, debate, 3)
        await died(runtime, alone, LIMIT - 2)
        for debate in group:
            assert await runtime.advance(debate.id) is not None
        assert await runtime.advance(late.id) is None
        at = time.time() + app.settings.lease_seconds
        runtime.now = lambda: at
        assert await runtime.advance(late.id) is None, "the process has only begun"
        runtime.suspects._began = -math.inf
        for debate in (late, alone):
            assert await runtime.advance(debate.id) is not None
            assert not (await runtime.store.get(debate.id)).alone
            assert not runtime.suspects.closed
            assert (await runtime.wait(debate.id)).status == "completed"
        held.release()
        for debate in group:
            await runtime.wait(debate.id)

    async def main() -> None:
        async with an_app(tmp_path, crash_limit=LIMIT) as app:
            await check(app)

    asyncio.run(main())


def test_a_death_in_company_convicts_no_one(tmp_path):
    async def check(app) -> None:
        runtime = app.runtime
        debate = await new_debate(app, "sim:", turns=2)
        await died(runtime, debate, 2)
        await runtime.store.claim(debate.id, "alone", 0, expect=["running"], alone=True)
        await runtime.store.accompany(debate.id, 3)
        assert (await swept_until(runtime, debate, "completed")).error is None
        guilty = await new_debate(app, "sim:", turns=2)
        await died(runtime, guilty, 2)
        await runtime.store.claim(guilty.id, "alone", 0, expect=["running"], alone=True)
        assert (await swept_until(runtime, guilty, "failed")).error.kind == "crashed"

    on(tmp_path, check)
