"""Notifications reach other processes at once: all polling intervals here are a minute or more."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.core.types import Debate
from moot.store import RemoteText
from tests.workers.crew import SELDOM, Crew, Process, agree, jobs, new, on, status, turns, words

pytestmark = pytest.mark.slow

TRIES = 20
COMMANDS = int(os.environ.get("MOOT_REACH_TRIES", "2"))
# With notifications a driver polls as often as the lease says, without them as often as the pulse says.
ONLY_TOLD = {"MOOT_PULSE_SECONDS": "60", "MOOT_LEASE_SECONDS": "3600", "MOOT_WORKER_SWEEP_SECONDS": str(SELDOM)}
HERE = {"pulse_seconds": 60, "lease_seconds": 3600}


async def when(condition: Callable[[], Awaitable[object]], seconds: float = 30) -> float:
    """The time until it is so."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.002)
    return time.monotonic() - began


def measured(
    url: str,
    folder: Path,
    what: str,
    model: str,
    format: str,
    one: Callable[[App, Debate], Awaitable[float]],
    **settings: Any,
) -> None:
    """A worker in another process drives debates; how long until it does what is said here."""

    async def main() -> list[float]:
        async with on(url, folder, **HERE) as app:
            took: list[float] = []
            for _ in range(TRIES):
                debate = await new(app, model, format, **settings)
                await app.hand_over(debate)
                took.append(await one(app, debate))
            return took

    with Crew(url, folder, **ONLY_TOLD) as crew:
        crew.worker().ready()
        took = asyncio.run(main())
        print(
            f"\n{what}: {statistics.median(took) * 1000:.0f} ms (median), {max(took) * 1000:.0f} ms at most of {TRIES}"
        )
        assert len(took) == TRIES


def test_stop(database_url, tmp_path):
    async def one(app: App, debate: Debate) -> float:
        await turns(app, debate.id, 2)
        await app.runtime.stop(debate.id)

        async def stopped() -> bool:
            return (await app.runtime.store.get(debate.id)).status == "stopped"

        return await when(stopped)

    measured(database_url, tmp_path, "stop, with steps of 50 ms", "sim:?latency_ms=50", "classic", one, max_rounds=500)


def test_cancel(database_url, tmp_path):
    """In the middle of a call: the worker lets go of the debate, and ends its job."""

    async def one(app: App, debate: Debate) -> float:
        async def begun() -> bool:
            return bool((await app.runtime.store.get(debate.id)).cursor.open)

        async def let_go() -> bool:
            return not await jobs(app)

        await when(begun)
        await app.runtime.cancel(debate.id)
        return await when(let_go)

    measured(database_url, tmp_path, "cancel, in a call", "sim:?latency_ms=100000", "classic", one)


def test_an_answer(database_url, tmp_path):
    async def one(app: App, debate: Debate) -> float:
        await status(app, debate.id, "waiting")
        before = (await app.runtime.store.get(debate.id)).epoch
        await agree(app, await app.runtime.open_gate(debate.id))

        async def driven() -> bool:
            return (await app.runtime.store.get(debate.id)).epoch > before

        return await when(driven)

    measured(database_url, tmp_path, "answer", "sim:", "panel", one, max_rounds=1)


def test_guidance(database_url, tmp_path):
    """In the middle of a call: it is a turn while the call goes on."""

    async def one(app: App, debate: Debate) -> float:
        async def begun() -> bool:
            return bool((await app.runtime.store.get(debate.id)).cursor.open)

        async def heard() -> bool:
            return any(turn.kind == "guidance" for turn in await app.runtime.store.turns(debate.id))

        await when(begun)
        await app.runtime.guide(debate.id, "Mind the cost.", by="ann")
        took = await when(heard)
        await app.runtime.cancel(debate.id)
        return took

    measured(database_url, tmp_path, "guidance, in a call", "sim:?latency_ms=100000", "classic", one)


class TestCommands:
    """The same by the real commands, each a process of its own beside the worker's."""

    @pytest.fixture
    def crew(self, database_url, tmp_path):
        with Crew(database_url, tmp_path, **ONLY_TOLD) as crew:
            crew.worker().ready()
            yield crew

    def say(self, crew: Crew, format: str, model: str, one: Callable[[App, Debate], Awaitable[float]], **settings: Any):
        """Prints how long it takes from what the command has written to what the worker does."""

        async def main() -> list[float]:
            async with on(crew.url, crew.folder, **HERE) as app:
                took: list[float] = []
                for _ in range(COMMANDS):
                    debate = await new(app, model, format, **settings)
                    await app.hand_over(debate)
                    took.append(await one(app, debate))
                return took

        took = asyncio.run(main())
        print(f"\n{statistics.median(took) * 1000:.0f} ms (median), {max(took) * 1000:.0f} ms at most of {len(took)}")
        return took

    async def run(self, crew: Crew, *args: str) -> str:
        done = await asyncio.to_thread(crew.run, *args)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def test_stop(self, crew: Crew):
        async def one(app: App, debate: Debate) -> float:
            await turns(app, debate.id, 2)
            told = asyncio.create_task(self.run(crew, "stop", debate.id[:8]))
            await when(lambda: is_one_of(app, debate, "stopping", "stopped"))
            took = await when(lambda: is_one_of(app, debate, "stopped"))
            await told
            left = await app.runtime.store.get(debate.id)
            assert (left.status, left.owner) == ("stopped", None)
            return took

        assert len(self.say(crew, "classic", "sim:?latency_ms=50", one, max_rounds=500)) == COMMANDS

    def test_cancel(self, crew: Crew):
        async def one(app: App, debate: Debate) -> float:
            async def begun() -> bool:
                return bool((await app.runtime.store.get(debate.id)).cursor.open)

            async def let_go() -> bool:
                return not await jobs(app)

            await when(begun)
            told = asyncio.create_task(self.run(crew, "cancel", debate.id[:8]))
            await when(lambda: is_one_of(app, debate, "canceled"))
            took = await when(let_go)
            await told
            assert (await app.runtime.store.get(debate.id)).turn_count == 0
            return took

        assert len(self.say(crew, "classic", "sim:?latency_ms=100000", one)) == COMMANDS

    def test_answer(self, crew: Crew):
        async def one(app: App, debate: Debate) -> float:
            waits = await status(app, debate.id, "waiting")
            gate = await app.runtime.open_gate(debate.id)

            async def decided() -> bool:
                return any(g.status == "decided" for g in await app.runtime.store.gates(debate.id) if g.key == gate.key)

            async def driven() -> bool:
                return (await app.runtime.store.get(debate.id)).epoch > waits.epoch

            said = gate.choices[0] if gate.choices else "Whatever is usual."
            told = asyncio.create_task(self.run(crew, "answer", debate.id[:8], said, "--no-run"))
            await when(decided)
            took = await when(driven)
            assert f"Answered {gate.key}." in await told
            assert (await turns(app, debate.id, waits.turn_count + 1)).epoch > waits.epoch
            return took

        assert len(self.say(crew, "panel", "sim:", one, max_rounds=1)) == COMMANDS


async def is_one_of(app: App, debate: Debate, *statuses: str) -> bool:
    return (await app.runtime.store.get(debate.id)).status in statuses


class Watcher:
    """Sees a debate from another process than the one that drives it."""

    def __init__(self) -> None:
        self.heard: dict[str, list[str]] = {}  # by step, what was in flight, as it grew
        self.seen: list[int] = []  # events
        self.keys: set[str] = set()  # whose events were seen

    async def watch(self, app: App, debate_id: str) -> Debate:
        async with aclosing(app.runtime.watch(debate_id)) as updates:
            async for update in updates:
                self.seen += [event.seq for event in update.events]
                for key, flight in update.flights.items():
                    texts = self.heard.setdefault(key, [])
                    if flight.text and (not texts or texts[-1] != flight.text):
                        texts.append(flight.text)
                if update.debate is not None:
                    return update.debate
        raise AssertionError


async def heard_it_all(app: App, watcher: Watcher, left: Debate) -> None:
    assert left.status == "completed"
    assert watcher.seen == list(range(1, left.last_seq + 1))  # every event, once, in order
    written = {turn.key: turn.written for turn in await app.runtime.store.turns(left.id)}
    assert watcher.heard.keys() <= written.keys()
    for key, texts in watcher.heard.items():
        assert all(written[key].startswith(text) for text in texts), key
    grew = [key for key, texts in watcher.heard.items() if len(texts) > 2]
    assert len(grew) > len(written) / 2, {key: len(texts) for key, texts in watcher.heard.items()}
    assert app.runtime.hub.flights(left.id) == {}
    await words(app, left.id)


def test_a_watcher_sees_text_in_flight_in_another_process(database_url, tmp_path):
    async def main() -> None:
        async with on(database_url, tmp_path, **HERE) as app:
            debate = await new(app, "sim:?tps=150&tokens=100", "duel", turns=2)
            await app.hand_over(debate)
            watchers = [Watcher() for _ in range(3)]
            async with asyncio.timeout(60):
                left = await asyncio.gather(*(watcher.watch(app, debate.id) for watcher in watchers))
            for watcher, debate in zip(watchers, left, strict=True):
                await heard_it_all(app, watcher, debate)

    with Crew(database_url, tmp_path, **ONLY_TOLD) as crew:
        crew.worker().ready()
        asyncio.run(main())


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "told to end"])
def test_and_goes_on_seeing_it_when_someone_else_drives(database_url, tmp_path, end):
    async def main(crew: Crew, first: Process) -> None:
        async with on(database_url, tmp_path, **HERE) as app:
            debate = await new(app, "sim:?tps=60&tokens=100", "classic", max_rounds=2)
            await app.hand_over(debate)
            watcher = Watcher()
            watching = asyncio.create_task(watcher.watch(app, debate.id))
            async with asyncio.timeout(30):
                while not any(len(texts) > 3 for texts in watcher.heard.values()):
                    await asyncio.sleep(0.01)
            crew.worker().ready()
            first.send(end)
            async with asyncio.timeout(90):
                left = await watching
            assert left.epoch == 2
            await heard_it_all(app, watcher, left)

    # Silence is noticed by the queue, which looks for it; the lease of a process of this machine that is gone is void.
    with Crew(database_url, tmp_path, **ONLY_TOLD) as crew:
        asyncio.run(main(crew, crew.worker().ready()))


def test_text_that_comes_when_no_one_watches_is_not_kept(database_url, tmp_path):
    async def main() -> None:
        async with on(database_url, tmp_path) as app:
            debate = await new(app)
            about = {"seat": "a", "round": 1, "phase": "say", "shows": "TURN"}
            late = RemoteText(debate_id=debate.id, key="1/say/a", offset=0, text="too late", about=about)
            listener = app.runtime.hub.listen(debate.id)
            app.runtime.peers._receive(late)
            assert app.runtime.hub.flights(debate.id).keys() == {"1/say/a"}
            app.runtime.hub.leave(debate.id, listener)
            app.runtime.peers.unfollow(debate.id)
            app.runtime.peers._receive(late)
            assert app.runtime.hub.flights(debate.id) == {}

    asyncio.run(main())


def test_what_a_dead_driver_said_is_forgotten_when_another_takes_over(database_url, tmp_path):
    """It died between the commit and saying that its step is over."""

    async def main() -> None:
        async with on(database_url, tmp_path, "watcher") as app, on(database_url, tmp_path, "driver") as driver:
            debate = await new(app)
            await driver.runtime.store.claim(debate.id, "driver", 60, expect=("pending",))
            driver.runtime.peers.listen()
            watcher = Watcher()
            watching = asyncio.create_task(watcher.watch(app, debate.id))

            async def heard() -> bool:
                about = {"seat": "a", "round": 1, "phase": "say", "shows": "TURN"}
                driver.runtime.store.publish_text(debate.id, "1/say/a", 0, "I was about to", about)
                return app.runtime.hub.flights(debate.id)

            async def forgotten() -> bool:
                return not app.runtime.hub.flights(debate.id)

            await when(heard)
            await driver.runtime.store.claim(debate.id, "another", 60, expect=("running",), dead="driver")
            await when(forgotten)
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    asyncio.run(main())
