"""Real processes, killed with SIGKILL: no turn is lost or doubled, and no finished step is paid for twice."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from tests.forking import Started, start_moot
from tests.running import an_app, answers_file, new_debate
from tests.runtime.calls import environ, words

pytestmark = pytest.mark.slow

SPEC = {
    "format": "duel",
    "topic": "Redis or PostgreSQL?",
    "premise": "PostgreSQL is cache enough.",
    "turns": 6,
    "debaters": [{"name": "Ada", "position": "For."}, {"name": "Basil", "position": "Against."}],
    "judge": {"name": "Cleo"},
}


class Place:
    """A folder with a database, a scripted model that logs its calls, and processes that run moot there."""

    def __init__(self, folder: Path, delay_ms: int = 12, hold: str | None = None, **more: str) -> None:
        self.folder, self.log, self.hold = folder, folder / "calls.log", hold
        self.model = answers_file(folder, log=str(self.log), delay_ms=delay_ms, **({"hold": hold} if hold else {}))
        (folder / "duel.yaml").write_text(yaml.safe_dump(SPEC))
        self.environ = environ(folder / "moot.db", **more)

    def start(self, *args: str) -> Started:
        return start_moot(args, self.environ)

    def debate(self) -> Started:
        return self.start("debate", "--file", str(self.folder / "duel.yaml"), "--model", self.model, "--plain")

    def lines(self) -> list[str]:
        """The complete lines of the log."""
        return self.log.read_text().split("\n")[:-1] if self.log.exists() else []

    def calls(self) -> list[str]:
        return [line.split("\t")[0] for line in self.lines() if not line.startswith("done ")]

    def release(self, keys: Sequence[str]) -> None:
        """Let the answers of these steps come."""
        assert self.hold is not None
        for key in keys:
            file = self.folder / self.hold.replace("{key}", key)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def state(self):
        """Its only debate, with turns and transcript."""

        async def read():
            async with an_app(self.folder) as app:
                (debate,) = (await app.runtime.store.page()).debates
                return debate, await app.runtime.store.turns(debate.id), await words(app.runtime.store, debate)

        return asyncio.run(read())


def wait_until(condition, process: Started | None = None, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        ended = process is not None and process.poll() is not None
        if condition():
            return
        assert not ended, process.communicate()[0] if process else ""
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.001)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[bytes, list[str]]:
    """The transcript, and the keys of the steps in the order in which they were asked."""
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    process = place.debate()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    debate, turns, told = place.state()
    assert (debate.status, len(turns)) == ("completed", 30)
    assert Counter(place.calls()) == dict.fromkeys((turn.key for turn in turns), 1)
    return told, place.calls()


@pytest.mark.parametrize(
    ("moment", "step"),
    [
        *(("while it runs", step) for step in range(1, 31)),
        *(
            pytest.param("when it has answered", step, marks=() if step % 3 == 0 else pytest.mark.soak)
            for step in range(1, 31)
        ),
    ],
)
def test_killed_at_any_step_and_resumed_it_is_as_if_never_killed(tmp_path, undisturbed, step, moment):
    expected, keys = undisturbed
    place = Place(tmp_path, delay_ms=0, hold="go/{key}")
    process = place.debate()
    if moment == "while it runs":
        place.release(keys[: step - 1])
        wait_until(lambda: len(place.calls()) >= step, process)
    else:
        place.release(keys[:step])  # the rest is held: however late the signal is, the debate goes no further
        wait_until(lambda: sum(line.startswith("done ") for line in place.lines()) >= step, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    place.release(keys)

    killed, finished, _ = place.state()
    may_have_ended = (step, moment) == (30, "when it has answered")
    assert killed.status == "running" or (killed.status == "completed" and may_have_ended)
    paid_before = len(place.calls())
    if killed.status == "running":
        resumed = place.start("resume", killed.short, "--plain")
        out, _ = resumed.communicate(timeout=60)
        assert resumed.returncode == 0, out

    debate, turns, told = place.state()
    assert debate.status == "completed"
    assert told == expected
    assert max(Counter(turn.key for turn in turns).values()) == 1
    paid_again = set(place.calls()[paid_before:])
    assert not paid_again & {turn.key for turn in finished}
    assert all(count <= 2 for count in Counter(place.calls()).values())


@pytest.mark.parametrize("attempt", range(4))
def test_two_processes_told_to_drive_the_same_debate(tmp_path, attempt):
    place = Place(tmp_path)

    async def create():
        async with an_app(tmp_path) as app:
            return (await new_debate(app, place.model)).id

    debate_id = asyncio.run(create())
    processes = [place.start("resume", debate_id, "--plain") for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 2], outputs
    assert "it can't" in outputs[codes.index(2)]
    debate, turns, _ = place.state()
    assert debate.status == "completed"
    assert Counter(place.calls()) == dict.fromkeys((turn.key for turn in turns), 1)


def test_a_process_that_sleeps_past_its_lease_cannot_commit_when_it_wakes(tmp_path, undisturbed):
    place = Place(tmp_path, delay_ms=40, MOOT_LEASE_SECONDS="1")
    sleeper = place.debate()
    wait_until(lambda: len(place.calls()) >= 5, sleeper)
    sleeper.send_signal(signal.SIGSTOP)
    debate_id = place.state()[0].id
    try:
        deadline = time.monotonic() + 30
        while True:
            successor = place.start("resume", debate_id, "--plain")
            out, _ = successor.communicate(timeout=60)
            if successor.returncode == 0:
                break
            assert successor.returncode == 2, out
            assert time.monotonic() < deadline, out
    finally:
        sleeper.send_signal(signal.SIGCONT)
    out, _ = sleeper.communicate(timeout=60)
    debate, turns, told = place.state()
    assert debate.status == "completed"
    assert told == undisturbed[0]
    assert max(Counter(turn.key for turn in turns).values()) == 1
