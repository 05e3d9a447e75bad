"""Workers on PostgreSQL in tests: in this process, and as real processes of the real `moot`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from moot.app import App
from moot.client import creating, documents
from moot.core.errors import WrongStatus
from moot.core.types import Debate, Gate, SeatSpec, Status, Turn
from moot.request import Request
from moot.runtime.replay import transcript
from moot.runtime.worker import Worker
from tests.forking import run_moot, start_moot
from tests.running import an_app, topic_for
from tests.runtime.asking import FORMAT as ASKING
from tests.store.using import rows as rows_of

# A debate that does not end by itself while a test lasts, however slow the test is.
ENDLESS: dict[str, Any] = {"max_rounds": 1000, "max_total_output_tokens": 10_000_000, "max_runtime_seconds": 600_000}
SELDOM = 600.0  # seconds: longer than any test, so that whatever happens was not found by looking


@asynccontextmanager
async def on(url: str, folder: Path, owner: str = "here", **settings: Any) -> AsyncIterator[App]:
    """An app on a PostgreSQL database; of several in one process each needs an owner of its own."""
    async with an_app(folder, database_url=url, **{"embedder": "none", **settings}) as app:
        app.formats = {**app.formats, "asking": ASKING}
        app.runtime.owner = owner
        yield app


@asynccontextmanager
async def working(
    url: str, folder: Path, owner: str = "worker", *, sweep: float = SELDOM, drain: float = 30, **settings: Any
) -> AsyncIterator[tuple[App, Worker]]:
    """A worker in this process, which sweeps seldom: what is queued has to reach it by itself."""
    async with on(url, folder, owner, **settings) as app:
        worker = app.worker()
        worker.sweep_seconds, worker.drain_seconds = sweep, drain
        running = asyncio.create_task(worker.run())
        try:
            yield app, worker
        finally:
            if not worker._stop.is_set():
                worker.stop()
            await running


async def new(app: App, model: str = "sim:", format: str = "classic", **settings: Any) -> Debate:
    settings = {"model_debater": model, "model_judge": model, "recall_decisions": False, **settings}
    if format == "asking":
        read = ASKING.settings(**settings)
        seats = [SeatSpec(id="a", name="A", role="debater", model=model, max_tokens=50)]
        return await app.runtime.create(topic="t", format=ASKING, config=read.model_dump(mode="json"), cast=seats)
    return await creating.create(
        app, app.plan(Request(topic=topic_for(format), format=format, settings=settings)), by=""
    )


async def queued(app: App, model: str = "sim:", format: str = "classic", **settings: Any) -> Debate:
    debate = await new(app, model, format, **settings)
    await app.hand_over(debate)
    return debate


async def one_is_driven(app: App) -> None:
    debate = await queued(app, max_rounds=1)
    await status(app, debate.id, "completed")


async def when(condition: Callable[[], Awaitable[object]], seconds: float = 50) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.01)


async def reached(app: App, debate_id: str, so: Callable[[Debate], object], seconds: float = 90) -> Debate:
    """Wait until the debate is so."""
    async with asyncio.timeout(seconds):
        while not so(debate := await app.runtime.store.get(debate_id)):
            await asyncio.sleep(0.01)
    return debate


async def status(app: App, debate_id: str, *wanted: Status, seconds: float = 90) -> Debate:
    """Wait until the debate has one of the statuses."""
    return await reached(app, debate_id, lambda debate: debate.status in wanted, seconds)


async def turns(app: App, debate_id: str, at_least: int) -> Debate:
    """Wait until so many steps are done."""
    return await reached(app, debate_id, lambda debate: debate.turn_count >= at_least)


async def driven_by(app: App, process: Process, made: list[Debate]) -> list[Debate]:
    """Wait until the process drives all of them."""
    owner = f"/{process.pid}/"
    return [await reached(app, each.id, lambda now: now.owner and owner in now.owner) for each in made]


async def rows(app: App, statement: str, *values: Any) -> list[Any]:
    return await rows_of(app.runtime.store, statement, *values)


async def jobs(app: App, entrypoint: str = "advance") -> list[Any]:
    return await rows(app, "select * from moot_jobs where entrypoint = $1 order by id", entrypoint)


class Process:
    """A process of moot whose output goes to a file."""

    def __init__(self, args: tuple[str, ...], environ: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("wb") as out:
            self.popen = start_moot(args, environ, out=out)
        self.pid = self.popen.pid

    @property
    def said(self) -> str:
        return self.log.read_text()

    def send(self, number: int) -> None:
        self.popen.send_signal(number)

    def ended(self, seconds: float = 60) -> int:
        return self.popen.wait(seconds)

    def kill(self) -> None:
        if self.popen.poll() is None:
            self.send(signal.SIGKILL)
        self.popen.wait()

    def ready(self, seconds: float = 60) -> Process:
        """Until a worker says that it works."""
        wait_until(lambda: "Driving up to" in self.said or self.popen.poll() is not None, seconds)
        assert self.popen.poll() is None, self.said
        return self

    @property
    def rss_kb(self) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0


class Crew:
    """Processes on one database. Whatever is left of them at the end is killed."""

    def __init__(self, url: str, folder: Path, **environ: str) -> None:
        self.url, self.folder = url, folder
        self.calls = folder / "calls.log"
        keep = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
        self.environ = {
            **keep,
            "MOOT_CONFIG": os.devnull,
            "NO_COLOR": "1",
            "MOOT_DATABASE_URL": url,
            "MOOT_SIM_LOG": str(self.calls),
            "MOOT_EMBEDDER": "none",
            **environ,
        }
        self.processes: list[Process] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.popen.poll() is None:
                process.send(signal.SIGCONT)
            process.kill()

    def start(self, *args: str, **environ: str) -> Process:
        log = self.folder / f"process-{len(self.processes)}.log"
        process = Process(args, {**self.environ, **environ}, log)
        self.processes.append(process)
        return process

    def worker(self, *args: str, **environ: str) -> Process:
        return self.start("worker", *args, **environ)

    def run(self, *args: str, seconds: float = 60, **environ: str) -> subprocess.CompletedProcess[str]:
        done = run_moot(args, {**self.environ, **environ}, timeout=seconds)
        return subprocess.CompletedProcess([*args], done.code, done.out.decode(), done.err.decode())

    def called(self) -> list[Called]:
        """Every call of a simulated model, in order."""
        lines = self.calls.read_text().split("\n")[:-1] if self.calls.exists() else []
        return [Called(*line.split("\t")) for line in lines]


class Called:
    def __init__(self, at: str, pid: str, model: str, key: str, seat: str) -> None:
        self.at, self.pid, self.model, self.key, self.seat = float(at), int(pid), model, key, seat


def wait_until(condition: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


async def words(app: App, debate_id: str) -> bytes:
    """What people saw of a debate. Proven to be what its turns lead to."""
    store = app.runtime.store
    debate = await store.get(debate_id)
    events = []
    while page := await store.events(debate_id, after=len(events)):
        events += page
    assert [event.seq for event in events] == list(range(1, debate.last_seq + 1))
    proof = await documents.prove(app, debate_id)
    assert proof.same, proof.first_difference
    return transcript(debate, [event for event in events if event.type.isupper()], debate.outcome)


async def undisturbed(folder: Path, made: list[Debate]) -> list[bytes]:
    """The same debates in one process on SQLite, with the same words by a model that answers at once."""
    said: list[bytes] = []
    async with an_app(folder, embedder="none") as app:
        for debate in made:
            model = debate.cast[0].model.partition("&")[0]
            settings = {**debate.config, "model_debater": model, "model_judge": model}
            request = Request(topic=debate.topic, format=debate.format, settings=settings)
            twin = await creating.create(app, app.plan(request), by="")
            await app.runtime.start(twin.id)
            while (done := await app.runtime.wait(twin.id)).status == "waiting":
                await agree(app, await app.runtime.gates.open(twin.id))
                await app.runtime.resume(twin.id)
            assert done.status == "completed", done.error
            said.append(await words(app, twin.id))
    return said


async def agree(app: App, gate: Gate) -> None:
    """Answer a gate so that the debate continues. Of two simultaneous answers one is refused."""
    with suppress(WrongStatus):
        given = {"choice": gate.choices[0]} if gate.choices else {"text": "Whatever is usual."}
        await app.runtime.gates.answer(gate.debate_id, given, by="ann", key=gate.key)


def paid_twice(called: list[Called], model: str, turns: list[Turn]) -> list[str]:
    """Keys of steps that were asked again after their answer had been committed. A turn says when its call ended; a
    commit that another's claim came before would have been refused, so no call for it may begin later."""
    ended = {turn.key: turn.created_at for turn in turns}
    return [call.key for call in called if call.model == model and call.at > ended.get(call.key, call.at)]
