"""A debate that kills every process that drives it is set aside; the debates beside it complete."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.app import App
from moot.core.types import Debate
from tests.forking import INSTALL
from tests.running import an_app
from tests.workers.crew import Crew, Process, new, on, rows, status, undisturbed, words
from tests.workers.poison import ANTIDOTE, POISON, STUCK

pytestmark = pytest.mark.slow

LIMIT = 3
SETTINGS = {"MOOT_CRASH_LIMIT": str(LIMIT), "MOOT_LEASE_SECONDS": "60", "MOOT_WORKER_SWEEP_SECONDS": "0.2"}


def poisoned(url: str, folder: Path) -> Crew:
    (folder / "config").mkdir()
    return Crew(
        url,
        folder,
        **SETTINGS,
        **{INSTALL: "tests.workers.poison", ANTIDOTE: str(folder / "antidote"), "XDG_CONFIG_HOME": str(folder)},
    )


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
    assert f"{LIMIT} times in a row" in failed.error.message
    assert "try its open steps again" in failed.error.message
    await deaths(ends, died)


async def deaths(ends: list[int], count: int) -> None:
    """So many processes have died, all of the poison. The supervisor may learn of the last a little later."""
    async with asyncio.timeout(60):
        while len(ends) < count:
            await asyncio.sleep(0.01)
    assert ends == [-signal.SIGKILL] * count


async def as_if_nothing_had_happened(app: App, folder: Path, made: list[Debate]) -> None:
    for debate in made:
        await status(app, debate.id, "completed")
    assert [await words(app, debate.id) for debate in made] == await undisturbed(folder, made)


@pytest.mark.parametrize("processes", [1, 2])
def test_workers(database_url: str, tmp_path: Path, processes: int):
    async def main(crew: Crew) -> None:
        async with on(crew.url, tmp_path) as app:
            poison = await new(app, POISON)
            made = await innocents(app, 12)
            for debate in (poison, *made):
                await app.hand_over(debate)
            async with supervised(crew, "worker", processes=processes) as ends:
                await set_aside(app, poison, ends, 1)  # the later ones were processes beside the worker
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
                await deaths(ends, 2)
                (tmp_path / "antidote").touch()
                await app.hand_over(again)
                await status(app, poison.id, "completed")
                assert len(ends) == 2
                assert crew.run("status").returncode == 0

    with poisoned(database_url, tmp_path) as crew:
        asyncio.run(main(crew))


def test_a_server_that_is_started_again(tmp_path: Path):
    async def main(crew: Crew) -> None:
        async with an_app(tmp_path, database_url=crew.url, embedder="none") as app:
            made = await innocents(app, 4)
            poison = await new(app, POISON)
            for debate in (*made, poison):
                await app.runtime.store.claim(debate.id, "elsewhere", 0, expect=["pending"])
                await app.runtime.store.move(debate.id, "running", expect=["running"])
            async with supervised(crew, "serve", "--port", "0") as ends:
                await set_aside(app, poison, ends, 1)  # the later ones were processes beside the server
                await as_if_nothing_had_happened(app, tmp_path, made)
            assert len(ends) == 1
            told = crew.run("status", "--json")
            assert told.returncode == 1
            assert f'"debate_id": "{poison.id}"' in told.stdout
            # Its last process ended politely, and the debate is tried again by hand.
            (tmp_path / "antidote").touch()
            assert crew.run("retry", poison.id[:8], "--plain").returncode == 0
            assert crew.run("status").returncode == 0

    with poisoned(str(tmp_path / "moot.db"), tmp_path) as crew:
        asyncio.run(main(crew))


def test_nothing_is_set_aside_that_makes_progress(database_url: str, tmp_path: Path):
    """A worker is killed over and over, but each time after a step."""

    async def main(crew: Crew) -> None:
        async with on(crew.url, tmp_path) as app:
            debate = await new(app, "sim:?seed=1&latency_ms=100", "duel", turns=4)
            await app.hand_over(debate)
            for n in range(1, 2 * LIMIT):
                worker = crew.worker()
                async with asyncio.timeout(60):
                    while (now := await app.runtime.store.get(debate.id)).turn_count < n:
                        await asyncio.sleep(0.01)
                assert now.status == "running"
                worker.kill()
            crew.worker()
            await status(app, debate.id, "completed")

    with poisoned(database_url, tmp_path) as crew:
        asyncio.run(main(crew))


async def driven_apart(app: App, debate: Debate, worker: Process) -> int:
    """The process that drives a debate for a worker."""
    async with asyncio.timeout(60):
        while (owner := (await app.runtime.store.get(debate.id)).owner) is None:
            await asyncio.sleep(0.01)
    pid = int(owner.split("/")[1])
    assert pid != worker.pid
    return pid


def test_a_process_that_stands_still_is_ended_and_its_debate_set_aside(database_url: str, tmp_path: Path):
    async def main(crew: Crew) -> None:
        async with on(crew.url, tmp_path) as app:
            debate = await new(app, STUCK)
            await app.hand_over(debate)
            await rows(app, "update debate_sessions set crashes = 1 where id = $1", debate.id)
            worker = crew.worker()
            await set_aside(app, debate, [], 0)
            assert worker.popen.poll() is None

    with poisoned(database_url, tmp_path) as crew:
        crew.environ["MOOT_LEASE_SECONDS"] = "1"
        asyncio.run(main(crew))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_for_a_debate_under_suspicion_ends_with_its_worker(
    database_url: str, tmp_path: Path, how: signal.Signals
):
    async def main(crew: Crew) -> None:
        async with on(crew.url, tmp_path) as app:
            debate = await new(app, "sim:?seed=1&latency_ms=1000", "classic", max_rounds=1)
            await app.hand_over(debate)
            await rows(app, "update debate_sessions set crashes = 1 where id = $1", debate.id)
            worker = crew.worker()
            apart = await driven_apart(app, debate, worker)
            worker.send(how)
            assert worker.ended() == (-how if how == signal.SIGKILL else 0)
            async with asyncio.timeout(60):
                while Path(f"/proc/{apart}").exists():
                    await asyncio.sleep(0.01)
            left = await app.runtime.store.get(debate.id)
            assert (left.status, left.owner) == ("running", None)
            assert left.crashes == (0 if left.turn_count else 1)  # handed back: that is no death
            crew.worker()
            await as_if_nothing_had_happened(app, tmp_path, [debate])

    with poisoned(database_url, tmp_path) as crew:
        asyncio.run(main(crew))
