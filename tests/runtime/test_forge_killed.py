"""SIGKILL at every step of a forge whose code really runs: it comes out the same, with nothing doubled, and no process,
folder or mount is left.

Linters and type checkers look at the versions of the end only, not after every phase: one look takes longer than all
the rest of a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.client import creating, documents
from moot.core.artifacts import Episode
from moot.core.types import Debate
from moot.corpus import repository_tasks
from moot.request import Request
from tests.running import an_app, run_to_rest
from tests.runtime.test_forge import new_forge
from tests.tools.test_git import git

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WEAK = "sim:?seed=4&skill=.3&cases=.9&repair=.5&red=1"  # its first versions fail, and are repaired


async def seen(app: App, debate_id: str) -> Any:
    """What came out, and by which steps."""
    store = app.runtime.store
    debate, turns = await store.get(debate_id), await store.turns(debate_id)
    versions = await store.versions(debate_id)
    episodes = [each for each in await store.artifacts(debate_id) if isinstance(each, Episode)]
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
        "uses": sorted(turn.key for turn in turns if turn.kind == "use"),
        "prompts": {turn.key: turn.prompt_hash for turn in turns},
        "said": sorted((turn.key, turn.data["code"]) for turn in turns if turn.data and turn.data.get("code")),
        "versions": [(each.number, each.author, each.code, each.test_pass_rate) for each in versions],
        "episodes": [(each.agent, each.attempt, each.code, each.passed) for each in episodes],
    }


async def a_function(app: App, **settings: Any) -> Debate:
    return await new_forge(app, WEAK, hooks=["convergence"], **settings)


async def killed_and_undisturbed(
    folder: Path, url: str, how: str, new: Callable[[App], Awaitable[Debate]] = a_function
) -> tuple[Any, Any, list[list[str]]]:
    """What comes of a debate that is killed at each step (`one`), or at all steps of a moment (`together`), and of one
    that is not; and the kills."""
    data = str(folder / "data")
    async with an_app(folder, database_url=url, data_dir=data) as app:
        undisturbed = await seen(app, (await run_to_rest(app, await new(app))).id)
        debate_id = (await new(app)).id
    (folder / "tmp").mkdir()
    command = [sys.executable, "-m", "tests.runtime.forge_killing", url, debate_id, how]
    environ = {**os.environ, "TMPDIR": str(folder / "tmp"), "MOOT_DATA_DIR": data}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["left"] == []
    async with an_app(folder, database_url=url, data_dir=data) as app:
        return await seen(app, debate_id), undisturbed, told["killed"]


def check(killed: Any, undisturbed: Any, killings: list[list[str]]) -> None:
    assert killed == undisturbed
    for moment, steps in (("has its result", killed["steps"]), ("runs", killed["uses"])):
        assert sorted(key for key, when, _ in killings if when == moment) == steps
    assert any(stage == "inside" for _, _, stage in killings)  # in the midst of running code


async def test_killed_at_every_step_of_every_phase_on_sqlite(tmp_path: Path) -> None:
    check(*await killed_and_undisturbed(tmp_path, str(tmp_path / "moot.db"), "one"))


@pytest.mark.parametrize("how", [{"preset": "quick"}, pytest.param({}, marks=pytest.mark.soak)], ids=["quick", "whole"])
async def test_killed_at_every_step_on_postgresql(tmp_path: Path, database_url: str, how: dict[str, Any]) -> None:
    check(*await killed_and_undisturbed(tmp_path, database_url, "together", partial(a_function, **how)))


@pytest.mark.soak
async def test_killed_at_every_step_of_one_whose_engineers_start_afresh(tmp_path: Path) -> None:
    """As those of small models do."""
    cases = ["first_repeat([1, 2, 2]) == 2", "first_repeat([]) == None"]
    how = {"preset": "quick", "attempts": 0, "fresh_starts": 2, "cases": cases, "convergence": False, "by_need": 2}
    new = partial(a_function, **how)
    killed, undisturbed, killings = await killed_and_undisturbed(tmp_path, str(tmp_path / "moot.db"), "together", new)
    check(killed, undisturbed, killings)
    assert any("/write-afresh/" in key for key, _, _ in killings)


async def test_killed_at_every_step_over_a_repository_nothing_but_a_branch_is_left(tmp_path: Path) -> None:
    task, repo = next(iter(repository_tasks())), tmp_path / "project"
    for name, text in task.files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    git(repo, "init", "-q")
    git(repo, "add", ".")
    git(repo, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "Begin")
    model = "sim:?seed=3&skill=0&repair=1"
    chosen = {"model_debater": model, "model_judge": model, "clarify": "judge", "preset": "quick", "engineers": 1}
    chosen |= {"repo": str(repo), "tests": task.tests}

    async def a_patch(app: App) -> Debate:
        return await creating.create(app, app.plan(Request(topic=task.issue, format="forge", settings=chosen)))

    killed, undisturbed, killings = await killed_and_undisturbed(
        tmp_path, str(tmp_path / "moot.db"), "together", a_patch
    )
    check(killed, undisturbed, killings)
    assert {"open-repository", "deliver"} <= {key.split("/")[1].split(":")[-1] for key, _, _ in killings}
    assert [*(tmp_path / "data").rglob("*")] in ([], [tmp_path / "data" / "repositories"])  # no clone, no worktree
    assert len(git(repo, "worktree", "list").splitlines()) == 1
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "fsck", "--no-dangling") == ""
    branches = git(repo, "for-each-ref", "--format=%(objectname)", "refs/heads/debate").split()
    assert len(branches) == 2
    assert len(set(branches)) == 1  # the same commit
    assert not [*repo.rglob("*.lock")]
