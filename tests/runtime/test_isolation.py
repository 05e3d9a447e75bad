"""Debates under suspicion, with children that are tasks of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from moot.app import App
from moot.core.errors import DatabaseAway
from moot.core.types import Debate
from moot.dispatch import LocalDispatcher
from moot.runtime.isolation import LONE_DEATHS, SUSPECT_DEATHS, Isolation, drive_suspects, part_of
from tests.running import Held, new_debate, until

pytestmark = pytest.mark.slow

EXPECT = ("pending", "running")


class Here:
    """Drives debates in this process as a child does, once the first `missing` tries have failed."""

    def __init__(self, app: App, missing: int = 0) -> None:
        self.app, self.missing = app, missing
        self.driven: list[tuple[str, ...]] = []
        self.recalled = asyncio.Event()

    async def run(self, gather: Callable[[], Sequence[str]], done: Callable[[str], None]) -> None:
        debates = gather()
        self.driven.append(tuple(debates))
        if len(self.driven) > self.missing:
            await drive_suspects(self.app.runtime, debates, done, self.recalled.wait())

    def recall(self) -> None:
        self.recalled.set()


async def died(app: App, debate: Debate, times: int, *, alone: bool = False) -> None:
    """As if so many processes had died driving it."""
    for n in range(times):
        await app.runtime.store.claim(debate.id, f"dead {n} {alone}", 0, expect=EXPECT, alone=alone)


async def rests(app: App, debate: Debate) -> Debate:
    async with asyncio.timeout(60):
        while (now := await app.runtime.store.get(debate.id)).status in EXPECT:
            await asyncio.sleep(0.01)
    return now


def test_each_death_leaves_less_company():
    ids = [str(n) for n in range(64)]
    assert len({part_of(each, SUSPECT_DEATHS) for each in ids}) == 1
    for deaths in range(SUSPECT_DEATHS + 1, 20):
        ids = [each for each in ids if part_of(each, deaths) == part_of("0", deaths)]
    assert ids == ["0"]


async def test_a_death_in_company_convicts_no_one(app):
    innocent, guilty = await new_debate(app, "sim:", turns=2), await new_debate(app, "sim:", turns=2)
    await died(app, innocent, 20)
    await died(app, guilty, SUSPECT_DEATHS)
    await died(app, guilty, LONE_DEATHS, alone=True)
    await app.runtime.recover()
    assert (await rests(app, innocent)).status == "completed"
    assert (await rests(app, guilty)).error.kind == "crashed"


async def test_debates_under_suspicion_are_driven_together_until_a_step_is_stored(app):
    trusted, *suspected = [await new_debate(app, "sim:", turns=2) for _ in range(4)]
    await died(app, trusted, SUSPECT_DEATHS - 1)
    for debate in suspected:
        await died(app, debate, SUSPECT_DEATHS)
    children = Here(app, missing=1)  # a process that can't be had is no death
    dispatcher = LocalDispatcher(app.runtime, isolation=Isolation(app.runtime, children))
    await dispatcher.open()
    await dispatcher.sweep()  # they are delivered twice
    try:
        done = [await rests(app, each) for each in (trusted, *suspected)]
    finally:
        await dispatcher.close()
    assert [each.status for each in done] == ["completed"] * 4
    assert [{*each} for each in children.driven] == [{each.id for each in suspected}] * 2
    assert [each.epoch for each in done] == [2, 4, 4, 4]  # handed back after the first step, and driven on


async def test_a_server_that_ends_has_debates_under_suspicion_handed_back(app, tmp_path: Path):
    held = Held(tmp_path)
    debate = await new_debate(app, held.model, turns=2)
    await died(app, debate, SUSPECT_DEATHS)
    dispatcher = LocalDispatcher(app.runtime, isolation=Isolation(app.runtime, Here(app)))
    await dispatcher.open()
    await until(lambda: held.log.exists() and held.log.read_text())
    await dispatcher.close(0)
    left = await app.runtime.store.get(debate.id)
    assert (left.status, left.owner, left.epoch, left.crashes) == ("running", None, 3, SUSPECT_DEATHS)
    held.release()


async def test_a_child_that_comes_too_late_leaves_a_debate_that_is_tried_again_alone(app):
    debate, store, done = await new_debate(app, "sim:", turns=2), app.runtime.store, list[str]()
    await died(app, debate, SUSPECT_DEATHS)
    # Meanwhile another process set it aside, and a person tries it again.
    await store.move(debate.id, "failed", expect=["running"])
    await store.move(debate.id, "running", expect=["failed"])
    await drive_suspects(app.runtime, [debate.id], done.append, asyncio.Event().wait())
    assert done == [debate.id]
    now = await store.get(debate.id)
    assert (now.status, now.owner, now.epoch, now.turn_count) == ("running", None, SUSPECT_DEATHS, 0)


async def test_a_database_that_is_away_is_no_death(app, monkeypatch: pytest.MonkeyPatch):
    debate, store = await new_debate(app, "sim:", turns=2), app.runtime.store
    await died(app, debate, SUSPECT_DEATHS)
    commit, away = store.commit, [DatabaseAway("It is away.")] * 2

    async def commits(what: object) -> object:
        if away:
            raise away.pop()
        return await commit(what)

    monkeypatch.setattr(store, "commit", commits)
    told: list[str] = []
    await drive_suspects(app.runtime, [debate.id], told.append, asyncio.Event().wait())
    assert told == [debate.id]
    assert not away
    left = await store.get(debate.id)
    assert (left.status, left.owner, left.crashes) == ("running", None, SUSPECT_DEATHS)
