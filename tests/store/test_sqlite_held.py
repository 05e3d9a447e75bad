"""Writes while another process holds the database: they wait for as long as their caller can, and are not lost."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from moot import tokens
from moot.core.errors import DatabaseHeld
from moot.store import Commit
from moot.store.patience import Patience, patience, waiting
from moot.store.sqlite import SqliteStore
from tests.holding import held
from tests.running import Held, an_app, new_debate, until
from tests.store.samples import debate

pytestmark = pytest.mark.slow


async def test_a_write_waits_for_as_long_as_its_caller_can_and_is_not_done_after_that(on_sqlite: SqliteStore):
    store = on_sqlite
    with held(store.path) as holder:
        with waiting(math.inf):
            patient = asyncio.create_task(store.create(debate(1)))
        for seconds in (0.0, 0.5):
            with waiting(seconds), pytest.raises(DatabaseHeld, match="Another process holds the database"):
                await store.create(debate(2))
        assert not patient.done()
        assert (await store.page()).debates == []
        holder.release()
        await patient
    assert [each.id for each in (await store.page()).debates] == [debate(1).id]


async def test_patience_can_end_while_a_write_waits(on_sqlite: SqliteStore):
    with held(on_sqlite.path):
        mine = Patience(math.inf)
        patience.set(mine)
        write = asyncio.create_task(on_sqlite.create(debate(1)))
        with waiting(0.0), pytest.raises(DatabaseHeld):
            await on_sqlite.writable()
        assert not write.done()
        mine.seconds = 0.0
        with pytest.raises(DatabaseHeld):
            await write


async def test_a_token_is_known_although_its_use_can_not_be_recorded(on_sqlite: SqliteStore):
    secret, token = tokens.new_token("ann", ["read"])
    await on_sqlite.add_token(token)
    with held(on_sqlite.path), waiting(math.inf):
        async with asyncio.timeout(60):
            caller = await tokens.find(on_sqlite, secret)
    assert caller is not None
    assert caller.name == "ann"


async def test_a_store_is_closed_although_a_write_waits(on_sqlite: SqliteStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("moot.store.sqlite.writer.CLOSE_SECONDS", 0.5)
    with held(on_sqlite.path):
        with waiting(math.inf):
            write = asyncio.create_task(on_sqlite.create(debate(1)))
        with waiting(0.0), pytest.raises(DatabaseHeld):
            await on_sqlite.writable()
        await on_sqlite.close()
        with pytest.raises(DatabaseHeld):
            await write


async def test_a_debate_under_way_waits_and_goes_on(tmp_path: Path):
    model = Held(tmp_path)
    async with an_app(tmp_path) as app:
        runtime = app.runtime
        made = await new_debate(app, model.model, turns=2)
        with waiting(0.0):  # so its steps could not be stored, if they had the patience of their caller
            await runtime.start(made.id)
        await until(lambda: model.log.exists() and model.log.read_text())
        commit, asked = runtime.store.commit, asyncio.Event()

        async def noted(given: Commit) -> Any:
            asked.set()
            return await commit(given)

        runtime.store.commit = noted
        with held(tmp_path / "moot.db") as holder:
            before = (await runtime.store.get(made.id)).turn_count
            model.release()
            await asked.wait()
            for _ in range(3):  # each is tried together with the commit
                with waiting(0.0), pytest.raises(DatabaseHeld):
                    await runtime.store.writable()
            assert runtime.drives(made.id)
            assert (await runtime.store.get(made.id)).turn_count == before
            holder.release()
        assert (await runtime.wait(made.id)).status == "completed"
        assert (await runtime.store.get(made.id)).epoch == 1
