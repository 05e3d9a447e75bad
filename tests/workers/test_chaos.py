"""Everything breaks, and nothing is lost: workers are killed without a word, and the database is restarted."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from moot.app import App
from moot.core.errors import StoreError
from moot.core.settings import Settings
from moot.core.types import Debate
from moot.formats import installed
from moot.runtime.worker import SWEEPS
from tests.postgres import Cluster
from tests.workers.crew import Crew, Process, agree, new, on, paid_twice, rows, undisturbed, words
from tests.workers.poison import POISON, poisoned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

WORKERS, KILL_SECONDS, SEED = 3, 4.0, 7
POISONS = int(os.environ.get("MOOT_CHAOS_POISONS", "2"))
GRACE_SECONDS = 3 * Settings().lease_seconds / SWEEPS  # that the detector allows for sweeps

# Long enough to be in flight until the end, and no limit that depends on how long things take.
UNLIMITED = {"max_total_output_tokens": 10_000_000, "max_runtime_seconds": 600_000}
LONG = {
    "classic": {"max_rounds": 12, "judge_every_round": True},
    "council": {"depth": "debate", "max_rounds": 8, "agreement": 1.0},
    "crucible": {"min_rounds": 10, "max_rounds": 10},
    "duel": {"turns": 12},
    "panel": {"max_rounds": 4, "round_timeout_seconds": 86_400, "checkpoints": False},
}


class Chaos:
    def __init__(self, app: App, crew: Crew, cluster: Cluster, seconds: float, debates: int) -> None:
        self.app, self.crew, self.cluster = app, crew, cluster
        self.seconds, self.debates = seconds, debates
        self.made: list[Debate] = []
        self.poison: list[Debate] = []
        self.kills: list[tuple[float, list[tuple[str, int]]]] = []  # when, and which debates it drove in which epoch
        self.in_flight: list[int] = []  # debates that each of them drove, or had driven by processes of its own
        self.alarms: list[str] = []
        self.poisoned = 0  # workers that poison killed
        self.samples = 0
        self.deaths: list[tuple[float, list[tuple[str, int]]]] = []  # the same of every worker that died of anything
        self.claims: dict[tuple[str, int], tuple[float, int]] = {}  # by debate and epoch: when found, and its crashes

    async def begin(self) -> None:
        latency = round(self.seconds / 120 * 1000)
        names = sorted(installed())
        for n in range(self.debates):
            name = names[n % len(names)]
            more = {"checkpoints": True} if name == "panel" and n % 2 else {}
            more |= {"max_rounds": 18} if name == "classic" and n % 2 else {}  # some outlive the rest
            model = f"sim:?seed={n}&latency_ms={latency}"
            self.made.append(await new(self.app, model, name, **{**UNLIMITED, **LONG.get(name, {}), **more}))
        self.poison = [await new(self.app, POISON) for _ in range(POISONS)]
        for worker in [self.crew.worker() for _ in range(WORKERS)]:
            worker.ready()
        for debate in (*self.made, *self.poison):
            await self.app.hand_over(debate)

    async def rage(self) -> None:
        rng, began = random.Random(SEED), time.monotonic()
        restarting: asyncio.Task[None] | None = None
        while (elapsed := time.monotonic() - began) < self.seconds:
            await asyncio.sleep(KILL_SECONDS - elapsed % KILL_SECONDS)
            ended = [process for process in self.crew.processes if process.popen.poll() not in (None, -signal.SIGKILL)]
            assert not ended, [process.said for process in ended]  # a database that is away is waited for
            living = [process for process in self.crew.processes if process.popen.poll() is None]
            self.poisoned += WORKERS - len(living)
            living += [self.crew.worker() for _ in range(WORKERS - len(living))]
            victim = rng.choice(await self.driving(living))
            family = [await self.driven_by(pid) for pid in descendants(victim.pid)]
            self.in_flight.append(len(await self.driven_by(victim.pid)) + sum(map(len, family)))
            victim.kill()
            at = time.time()
            self.kills.append((at, await self.driven_by(victim.pid)))
            self.crew.worker()
            if restarting is None and time.monotonic() - began > self.seconds / 2:
                restarting = asyncio.create_task(asyncio.to_thread(self.cluster.restart))
        if restarting is not None:
            await restarting

    async def driving(self, living: list[Process]) -> list[Process]:
        """Those that drive a debate, once there are any; all of them where none is left to be driven."""
        while not (found := [process for process in living if await self.driven_by(process.pid)]):
            if not await self.left():
                return living
            await asyncio.sleep(0.1)
        return found

    async def left(self) -> int:
        running = "status not in ('completed', 'canceled', 'failed')"
        return (await rows(self.app, f"select count(*) from debate_sessions where {running}"))[0]["count"]

    async def driven_by(self, pid: int) -> list[tuple[str, int]]:
        driven = "select id, epoch from debate_sessions where status = 'running' and owner like $1"
        return [(row["id"], row["epoch"]) for row in await rows(self.app, driven, f"%/{pid}/%")]

    async def answer(self) -> None:
        while True:
            with suppress(StoreError):
                for gate in await self.app.runtime.store.gates():
                    await agree(self.app, gate)
            await asyncio.sleep(0.5)

    async def look_for_deadlocks(self) -> None:
        while True:
            with suppress(StoreError):
                found = await self.app.workers_queue().stuck(GRACE_SECONDS)
                self.alarms += [f"{each.debate_id[:8]}: {each.why}" for each in found]
                self.samples += 1
            await asyncio.sleep(0.5)

    async def look_for_claims(self) -> None:
        dead: set[int] = set()
        while True:
            with suppress(StoreError):
                for pid in [each.pid for each in self.crew.processes if each.popen.poll() is not None]:
                    if pid not in dead:
                        at = time.time()
                        self.deaths.append((at, await self.driven_by(pid)))
                        dead.add(pid)
                found = await rows(self.app, "select id, epoch, crashes from debate_sessions")
                for row in found:
                    self.claims.setdefault((row["id"], row["epoch"]), (time.time(), row["crashes"]))
            await asyncio.sleep(0.2)

    async def end(self) -> None:
        async with asyncio.timeout(300):
            while await self.left():
                living = sum(process.popen.poll() is None for process in self.crew.processes)
                for _ in range(WORKERS - living):  # poison may not be found yet
                    self.crew.worker()
                await asyncio.sleep(0.5)

    def taken_over_after(self, deaths: list[tuple[float, list[tuple[str, int]]]]) -> list[tuple[float, int]]:
        """For every innocent debate that lost its worker, the seconds until another had it, and the deaths so far."""
        guilty = {debate.id for debate in self.poison}
        waited: list[tuple[float, int]] = []
        for at, drove in deaths:
            for debate_id, epoch in drove:
                if debate_id in guilty:
                    continue
                later = [found for (each, its), found in self.claims.items() if each == debate_id and its > epoch]
                assert later, f"{debate_id} was left"
                when, crashes = min(later)
                waited.append((when - at, crashes))
        return waited


def descendants(pid: int) -> list[int]:
    """The processes that a process has begun, and those that they have."""
    begun: list[int] = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = each.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                begun += [int(each.parent.name), *descendants(int(each.parent.name))]
    return begun


def told(waited: list[tuple[float, int]]) -> str:
    """The median and the longest of waits, and the longest by the number of deaths."""
    most = {crashes: max(each for each, its in waited if its == crashes) for crashes in sorted({c for _, c in waited})}
    by_deaths = ", ".join(f"{crashes}: {seconds:.1f}" for crashes, seconds in most.items())
    seconds = [each for each, _ in waited]
    return (
        f"{len(seconds)} times after {statistics.median(seconds):.1f} s (median), {max(seconds):.1f} s at most "
        f"(by deaths: {by_deaths})"
    )


@pytest.mark.parametrize(("seconds", "debates"), [(12, 30), pytest.param(40, 100, marks=pytest.mark.soak)])
def test_nothing_is_lost(cluster: Cluster, tmp_path: Path, seconds: float, debates: int):
    async def main(crew: Crew) -> None:
        async with on(crew.url, tmp_path, "test") as app:
            chaos = Chaos(app, crew, cluster, seconds, debates)
            await chaos.begin()
            beside = [
                asyncio.create_task(work)
                for work in (chaos.answer(), chaos.look_for_deadlocks(), chaos.look_for_claims())
            ]
            quietly = asyncio.create_task(undisturbed(tmp_path, chaos.made))
            began = time.monotonic()
            await chaos.rage()
            raged = time.monotonic() - began
            await chaos.end()
            took = time.monotonic() - began
            for task in beside:
                assert not task.done(), task.exception()
                task.cancel()

            called = crew.called()
            expected = await quietly
            kept = 0
            for debate, said in zip(chaos.made, expected, strict=True):
                done = await app.runtime.store.get(debate.id)
                assert done.status == "completed", (debate.format, done.status, done.error)
                assert await words(app, debate.id) == said, debate.format
                turns = list(await app.runtime.store.turns(debate.id))
                assert Counter(turn.key for turn in turns).most_common(1)[0][1] == 1
                assert paid_twice(called, debate.cast[0].model, turns) == []
                kept += sum(turn.kind == "ask" for turn in turns)
            for debate in chaos.poison:
                aside = await app.runtime.store.get(debate.id)
                assert aside.status == "failed"
                assert aside.error is not None
                assert aside.error.kind == "crashed"
            hits = [len(drove) for _, drove in chaos.kills]
            print(
                f"\n{debates} debates in {took:.0f} s, {chaos.poisoned} deaths by {POISONS} poisonous debates, "
                f"{len(chaos.kills)} kills in {raged:.0f} s that hit {sum(hits)} "
                f"debates ({hits}); innocent debates taken over from those killed from outside "
                f"{told(chaos.taken_over_after(chaos.kills))}, from all that died "
                f"{told(chaos.taken_over_after(chaos.deaths))}; {kept} steps for {len(called)} calls; "
                f"{chaos.samples} looks for deadlocks"
            )
            assert len(called) >= kept
            assert chaos.alarms == []
            assert sum(hit > 0 for hit in chaos.in_flight) > len(hits) / 2, "too little was in flight"

    with Crew(cluster.url(), tmp_path, **poisoned(tmp_path)) as crew:
        asyncio.run(main(crew))
