"""Debates whose processes died: when one is set aside, and what becomes of one that is driven apart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from moot.app import App
from moot.core.errors import DatabaseAway
from moot.core.types import Debate
from moot.dispatch import LocalDispatcher
from moot.runtime.isolation import AGAIN_SECONDS, Isolation, Report, drive_apart
from moot.runtime.runtime import Runtime
from moot.runtime.suspects import is_suspected, together_at_most
from tests.running import Held, an_app, new_debate, until

LIMIT = 6
EXPECT = ("pending", "running")


@pytest.mark.parametrize(("crashes", "together"), [(2, 10), (3, 3), (4, 1), (5, 1), (60, 1)])
def test_the_more_deaths_the_fewer_beside_each_other(crashes: int, together: int):
    assert together_at_most(crashes, LIMIT) == together
    assert is_suspected(crashes, LIMIT)


@pytest.mark.parametrize(("limit", "crashes", "suspected"), [(6, 0, False), (6, 1, False), (3, 1, True), (1, 1, True)])
def test_from_when_on_a_debate_is_under_suspicion(limit: int, crashes: int, suspected: bool):
    assert is_suspected(crashes, limit) is suspected


async def died(runtime: Runtime, debate: Debate, times: int = 1, *, alone: bool = False) -> None:
    """As if so many processes had died driving it."""
    for n in range(times):
        await runtime.store.claim(debate.id, f"dead {n} {alone}", 0, expect=EXPECT, alone=alone)


def on(tmp_path: Path, check: Callable[[App], Awaitable[None]]) -> None:
    async def main() -> None:
        async with an_app(tmp_path, crash_limit=LIMIT) as app:
            await check(app)

    asyncio.run(main())


class Here:
    """As if other processes drove debates, but here."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.driven: list[tuple[str, ...]] = []
        self.recalled = asyncio.Event()

    async def run(self, debates: Sequence[str], report: Report) -> None:
        self.driven.append(tuple(debates))
        await drive_apart(self.app.runtime, debates, report, self.recalled.wait())

    def recall(self) -> None:
        self.recalled.set()


async def rests(app: App, debate: Debate) -> Debate:
    async with asyncio.timeout(60):
        while (now := await app.runtime.store.get(debate.id)).status in EXPECT:
            await asyncio.sleep(0.01)
    return now


def test_a_death_in_company_convicts_no_one(tmp_path: Path):
    async def check(app: App) -> None:
        innocent, guilty = await new_debate(app, "sim:", turns=2), await new_debate(app, "sim:", turns=2)
        await died(app.runtime, innocent, LIMIT)
        await died(app.runtime, guilty, LIMIT - 1)
        await died(app.runtime, guilty, alone=True)
        await app.runtime.recover()
        assert (await rests(app, innocent)).status == "completed"
        assert (await rests(app, guilty)).error.kind == "crashed"

    on(tmp_path, check)


def test_a_server_has_debates_under_suspicion_driven_apart_until_a_step_is_stored(tmp_path: Path):
    async def check(app: App) -> None:
        trusted, suspected = await new_debate(app, "sim:", turns=2), await new_debate(app, "sim:", turns=2)
        await died(app.runtime, trusted)
        await died(app.runtime, suspected, 4)
        here = Here(app)
        dispatcher = LocalDispatcher(app.runtime, isolation=Isolation(here, LIMIT))
        await dispatcher.open()
        try:
            done = [await rests(app, each) for each in (trusted, suspected)]
        finally:
            await dispatcher.close()
        assert [each.status for each in done] == ["completed", "completed"]
        assert here.driven == [(suspected.id,)]
        assert [each.epoch for each in done] == [2, 6]  # it was handed back after its first step, and driven on

    on(tmp_path, check)


def test_a_server_that_ends_has_what_is_driven_apart_handed_back(tmp_path: Path):
    held = Held(tmp_path)

    async def check(app: App) -> None:
        debate = await new_debate(app, held.model, turns=2)
        await died(app.runtime, debate, 2)
        dispatcher = LocalDispatcher(app.runtime, isolation=Isolation(Here(app), LIMIT))
        await dispatcher.open()
        await until(lambda: held.log.exists() and held.log.read_text())
        await dispatcher.sweep()  # it is not taken from where it is driven
        assert (await app.runtime.store.get(debate.id)).epoch == 3
        await dispatcher.close(0)
        left = await app.runtime.store.get(debate.id)
        assert (left.status, left.owner, left.crashes) == ("running", None, 2)
        held.release()

    on(tmp_path, check)


def test_a_database_that_is_away_is_no_death(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def check(app: App) -> None:
        debate, store = await new_debate(app, "sim:", turns=2), app.runtime.store
        await died(app.runtime, debate, 2)
        commit, away = store.commit, [DatabaseAway("It is away.")] * 2

        async def commits(what: object) -> object:
            if away:
                raise away.pop()
            return await commit(what)

        monkeypatch.setattr(store, "commit", commits)
        told: list[tuple[str, float | None]] = []
        never = asyncio.Event()
        await drive_apart(app.runtime, [debate.id], lambda *what: told.append(what), never.wait())
        assert told == [(debate.id, AGAIN_SECONDS)]
        assert not away
        left = await store.get(debate.id)
        assert (left.status, left.owner, left.crashes) == ("running", None, 2)

    on(tmp_path, check)
