"""The day's ceiling over several processes, some of which are killed: nothing is spent beyond it, lost or doubled."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.client import documents
from moot.core.settings import Settings
from tests.forking import start_moot
from tests.running import Held

pytestmark = pytest.mark.slow

PRICED = "sim:?seed=3&tokens=150&price_in=2&price_out=10"
WAIT = 60.0


def environ(database: str, ceilings: str) -> dict[str, str]:
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    own = {"MOOT_CONFIG": os.devnull, "MOOT_DATABASE_URL": database, "MOOT_EMBEDDER": "none", "NO_COLOR": "1"}
    return {**keep, **own, "MOOT_CEILINGS": ceilings}


def spent(path: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as reader:
        reader.row_factory = sqlite3.Row
        (row,) = reader.execute("select * from spending").fetchall()
        return dict(row)


def test_a_call_that_a_killed_process_made_stays_paid_for(tmp_path):
    held, path = Held(tmp_path), tmp_path / "moot.db"
    variables = environ(str(path), "{day_tokens: 100000}")
    process = start_moot(["debate", "Tea?", "--format", "classic", "--model", held.model, "--plain"], variables)
    until = time.monotonic() + WAIT
    while not held.log.exists() or not held.log.read_text():  # it is in the middle of a call
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.01)
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


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_processes_that_race_for_the_last_cent_stay_within_the_day(tmp_path, backend, request):
    most = 4000
    database = str(tmp_path / "moot.db") if backend == "sqlite" else request.getfixturevalue("database_url")
    variables = environ(database, f"{{day_tokens: {most}}}")
    flags = ["--format", "duel", "--turns", "4", "--model", PRICED, "--set", "max_total_output_tokens=50000", "--plain"]
    processes = [start_moot(["debate", f"Tea or coffee {n}?", *flags], variables) for n in range(3)]
    codes = [process.wait(WAIT) for process in processes]
    assert set(codes) <= {0, 2, 3}  # completed, refused before it began, or stopped
    assert codes != [0, 0, 0]

    async def totals() -> tuple[Any, int, bool]:
        app = App(Settings(database_url=database, embedder="none"), environ={})
        try:
            debates = (await app.runtime.store.page()).debates
            proved = all([(await documents.prove(app, each.id)).same for each in debates])
            return (await app.runtime.store.today("")).all, sum(each.tokens_out for each in debates), proved
        finally:
            await app.close()

    booked, stored, proved = asyncio.run(totals())
    assert booked.tokens == stored
    assert 0 < booked.tokens <= most
    assert booked.reserved_tokens == 0
    assert proved
