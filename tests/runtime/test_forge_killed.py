"""SIGKILL at every step of a forge whose code really runs: it comes out the same, with nothing doubled, and no process,
folder or mount is left.

Linters and type checkers look at the versions of the end only, not after every phase: one look takes longer than all
the rest of a process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.client import documents
from tests.running import an_app, run_to_rest
from tests.runtime.test_forge import new_forge

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WEAK = "sim:?seed=4&skill=.3&cases=.9&repair=.5&red=1"  # its first versions fail, and are repaired
HOOKS = ["convergence"]


async def seen(app: App, debate_id: str) -> Any:
    """What came out, and by which steps."""
    store = app.runtime.store
    debate, turns = await store.get(debate_id), await store.turns(debate_id)
    versions, episodes = await store.versions(debate_id), await store.episodes(debate_id)
    assert debate.status == "completed", debate.error
    assert debate.outcome is not None
    assert debate.outcome.answer is not None
    assert Counter(turn.key for turn in turns).most_common(1)[0][1] == 1
    assert [each.number for each in versions] == list(range(1, len(versions) + 1))
    assert debate.turn_count == len(turns)
    assert (await documents.prove(app, debate_id)).same
    return {
        "code": debate.outcome.answer.value,
        "headline": debate.outcome.headline,
        "confidence": debate.outcome.confidence,
        "standings": debate.outcome.details["standings"],
        "steps": sorted(turn.key for turn in turns),
        "prompts": {turn.key: turn.prompt_hash for turn in turns},
        "said": sorted((turn.key, turn.data["code"]) for turn in turns if turn.data and turn.data.get("code")),
        "versions": [(each.number, each.author, each.code, each.test_pass_rate) for each in versions],
        "episodes": [(each.agent, each.attempt, each.code, each.passed) for each in episodes],
    }


def killed_and_undisturbed(folder: Path, url: str, **settings: Any) -> tuple[Any, Any, list[list[str]]]:
    async def first() -> tuple[Any, str]:
        async with an_app(folder, database_url=url) as app:
            whole = await run_to_rest(app, await new_forge(app, WEAK, hooks=HOOKS, **settings))
            return await seen(app, whole.id), (await new_forge(app, WEAK, hooks=HOOKS, **settings)).id

    async def after() -> Any:
        async with an_app(folder, database_url=url) as app:
            return await seen(app, debate_id)

    undisturbed, debate_id = asyncio.run(first())
    (folder / "tmp").mkdir()
    command = [sys.executable, "-m", "tests.runtime.forge_killing", url, debate_id]
    environ = {**os.environ, "TMPDIR": str(folder / "tmp")}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["left"] == []
    return asyncio.run(after()), undisturbed, told["killed"]


def check(killed: Any, undisturbed: Any, killings: list[list[str]]) -> None:
    assert killed == undisturbed
    for moment, steps in (("has its result", killed["steps"]), ("runs", [*filter(runs_code, killed["steps"])])):
        assert sorted(key for key, when, _ in killings if when == moment) == steps
    assert any(stage == "inside" for _, _, stage in killings)  # in the midst of running code


def runs_code(key: str) -> bool:
    return "/cases:" in key or "/checks:" in key


def test_killed_at_every_step_of_every_phase_on_sqlite(tmp_path: Path) -> None:
    check(*killed_and_undisturbed(tmp_path, str(tmp_path / "moot.db")))


def test_killed_at_every_step_of_a_quick_one_on_postgresql(tmp_path: Path, database_url: str) -> None:
    """The preset with fewer phases: a step is stored by the same statement in all of them. Its engineers start afresh,
    as those of small models do."""
    cases = ["first_repeat([1, 2, 2]) == 2", "first_repeat([]) == None"]
    how = {"preset": "quick", "attempts": 0, "fresh_starts": 2, "cases": cases, "convergence": False, "by_need": 2}
    killed, undisturbed, killings = killed_and_undisturbed(tmp_path, database_url, **how)
    check(killed, undisturbed, killings)
    assert any("/write-afresh/" in key for key, _, _ in killings)
