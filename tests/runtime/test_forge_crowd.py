"""100 forges at once on two slots of the sandbox, with agents that fail: all end, and nothing of them is left, nor of
those after them."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from moot.app import App
from moot.client import documents
from moot.core.script import Script
from moot.core.types import Debate
from moot.runtime.drive import Drive
from moot.tools.sandbox import PROCESS
from moot.tools.sandbox.slots import Slots
from moot.tools.sandbox.supervisor import tree
from perf.memory import resident_bytes
from tests.running import an_app
from tests.runtime.test_forge import new_forge

pytestmark = pytest.mark.slow

FORGES = 100
MORE = 60  # after them, in the same process
KEPT_BYTES = 32 * 1024  # of each of these, at most: the turns of one alone are 45 KiB
# One round each: what is looked at is how many there are, not how long each is.
SHORT = {"preset": "quick", "attempts": 0, "adversarial": False, "convergence": False, "hooks": []}
AGENTS = "sim:?seed={seed}&skill=.7&cases=.9&fail=.35&garbage=.2"


def alive() -> Counter[str]:
    """The drives and scripts of this process. Tests before this one may have left some."""
    gc.collect()
    return Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, Drive | Script))


def descriptors() -> Counter[str]:
    """Those of this process, by what they are open on. Sockets and pipes are counted together."""
    found = Counter[str]()
    for each in Path("/proc/self/fd").iterdir():
        try:
            found[os.readlink(each).split(":")[0]] += 1
        except FileNotFoundError:  # the one that reads this folder
            continue
    return found


def test_all_end_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(PROCESS, "slots", Slots(2))
    assert PROCESS.probed().problem is None
    running, before, known = len(tree(os.getpid())[3]), descriptors(), alive()

    async def crowd(app: App, seeds: range) -> list[Debate]:
        made = [await new_forge(app, AGENTS.format(seed=n), **SHORT) for n in seeds]
        await asyncio.gather(*(app.runtime.start(debate.id) for debate in made))
        ended = await asyncio.gather(*(app.runtime.wait(debate.id) for debate in made))
        assert all([(await documents.prove(app, debate.id)).same for debate in ended])
        return ended

    async def scenario() -> tuple[list[Debate], int]:
        async with an_app(tmp_path, backoff_tries=0, concurrency=1000) as app:
            app.runtime.pulse_seconds = 1
            ended = await crowd(app, range(FORGES))
            used = resident_bytes()
            await crowd(app, range(MORE))
            return ended, resident_bytes() - used

    ended, grown = asyncio.run(scenario())
    assert grown < MORE * KEPT_BYTES
    by_status = Counter(debate.status for debate in ended)
    assert by_status.keys() == {"completed", "failed"}  # failed: no engineer could be had, and it can be retried
    assert by_status["completed"] > by_status["failed"]
    assert all(debate.error is not None for debate in ended if debate.status == "failed")
    assert any(debate.outcome is not None and debate.outcome.answer is not None for debate in ended)
    assert not [*scratch.iterdir()]
    assert len(tree(os.getpid())[3]) == running
    assert descriptors() <= before
    assert alive() <= known
