"""One run: processes on a shared database, people around them, and what goes wrong."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from moot.core.errors import DebateDeleted, StoreError
from moot.core.steps import ABSENT
from moot.formats import Format
from moot.runtime import runtime as runtime_module
from moot.store import Changed
from tests.simulation.audit import DELETED, Audit, Known
from tests.simulation.database import Job, open_database
from tests.simulation.loop import Stuck, VirtualLoop
from tests.simulation.people import People
from tests.simulation.plan import Plan, Play, calm, formats, settings_of
from tests.simulation.process import Process
from tests.simulation.trouble import Trouble

BEGINNING = 1_700_000_000.0  # seconds since 1970 when a run begins
PATIENCE = 1200.0  # virtual seconds without a fault after which every debate must have ended
# What other processes hear of, beside commits with a status.
TOLD = ("claim", "move", "decide", "guide", "queue", "delete")


@dataclass(frozen=True, kw_only=True)
class Result:
    plan: Plan
    violation: str | None
    trace: Sequence[tuple[Any, ...]]
    counts: Counter[str]  # what went wrong, and how often
    transcripts: Sequence[bytes | None]
    writes: int
    seconds: float  # virtual
    waits: Sequence[float] = ()  # of debates that poison none, from the death of their process until they are claimed

    @property
    def hash(self) -> str:
        digest = hashlib.sha256(repr(self.trace).encode())
        for each in self.transcripts:
            digest.update(each or b"-")
        return digest.hexdigest()[:16]


class World:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.rng = Random(f"run/{plan.seed}")
        self.loop = VirtualLoop(Random(f"loop/{plan.seed}"), shuffle="shuffle" in plan.ways)
        self.context = copy_context()
        self.database = open_database()
        self.formats = formats()
        self.processes: dict[str, Process] = {}  # by owner, dead ones too
        self.audit, self.trouble, self.people = Audit(self), Trouble(self, plan), People(self)
        self._trace: list[tuple[Any, ...]] = []
        self._counts: Counter[str] = Counter()
        self._left: dict[str, float] = {}  # by debate: when the process that drove it died
        self._waits: list[float] = []
        self._transcripts: list[bytes | None] = []
        self._violation: str | None = None
        self._writes = 0
        self._under_way = 0  # reads and writes
        self._closing = False

    def run(self) -> Result:
        self.loop.set_exception_handler(self._unexpected)
        asyncio.set_event_loop(self.loop)
        try:
            with _ids_from(self.plan.seed), _deaths_known_to(self._is_dead), _silence():
                self._run()
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()
            self.audit.close()
            self.database.close()
        return Result(
            plan=self.plan,
            violation=self._violation,
            trace=self._trace,
            counts=self._counts,
            transcripts=self._transcripts,
            writes=self._writes,
            seconds=self.loop.time(),
            waits=self._waits,
        )

    def _run(self) -> None:
        try:
            self.loop.run_until_complete(self._main())
            ended = map(self.audit.ended, self.audit.debates.values())
            self._transcripts += [None if each is None else _without_who_chose(each) for each in ended]
        except Stuck as stuck:
            self._blame(str(stuck))
        except RuntimeError:
            if self._violation is None:  # else the loop was stopped for that
                raise
        self._clear()
        if self._violation is None:
            self._compare()

    async def _main(self) -> None:
        for number in range(1, self.plan.processes + 1):
            self.begin(number, 1)
        for play in self.plan.plays:
            self.people.join(self.people.want(play))
        if self.plan.kills:
            self.later(self.plan.kill_seconds, self.trouble.kill, self.plan.kills)
        watchdog = self.loop.create_task(self._watchdog())
        await self.people.are_done()
        self.trouble.ends()
        await self.people.are_done()  # something may have struck just then
        while self._under_way or any(process.paused for process in self.living()):
            await asyncio.sleep(0.5)
        watchdog.cancel()
        await asyncio.sleep(2 * self.plan.pulse + 3)  # late processes have tried by now
        for process in self.living():
            self._holds_nothing(process)
            for known in self.audit.debates.values():
                await self._can_tell(process, known)
        for process in self.living():
            await process.end()
        self.audit.check(not any(each.parent for each in self.living(children=True)), None, "a process was left behind")

    async def _watchdog(self) -> None:
        while True:
            await asyncio.sleep(self.plan.lease)
            self.audit.nobody_drives()
            if self.loop.time() - self.trouble.last > PATIENCE:
                states = [f"{known.name} is {known.status}" for known in self.audit.debates.values()]
                self.violated(f"There is no end: {', '.join(states)}")

    def _holds_nothing(self, process: Process) -> None:
        """Debates that rest cost nothing in any process."""
        runtime, check = process.runtime, self.audit.check
        held = [*runtime._drives, *runtime._tasks, *runtime.hub._flights, *runtime.hub._landed, *runtime.hub._listeners]
        check(not held, None, f"{process.name} still holds something of {held}")
        keeper = runtime._keeper
        check(keeper is None or not keeper.done(), None, f"nobody keeps the leases of {process.name}")
        broken = [error for _, error in runtime._broken.values() if not isinstance(error, StoreError)]
        check(not broken, None, f"{process.name} could not drive a debate: {broken!r}")

    async def _can_tell(self, process: Process, known: Known) -> None:
        """Whatever has happened here, every process can tell how a debate ended."""
        try:
            debate = await process.call(process.runtime.wait(known.id))
        except DebateDeleted:
            self.audit.check(known.status == DELETED, known, f"{process.name} thinks it is deleted")
        except Exception as error:
            self.audit.check(False, known, f"{process.name} can't tell how it ended: {error!r}")
        else:
            self.audit.check(debate.status == known.status, known, f"{process.name} thinks it is {debate.status}")

    def _clear(self) -> None:
        self._closing = True
        for process in self.processes.values():
            self.loop.kill(process)
        tasks = [task for task in asyncio.all_tasks(self.loop) if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())

    def _compare(self) -> None:
        for known, transcript in zip(self.audit.debates.values(), self._transcripts, strict=True):
            if known.comparable and transcript is not None and self.plan != calm(known.play):
                expected = reference(replace(known.play, absent=_absent(known)))
                if transcript != expected:
                    self._blame(f"{known.name} ({known.play}): {_first_difference(transcript, expected)}")

    # What the parts of the world ask each other.

    def wall(self) -> float:
        """What a clock that is right shows."""
        return BEGINNING + self.loop.time()

    def later(self, seconds: float, what: Callable[..., Any], *args: Any) -> None:
        """Not as a part of whatever process is at it now."""
        self.loop.call_later(seconds, what, *args, context=self.context)

    def note(self, process: Process | None, *what: Any) -> None:
        self._trace.append((round(self.loop.time(), 6), process.name if process else "", *what))

    def count(self, what: str) -> None:
        self._counts[what] += 1

    def begin(self, number: int, life: int) -> None:
        """A process begins, or begins anew."""
        if not self._closing:
            process = Process(self, number, life)
            self.processes[process.owner] = process
            self.note(process, "begins")

    def begin_child(self, process: Process, number: int) -> Process:
        """A process begins in which another has debates under suspicion driven."""
        child = Process(self, process.number, number, process)
        self.processes[child.owner] = child
        self.note(child, "begins")
        return child

    async def outside(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for work that goes on though the process that waits dies."""
        task = self.loop.create_task(work, context=self.context.copy())
        await asyncio.wait([task])
        await task

    def left_behind(self, process: Process) -> None:
        """A process dies, and leaves what it drives."""
        for known in self.audit.debates.values():
            if known.id in process.runtime._drives and known.name not in self.plan.poisoned:
                self._left.setdefault(known.id, self.loop.time())

    def claimed(self, debate_id: str) -> None:
        if debate_id in self._left:
            self._waits.append(self.loop.time() - self._left.pop(debate_id))

    def living(self, *, children: bool = False) -> list[Process]:
        """The processes that are alive; with `children`, those as well that drive debates under suspicion."""
        return [each for each in self.processes.values() if each.alive and (children or each.parent is None)]

    async def any_process(self) -> Process:
        while not (living := self.living()):
            await asyncio.sleep(0.5)
        return self.rng.choice(living)

    def only_living(self, process: Process) -> None:
        """Ignore what tasks of a dead process still do."""
        if not process.alive:
            raise asyncio.CancelledError

    def formats_of(self, number: int) -> Mapping[str, Format]:
        """With several processes, the first may lack a plug-in that the others have."""
        if "lacking" not in self.plan.ways or number > 1 or self.plan.processes == 1:
            return self.formats
        lacks = settings_of(self.plan.plays[-1])[0].name
        return {name: format_ for name, format_ in self.formats.items() if name != lacks}

    def calm(self, seconds: float) -> bool:
        disturbed = any(process.paused or process.skew for process in self.living())
        return not disturbed and self.loop.time() - self.trouble.last > seconds

    def next_write(self) -> int:
        self._writes += 1
        return self._writes

    @contextmanager
    def under_way(self) -> Iterator[None]:
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def wrote(self, process: Process, jobs: Sequence[Job], errors: Sequence[Exception | None]) -> None:
        """What was written in one transaction, or why it was not."""
        landed: list[Job] = []
        for job, error in zip(jobs, errors, strict=True):
            known = self.audit.debates.get(job.debate_id or "")
            outcome = "refused" if job.refused else "done"
            if error is None:
                landed.append(job)
            else:
                outcome = str(error)
            self.note(process, "writes", job.number, job.verb, known.name if known else "", job.details, outcome)
        self.audit.wrote(process, landed)
        if "told" in self.plan.ways:
            for job in landed:
                self._tell(process, job)

    def _tell(self, process: Process, job: Job) -> None:
        """The others hear of it a little later, or not at all."""
        status = job.new_status
        if job.debate_id is None or job.result is None or (status is None and job.verb not in TOLD):
            return
        notice = Changed(debate_id=job.debate_id, status=status)
        for other in self.living(children=True):
            if other is not process and self.rng.random() < 0.9:
                self.later(self.rng.random() * 0.05, other.store.hear, notice)

    def violated(self, what: str) -> None:
        self._blame(what)
        if self.loop.is_running() and not self._closing:
            self.loop.stop()

    def _blame(self, what: str) -> None:
        if self._violation is None:
            self._violation = what
            self.note(None, "VIOLATED", what)

    def _unexpected(self, _: Any, context: dict[str, Any]) -> None:
        message = context.get("message", "")
        if "never retrieved" not in message and "destroyed" not in message:
            self.violated(f"{message}: {context.get('exception')!r}")

    def _is_dead(self, owner: str) -> bool:
        process = self.processes.get(owner)
        if process is None or process.alive:
            return False
        return "one machine" in self.plan.ways or process.parent is not None


@contextmanager
def _ids_from(seed: int) -> Iterator[None]:
    state = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)


@contextmanager
def _deaths_known_to(is_dead: Callable[[str], bool]) -> Iterator[None]:
    """Whether a process has died is asked of the simulation, not of this machine."""
    real, runtime_module.is_dead = runtime_module.is_dead, is_dead
    try:
        yield
    finally:
        runtime_module.is_dead = real


@contextmanager
def _silence() -> Iterator[None]:
    """What goes wrong is logged; here it is meant to."""
    log = logging.getLogger("moot")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


def _absent(known: Known) -> tuple[tuple[str, str], ...]:
    """The steps whose model could not be had: the others have gone on without it, as they do where nothing else is
    wrong."""
    failures = [(turn.key, turn.failure.kind) for turn in known.turns if turn.failure is not None]
    return tuple((key, kind) for key, kind in failures if kind in ABSENT)


def _without_who_chose(transcript: bytes) -> bytes:
    """A transcript without the words that tell a person's choice from that of a time-out: where both choose the same,
    either can come first. The choices stay, and so do other words of people."""
    events = [json.loads(line) for line in transcript.splitlines()]
    for event in events:
        if event.get("type") == "PERSON" and "choice" in (event["answer"] or {}):
            event["content"] = ""
    return b"".join(json.dumps(each, ensure_ascii=False, sort_keys=True).encode() + b"\n" for each in events)


def _first_difference(one: bytes, two: bytes) -> str:
    for n, (mine, other) in enumerate(zip(one.splitlines(), two.splitlines(), strict=False), 1):
        if mine != other:
            return f"the transcript differs from the undisturbed one in line {n}: {mine.decode()} / {other.decode()}"
    return "the transcript is longer or shorter than the undisturbed one"


def run(plan: Plan) -> Result:
    return World(plan).run()


@cache
def reference(play: Play) -> bytes:
    """What the play comes to when nothing goes wrong."""
    result = run(calm(play))
    if result.violation is not None or result.transcripts[0] is None:
        raise AssertionError(f"{play} does not even work undisturbed: {result.violation}")
    return result.transcripts[0]
