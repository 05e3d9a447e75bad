"""A debate that kills every process that drives it is set aside; the debates beside it complete."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from moot.app import App
from moot.core.types import Debate
from tests.forking import constants
from tests.running import an_app, until
from tests.workers.crew import Crew, Process, new, queued, reached, rows, status, turns, undisturbed, words
from tests.workers.poison import MUTE_SEEDS, POISON, STUCK, poisoned

pytestmark = pytest.mark.slow

SWEEPS = "moot.runtime.worker.SWEEPS"


def a_crew(url: str, folder: Path) -> Crew:
    (folder / "config").mkdir()
    settings = {"MOOT_LEASE_SECONDS": "60", "XDG_CONFIG_HOME": str(folder), **constants({SWEEPS: 300})}
    return Crew(url, folder, **settings, **poisoned(folder))


@pytest.fixture
def crew(database_url: str, tmp_path: Path) -> Iterator[Crew]:
    with a_crew(database_url, tmp_path) as crew:
        yield crew


@asynccontextmanager
async def supervised(crew: Crew, *command: str, processes: int = 1) -> AsyncIterator[list[int]]:
    """Processes that are started anew when they die, as a service manager would. Yields how the dead ones ended."""
    ends: list[int] = []
    alive: list[Process] = []

    async def supervise() -> None:
        while True:
            for process in [each for each in alive if each.popen.poll() is not None]:
                ends.append(process.popen.poll() or 0)
                alive.remove(process)
            alive.extend(crew.start(*command) for _ in range(processes - len(alive)))
            await asyncio.sleep(0.02)

    supervisor = asyncio.create_task(supervise())
    try:
        yield ends
    finally:
        supervisor.cancel()
        for process in alive:
            process.send(signal.SIGTERM)
        for process in alive:
            await asyncio.to_thread(process.ended)


async def innocents(app: App, count: int) -> list[Debate]:
    """Their steps take longer than the poison needs to kill: beside it, none would ever store one."""
    return [await new(app, f"sim:?seed={n}&latency_ms=300", "classic", max_rounds=1) for n in range(count)]


async def set_aside(app: App, debate: Debate, ends: list[int], died: int) -> None:
    """`died`: how many of the supervised processes have."""
    failed = await status(app, debate.id, "failed")
    assert failed.error is not None
    assert failed.error.kind == "crashed"
    assert f"{failed.crashes} times in a row" in failed.error.message
    assert "try its open steps again" in failed.error.message
    await deaths(ends, died)


async def deaths(ends: list[int], count: int) -> None:
    """So many processes have died, all of the poison. The supervisor may learn of the last a little later."""
    with suppress(TimeoutError):  # what there is instead is shown
        await until(lambda: len(ends) >= count)
    assert ends == [-signal.SIGKILL] * count


async def as_if_nothing_had_happened(app: App, folder: Path, made: list[Debate]) -> None:
    for debate in made:
        await status(app, debate.id, "completed")
    assert [await words(app, debate.id) for debate in made] == await undisturbed(folder, made)


async def test_workers(app: App, crew: Crew, tmp_path: Path):
    poison = await new(app, POISON)
    made = await innocents(app, 6)
    for debate in (poison, *made):
        await app.hand_over(debate)
    async with supervised(crew, "worker", processes=2) as ends:
        await set_aside(app, poison, ends, 2)  # the later ones were children of the worker
        await as_if_nothing_had_happened(app, tmp_path, made)
        told = crew.run("status")
        assert told.returncode == 1
        assert f"Debate {poison.id[:8]} was set aside" in told.stdout
        assert f"moot retry {poison.id[:8]}" in told.stdout
        # Tried again by hand, the count starts anew.
        await app.hand_over(await app.runtime.store.get(poison.id))
        again = await status(app, poison.id, "failed")
        assert again.error is not None
        assert again.error.kind == "crashed"
        await deaths(ends, 4)
        (tmp_path / "antidote").touch()
        await app.hand_over(again)
        await status(app, poison.id, "completed")
        assert len(ends) == 4
        assert crew.run("status").returncode == 0


async def test_a_server_that_is_started_again(tmp_path: Path):
    with a_crew(str(tmp_path / "moot.db"), tmp_path) as crew:
        async with an_app(tmp_path) as app:
            made = await innocents(app, 4)
            poison = await new(app, POISON)
            await left_running(app, *made, poison)
            async with supervised(crew, "serve", "--port", "0") as ends:
                await set_aside(app, poison, ends, 2)  # the later ones were children of the server
                await as_if_nothing_had_happened(app, tmp_path, made)
            assert len(ends) == 2
            told = crew.run("status", "--json")
            assert told.returncode == 1
            assert f'"debate_id": "{poison.id}"' in told.stdout
            # Its last process ended politely, and the debate is tried again by hand.
            (tmp_path / "antidote").touch()
            assert crew.run("retry", poison.id[:8], "--plain").returncode == 0
            assert crew.run("status").returncode == 0


async def left_running(app: App, *debates: Debate) -> None:
    """As if a server had handed them back."""
    for debate in debates:
        await app.runtime.store.claim(debate.id, "elsewhere", 0, expect=["pending"])
        await app.runtime.store.move(debate.id, "running", expect=["running"])


async def test_thirty_debates_go_on_after_five_kills_of_their_server(tmp_path: Path):
    """They have stored nothing by then."""
    with a_crew(str(tmp_path / "moot.db"), tmp_path) as crew:
        async with an_app(tmp_path) as app:
            made = [await new(app, f"sim:?seed={seed}", "classic", max_rounds=1) for seed in MUTE_SEEDS[:30]]
            await left_running(app, *made)
            for kills in range(5):
                server = crew.start("serve", "--port", "0")
                for debate in made:
                    await reached(app, debate.id, lambda now, epoch=2 + kills: now.epoch >= epoch)
                server.kill()
            for debate in made:  # handed back by the child of a server that is gone
                assert (await reached(app, debate.id, lambda now: now.owner is None)).turn_count == 0
            (tmp_path / "antidote").touch()
            crew.start("serve", "--port", "0")
            for debate in made:
                done = await status(app, debate.id, "completed")
                assert done.epoch == 1 + 5 + 2  # a child stored its first step, and the server the others


async def test_nothing_is_set_aside_that_makes_progress(app: App, crew: Crew):
    """A worker is killed over and over, but each time after a step."""
    debate = await queued(app, "sim:?seed=1&latency_ms=100", "duel", turns=4)
    for n in range(1, 6):
        worker = crew.worker()
        assert (await turns(app, debate.id, n)).status == "running"
        worker.kill()
    crew.worker()
    await status(app, debate.id, "completed")


async def test_a_process_that_stands_still_is_ended_and_its_debate_set_aside(app: App, crew: Crew):
    crew.environ |= {"MOOT_LEASE_SECONDS": "1", **constants({SWEEPS: 5})}
    debate = await queued(app, STUCK)
    await rows(app, "update debate_sessions set crashes = 2 where id = $1", debate.id)
    worker = crew.worker()
    await set_aside(app, debate, [], 0)
    assert worker.popen.poll() is None


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_a_process_for_a_debate_under_suspicion_ends_with_its_worker(
    app: App, crew: Crew, tmp_path: Path, how: signal.Signals
):
    debate = await queued(app, "sim:?seed=1&latency_ms=1000", "classic", max_rounds=1)
    await rows(app, "update debate_sessions set crashes = 2 where id = $1", debate.id)
    worker = crew.worker()
    owner = (await reached(app, debate.id, lambda now: now.owner)).owner
    assert owner is not None
    child = int(owner.split("/")[1])
    assert child != worker.pid
    worker.send(how)
    assert worker.ended() == (-how if how == signal.SIGKILL else 0)
    await until(lambda: not Path(f"/proc/{child}").exists())
    left = await app.runtime.store.get(debate.id)
    assert (left.status, left.owner) == ("running", None)
    assert left.crashes == (0 if left.turn_count else 2)  # handed back: that is no death
    crew.worker()
    await as_if_nothing_had_happened(app, tmp_path, [debate])
