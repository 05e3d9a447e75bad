"""A dump taken while debates run, restored elsewhere: they continue from the last turn in it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess

import pytest

from tests.postgres import binaries, execute
from tests.running import Held, run_to_rest
from tests.workers.crew import Crew, new, on, status, turns

pytestmark = pytest.mark.slow


def test_a_restored_dump_goes_on(databases, tmp_path):
    dumps, restores = (shutil.which(name, path=_places()) for name in ("pg_dump", "pg_restore"))
    if dumps is None or restores is None:
        pytest.fail(
            "there is no pg_dump here: install PostgreSQL's client programs (Debian: apt-get install postgresql-client)"
        )
    url, dump, judge = databases.make(), tmp_path / "moot.dump", Held(tmp_path)

    async def begin() -> tuple[str, str]:
        async with on(url, tmp_path) as app:
            running = await new(app, "sim:", "duel", model_judge=judge.model)
            await app.hand_over(running)
            asking = await new(app, "sim:", seats={"a": {"model": "human"}}, max_rounds=1)
            await run_to_rest(app, asking)
            await turns(app, running.id, 14)  # all that the debaters can do without the judge
            await asyncio.to_thread(subprocess.run, [dumps, "--format=custom", f"--file={dump}", url], check=True)
            return running.id, asking.id

    with Crew(url, tmp_path) as crew:
        crew.worker().ready()
        running, asking = asyncio.run(begin())

    copy = databases.make(empty=True)
    subprocess.run([restores, "--no-owner", f"--dbname={copy}", dump], check=True)
    kept = execute(copy, f"select key, content from debate_turns where session_id = '{running}' order by seq")
    assert len(kept) == 14
    judge.release()

    async def end() -> None:
        async with on(copy, tmp_path) as app:
            debate = await status(app, running, "completed", seconds=90)
            told = [(turn.key, turn.content) for turn in await app.runtime.store.turns(running)]
            assert debate.turn_count == len(set(told)) == 30
            assert told[: len(kept)] == [(row["key"], row["content"]) for row in kept]
            assert (await app.runtime.gates.open(asking)).key == "1/speak/a"

    with Crew(copy, tmp_path) as crew:
        crew.worker().ready()
        asyncio.run(end())


def _places() -> str:
    """Where the server's own tools are, which fit its version, comes first."""
    return os.pathsep.join([str(binaries() or ""), os.environ.get("PATH", "")])
