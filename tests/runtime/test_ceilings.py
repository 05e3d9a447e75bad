"""The day's ceiling over several processes, some of which are killed: nothing is spent beyond it, lost or doubled."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.client import documents
from tests.forking import start_moot
from tests.running import Held, an_app, until
from tests.runtime.calls import environ

pytestmark = pytest.mark.slow

PRICED = "sim:?seed=3&tokens=150&price_in=2&price_out=10"
WAIT = 60.0


def spent(path: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as reader:
        reader.row_factory = sqlite3.Row
        (row,) = reader.execute("select * from spending").fetchall()
        return dict(row)


async def test_a_call_that_a_killed_process_made_stays_paid_for(tmp_path):
    held, path = Held(tmp_path), tmp_path / "moot.db"
    variables = environ(path, MOOT_CEILINGS="{day_tokens: 100000}")
    process = start_moot(["debate", "Tea?", "--format", "classic", "--model", held.model, "--plain"], variables)
    await until(lambda: held.calls)  # it is in the middle of a call
    process.kill()
    process.wait(WAIT)
    before = spent(path)
    assert before["reserved_tokens"] > 0
    assert before["tokens_out"] == 0
    held.release()
    again = start_moot(["resume", before["session_id"], "--plain"], variables)
    assert again.wait(WAIT) == 0
    after = spent(path)
    with closing(sqlite3.connect(path)) as reader:
        (stored,) = reader.execute("select tokens_out + lost_tokens_out from debate_sessions").fetchone()
        (turns,) = reader.execute("select sum(tokens_out) from debate_turns").fetchone()
    assert after["tokens_out"] == stored == turns > 0
    assert after["reserved_tokens"] == 0
    assert after["unsettled_tokens"] == before["reserved_tokens"]


async def test_processes_that_race_for_the_last_cent_stay_within_the_day(tmp_path, database):
    most = 4000
    variables = environ(database, MOOT_CEILINGS=f"{{day_tokens: {most}}}")
    flags = ["--format", "duel", "--turns", "4", "--model", PRICED, "--set", "max_total_output_tokens=50000", "--plain"]
    processes = [start_moot(["debate", f"Tea or coffee {n}?", *flags], variables) for n in range(3)]
    codes = [process.wait(WAIT) for process in processes]
    assert set(codes) <= {0, 2, 3}  # completed, refused before it began, or stopped
    assert codes != [0, 0, 0]

    async with an_app(tmp_path, database_url=database) as app:
        debates = (await app.runtime.store.page()).debates
        booked = (await app.runtime.store.today("")).all
        assert 0 < booked.tokens == sum(each.tokens_out for each in debates) <= most
        assert booked.reserved_tokens == 0
        assert all([(await documents.prove(app, each.id)).same for each in debates])
