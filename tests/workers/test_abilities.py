"""Debates about code on workers: only those whose machine has a sandbox drive them, and status says when none has."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from moot import formats
from moot.app import App
from moot.cli.status import _problems
from moot.core.errors import AbilityMissing
from moot.core.script import Stage
from moot.core.settings import DebateSettings
from moot.core.types import Outcome
from moot.tools import abilities
from moot.tools.sandbox.diagnosis import Diagnosis
from tests.runtime.small import a_format, outcome
from tests.workers.crew import one_is_driven, status, when, working

pytestmark = pytest.mark.slow

LACK = Diagnosis(what="bubblewrap is not installed.", fix="Install it.")


async def building(stage: Stage, settings: DebateSettings) -> Outcome:
    return outcome("tie", "Built.")


BUILDING = replace(a_format(building), needs=("code",))


async def known(app: App, *expected: list[str]) -> None:
    """Wait until the workers have said what they can do: they try it while they drive."""

    async def so() -> bool:
        return [list(each.abilities) for each in (await app.overview()).workers] == [*expected]

    await when(so)


async def problems(app: App) -> list[str]:
    return list(_problems(await app.condition(), await app.overview()))


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    with formats.DOOR.adding(BUILDING.name, BUILDING):
        yield


async def test_a_worker_without_a_sandbox_leaves_the_debate_to_one_that_has_it(
    app: App, database_url, tmp_path, monkeypatch
):
    monkeypatch.setattr(abilities, "PROBES", {"code": lambda: LACK})
    async with working(database_url, tmp_path, "lacks") as (without, first):
        without.runtime._unable = lambda _: AbilityMissing("There is no sandbox.", fix="Install one.")
        refused = asyncio.Event()
        advance = without.runtime.advance

        async def watched(debate_id: str, **more: Any) -> Any:
            try:
                return await advance(debate_id, **more)
            except AbilityMissing:
                refused.set()
                raise

        without.runtime.advance = watched
        async with without.presence(first):
            made = await app.runtime.create(topic="t", format=BUILDING, config={}, cast=[])
            await app.hand_over(made)
            async with asyncio.timeout(60):
                await refused.wait()
            (worker,) = (await app.overview()).workers
            assert list(worker.abilities) == []
            (said,) = await problems(app)
            assert said.startswith(f"Debate {made.short} has waited for ")
            assert "no worker can run code. `moot doctor`" in said
            monkeypatch.setattr(abilities, "PROBES", {"code": lambda: None})
            async with working(database_url, tmp_path, "has") as (capable, second), capable.presence(second):
                done = await status(app, made.id, "completed")
                assert done.outcome is not None
                assert done.outcome.headline == "Built."
                await known(app, [], ["code"])
                assert await problems(app) == []


async def test_debates_of_another_worker_do_not_wait_until_the_sandbox_was_tried(
    app: App, database_url, tmp_path, monkeypatch
):
    tried = threading.Event()
    monkeypatch.setattr(abilities, "PROBES", {"code": lambda: None if tried.wait(60) else LACK})
    async with working(database_url, tmp_path, "new") as (begun, worker), begun.presence(worker):
        await known(app, [])
        await one_is_driven(app)
        assert not tried.is_set()
        tried.set()
        await known(app, ["code"])
