"""SIGKILL at every step of a debate that produces artifacts: none is lost, none is stored twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moot.core.artifacts import Episode, Lesson, Version
from moot.runtime.replay import prove
from tests.running import Held, until
from tests.runtime.small import a_runtime, created
from tests.runtime.workshop import ATTEMPTS, WORKSHOP

pytestmark = pytest.mark.slow

KEYS = [f"{round}/code/{seat}" for round in range(1, ATTEMPTS + 1) for seat in "ab"]


def started(folder: Path, debate_id: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.runtime.kept", str(folder), debate_id]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2])


@pytest.mark.parametrize("done", range(len(KEYS)))
async def test_killed_at_any_step_and_resumed_everything_is_there_once(tmp_path, done):
    held = Held(tmp_path, each=True)
    async with a_runtime(tmp_path, WORKSHOP) as runtime:
        debate_id = (await created(runtime, WORKSHOP, held.model)).id
    for key in KEYS[:done]:
        held.release(key)
    process = started(tmp_path, debate_id)
    await until(lambda: {*KEYS[: done + 2]} <= {*held.calls})  # both seats are asked at the same time
    process.kill()
    process.wait()
    held.release(*KEYS)
    assert started(tmp_path, debate_id).wait(60) == 0
    async with a_runtime(tmp_path, WORKSHOP) as runtime:
        store = runtime.store
        debate, turns, events = [await read(debate_id) for read in (store.get, store.turns, store.events)]
        found = list(await store.artifacts(debate_id))
    assert debate.artifact_count == len(found)
    versions = [each for each in found if isinstance(each, Version)]
    written = {(each.author, each.turn_key) for each in versions}
    assert written == {("user", ""), *((key[-1], key) for key in KEYS)}
    assert [each.number for each in versions] == list(range(1, len(KEYS) + 2))
    assert len([each for each in found if isinstance(each, Episode)]) == len(KEYS)
    assert [each.confirmed for each in found if isinstance(each, Lesson)] == [True, True]
    assert prove(WORKSHOP, debate, turns, events, found).same
