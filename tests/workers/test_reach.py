"""Notifications reach other processes at once: all polling intervals here are a minute or more."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from moot.app import App
from moot.core.types import Debate
from moot.store import RemoteText
from tests.coroutines import Opened
from tests.running import until
from tests.web.talking import FIRST, Talk
from tests.workers.crew import ENDLESS, Crew, jobs, new, on, queued, status, turns, wait_until, when, words

pytestmark = pytest.mark.slow

# How often a driver polls and a worker sweeps follows from the lease: never while a test waits.
ONLY_TOLD = 3600


@pytest.fixture
def app(opened: Opened, database_url: str, tmp_path: Path) -> App:
    return opened(on(database_url, tmp_path, lease_seconds=ONLY_TOLD))


@pytest.fixture
def crew(database_url: str, tmp_path: Path) -> Iterator[Crew]:
    with Crew(database_url, tmp_path, MOOT_LEASE_SECONDS=str(ONLY_TOLD)) as crew:
        crew.worker().ready()
        yield crew


class TestToADriver:
    """A worker in another process does at once what it is told by a command, a process of its own."""

    async def run(self, crew: Crew, *args: str) -> str:
        done = await asyncio.to_thread(crew.run, *args)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    async def test_stop(self, app: App, crew: Crew):
        debate = await queued(app, "sim:?latency_ms=50", **ENDLESS)
        await turns(app, debate.id, 2)
        await self.run(crew, "stop", debate.short)
        assert (await status(app, debate.id, "stopped", seconds=50)).owner is None

    async def test_cancel(self, app: App, crew: Crew):
        """In the middle of a call: the worker lets go of the debate, and ends its job."""

        async def let_go() -> bool:
            return not await jobs(app)

        debate = await queued(app, "sim:?latency_ms=600000")
        await when(lambda: asyncio.to_thread(crew.called))
        await self.run(crew, "cancel", debate.short)
        await when(let_go)
        left = await app.runtime.store.get(debate.id)
        assert (left.status, left.turn_count) == ("canceled", 0)

    async def test_answer(self, app: App, crew: Crew):
        """Whoever answers follows what the worker does, to its next question or its end."""
        debate = await queued(app, "sim:", "panel", max_rounds=1, max_total_output_tokens=10_000_000)
        while (now := await status(app, debate.id, "waiting", "completed")).status == "waiting":
            gate = await app.runtime.gates.open(debate.id)
            said = gate.choices[0] if gate.choices else "Whatever is usual."
            answered = await asyncio.to_thread(crew.run, "answer", debate.short, said, "--plain")
            assert answered.returncode in (0, 3), answered.stderr  # done, or it asks the next question
            assert f"Answered {gate.key}." in answered.stderr
            assert "can't" not in answered.stderr
        assert now.epoch > 1
        await words(app, debate.id)

    async def test_guidance(self, app: App, crew: Crew):
        """In the middle of a call: it is a turn while the call goes on."""

        async def heard() -> bool:
            return any(turn.kind == "guidance" for turn in await app.runtime.store.turns(debate.id))

        debate = await queued(app, "sim:?latency_ms=600000")
        await when(lambda: asyncio.to_thread(crew.called))
        await self.run(crew, "guide", debate.short, "Mind the cost.")
        await when(heard)
        await app.runtime.cancel(debate.id)


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
    assert app.runtime.hub.flights(left.id) == {}
    await words(app, left.id)


async def in_flight(key: str, *watchers: Watcher) -> None:
    """Until they see the first half of what is said."""
    await until(lambda: all(FIRST in each.heard.get(key, ()) for each in watchers))


async def talked_about(app: App, talk: Talk) -> Debate:
    return await queued(app, talk.model, max_rounds=1, model_judge="sim:")


async def test_a_watcher_sees_text_in_flight_in_another_process(app: App, crew: Crew):
    with Talk() as talk:
        debate = await talked_about(app, talk)
        watchers = [Watcher() for _ in range(3)]
        watching = [asyncio.create_task(watcher.watch(app, debate.id)) for watcher in watchers]
        for key in ("1/speak/a", "1/speak/b"):
            await in_flight(key, *watchers)
            talk.go_on()
        for watcher, left in zip(watchers, await asyncio.gather(*watching), strict=True):
            await heard_it_all(app, watcher, left)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "told to end"])
async def test_and_goes_on_seeing_it_when_someone_else_drives(app: App, crew: Crew, end):
    # The lease of a process of this machine that is gone is void.
    with Talk() as talk:
        debate = await talked_about(app, talk)
        watcher = Watcher()
        watching = asyncio.create_task(watcher.watch(app, debate.id))
        await in_flight("1/speak/a", watcher)
        (first,) = crew.processes
        crew.worker().ready()
        first.send(end)
        if end == signal.SIGTERM:
            wait_until(lambda: "Told to end" in first.said)
        talk.go_on(1 if end == signal.SIGTERM else 2)  # the call that was cut off is made again
        await in_flight("1/speak/b", watcher)
        talk.go_on()
        left = await watching
        assert left.epoch == 2
        await heard_it_all(app, watcher, left)


async def test_text_that_comes_when_no_one_watches_is_not_kept(app: App):
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


async def test_what_a_dead_driver_said_is_forgotten_when_another_takes_over(database_url, tmp_path):
    """It died between the commit and saying that its step is over."""
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
