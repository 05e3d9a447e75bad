"""`moot status`: the state of debates, workers and queue, and what needs attention."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from moot.store.overview import Overview
from tests.forking import constants
from tests.postgres import execute
from tests.running import Held
from tests.workers.crew import Crew, new, on, status, wait_until

pytestmark = pytest.mark.slow

LIMITS = json.dumps({"sim": {"requests_per_minute": 600}, "openai:gpt-5": {"tokens_per_minute": 30_000}})


def test_nothing_there_yet_is_well_and_stays_so(moot):
    found = moot("status")
    assert (found.code, found.out.splitlines()[-1]) == (0, "All is well.")
    assert not moot.db.exists()


def test_an_interrupted_debate_needs_a_hand(moot):
    debate_id = moot.interrupted()
    found = moot("status")
    assert found.code == 1
    assert "debates   1: 1 running" in found.out
    assert f"! Debate {debate_id[:8]} is running, but its process is gone" in found.out
    assert "`moot resume --all`" in found.out
    told = json.loads(moot("status", "--json").out)
    assert (told["ok"], [each["debate_id"] for each in told["stranded"]]) == (False, [debate_id])
    assert moot("resume", "--all").code == 0
    assert moot("status").code == 0


def test_failures_are_told_with_their_reason(moot):
    model = moot.script({"1/speak/a": {"fail": "unavailable", "message": "no key"}})
    failed = moot("debate", "Does it fail?", "--rounds", "1", "--model", model)
    assert failed.code == 1
    found = moot("status", MOOT_RATE_LIMITS=LIMITS)
    assert found.code == 0  # failed debates are for those who started them
    assert "failed    1 in the last 24 hours" in found.out
    assert f"1 unavailable, newest {moot.ids[0][:8]}: no key" in found.out
    assert "limits    sim: 600 requests a minute\n          openai:gpt-5: 30,000 tokens a minute\n" in found.out


def test_every_field_is_in_the_docs():
    docs = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    section = re.search(r"^## `moot status\b.*?(?=^## |\Z)", docs, re.MULTILINE | re.DOTALL)
    assert section is not None
    for name in ("ok", "needs", "database", *Overview.__dataclass_fields__):
        assert f"`{name}`" in section[0], name


def test_workers_jobs_and_limits_on_postgresql(database_url, tmp_path):
    judge = Held(tmp_path)
    with Crew(database_url, tmp_path, MOOT_RATE_LIMITS=LIMITS, **constants({"moot.runtime.worker.SWEEPS": 30})) as crew:

        def told() -> tuple[int, Any]:
            done = crew.run("status", "--json")
            return done.returncode, json.loads(done.stdout)

        async def queue() -> str:
            async with on(database_url, tmp_path) as app:
                debate = await new(app, "sim:", "duel", model_judge=judge.model)
                await app.hand_over(debate)
                return debate.id

        async def end(debate_id: str) -> None:
            async with on(database_url, tmp_path) as app:
                await status(app, debate_id, "completed", seconds=60)

        debate_id = asyncio.run(queue())
        code, found = told()
        assert (code, found["queue"]["waiting"]) == (0, 1)  # a worker may just be starting
        execute(database_url, "update moot_jobs set created = now() - interval '5 minutes'")
        code, found = told()
        assert (code, found["workers"], found["queue"]["oldest_seconds"] > 290) == (1, [], True)
        assert "No worker is alive, and there is work: 1 job" in found["needs"][0]

        worker = crew.worker().ready()
        wait_until(lambda: any(each["debates"] == 1 for each in told()[1]["workers"]))
        code, found = told()
        (seen,) = found["workers"]
        assert (code, seen["room"], seen["draining"]) == (0, 100, False)
        assert str(worker.pid) in seen["name"]
        assert found["limits"]["sim"]["requests_per_minute"] == 600
        assert found["limits"]["sim"]["line_seconds"] == 0
        judge.release()
        asyncio.run(end(debate_id))
        wait_until(lambda: told()[1]["workers"][0]["debates"] == 0)  # it says so with its next sweep
        text = crew.run("status")
        assert text.returncode == 0
        assert re.search(
            rf"workers   1 alive\n          \S+:{worker.pid}: 0 of 100 debates, (can run code, )?seen just now",
            text.stdout,
        )
        assert "sim: 600 requests a minute; no call waits" in text.stdout

        worker.send(15)
        assert worker.ended() == 0
        assert told()[1]["workers"] == []
