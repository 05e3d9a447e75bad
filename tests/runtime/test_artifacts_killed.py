"""SIGKILL at every step of a debate that produces artifacts: none is lost, none is stored twice."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from moot.core.artifacts import Episode, Lesson, Version
from moot.runtime.replay import prove
from tests.runtime.kept import Held
from tests.runtime.small import a_runtime, created
from tests.runtime.workshop import ATTEMPTS, WORKSHOP

pytestmark = pytest.mark.slow

KEYS = [f"{round}/code/{seat}" for round in range(1, ATTEMPTS + 1) for seat in "ab"]


def started(folder: Path, debate_id: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.runtime.kept", str(folder), debate_id]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2])


def release(folder: Path, keys: list[str]) -> None:
    for key in keys:
        (folder / f"go-{key.replace('/', '-')}").touch()


def wait_for(folder: Path, keys: list[str], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not all((folder / f"asked-{key.replace('/', '-')}").exists() for key in keys):
        assert process.poll() is None, "it ended by itself"
        assert time.monotonic() < deadline, "it never asked"
        time.sleep(0.001)


@pytest.mark.parametrize("done", range(len(KEYS)))
def test_killed_at_any_step_and_resumed_everything_is_there_once(tmp_path, done):
    async def make() -> str:
        async with a_runtime(tmp_path, WORKSHOP, models=Held(tmp_path)) as runtime:
            return (await created(runtime, WORKSHOP)).id

    debate_id = asyncio.run(make())
    release(tmp_path, KEYS[:done])
    process = started(tmp_path, debate_id)
    wait_for(tmp_path, KEYS[: min(done + 2, len(KEYS))], process)  # both seats are asked at the same time
    process.kill()
    process.wait()
    release(tmp_path, KEYS)
    assert started(tmp_path, debate_id).wait(60) == 0

    async def look() -> None:
        async with a_runtime(tmp_path, WORKSHOP, models=Held(tmp_path)) as runtime:
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

    asyncio.run(look())
