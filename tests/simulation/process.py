"""A process: a runtime of its own, with a clock of its own. It can die and stand still at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from moot.core.errors import StoreError
from moot.dispatch import LocalDispatcher
from moot.runtime.isolation import Isolation, drive_suspects
from moot.runtime.runtime import Runtime
from moot.runtime.worker import Worker
from tests.simulation.database import SimulatedStore
from tests.simulation.loop import PLACE, Place
from tests.simulation.queue import SimulatedQueue
from tests.simulation.voices import Recollections, Voices, workbench

if TYPE_CHECKING:
    from tests.simulation.world import World

T = TypeVar("T")


class Gone(Exception):
    """The process died before it could answer."""


class Children:
    """The processes in which a process has debates under suspicion driven."""

    def __init__(self, process: Process) -> None:
        self._process, self._begun = process, 0
        self._recalled = asyncio.Event()

    async def run(self, gather: Callable[[], Sequence[str]], done: Callable[[str], None]) -> None:
        self._begun += 1
        world = self._process.world
        child = world.begin_child(self._process, self._begun)
        with suppress(Gone, StoreError):
            await world.outside(child.drive_suspects(gather(), done, self._recalled))

    def recall(self) -> None:
        self._recalled.set()


class Process(Place):
    def __init__(self, world: World, number: int, life: int, parent: Process | None = None) -> None:
        """`parent`: the process for which it drives debates under suspicion."""
        super().__init__(f"{parent.name}/{life}" if parent else f"p{number}.{life}")
        self.parent = parent
        self.world, self.number, self.life = world, number, life
        self.owner = f"simulated/{self.name}"
        self.skew = 0.0  # of its wall clock
        self.disturbed = world.loop.time()  # when something last went wrong here, or will have
        self.drove: frozenset[str] = frozenset()  # when it crashed
        self._context = world.context.copy()
        self._context.run(PLACE.set, self)
        self.store = SimulatedStore(world, self)
        self.runtime = Runtime(
            self.store,
            Voices(world, self),
            world.formats_of(number),
            lease_seconds=world.plan.lease,
            memory=Recollections(world),
            tools=workbench(world, self),
            owner=self.owner,
            now=self.now,
        )
        self.runtime.pulse_seconds = world.plan.pulse
        self.queue = SimulatedQueue(world, self)
        self._children = Children(self)
        self.isolation = Isolation(self.runtime, self._children)
        self.dispatcher = LocalDispatcher(self.runtime, isolation=self.isolation)
        self.worker = Worker(
            self.runtime,
            self.queue,
            at_once=world.plan.at_once,
            isolation=self.isolation,
        )
        self.worker.sweep_seconds, self.worker.drain_seconds = world.plan.sweep, 2.0
        self._works = "workers" in world.plan.ways
        if parent is None:
            self._work = self.spawn(self._guarded(self.worker.run() if self._works else self._sweep()))

    def now(self) -> float:
        return self.world.wall() + self.skew

    def died(self) -> None:
        """What was begun by this process is handed back."""
        self._children.recall()

    def calm(self, seconds: float) -> bool:
        return not self.paused and self.world.loop.time() - self.disturbed > seconds

    def epoch_of(self, debate_id: str) -> int | None:
        """In which epoch it drives the debate, if it does."""
        drive = self.runtime._drives.get(debate_id)
        return None if drive is None else drive.debate.epoch

    def spawn(self, coro: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        return self.world.loop.create_task(coro, context=self._context.copy())

    async def call(self, coro: Coroutine[Any, Any, T]) -> T:
        """From outside: have this process do something. Raises Gone when it dies first."""
        if not self.alive:
            coro.close()
            raise Gone
        task = self.spawn(coro)
        await asyncio.wait([task])
        if task.cancelled():
            raise Gone
        return task.result()

    async def end(self, *, hand_back: float | None = None) -> None:
        """As it should end. Without `hand_back` its debates are stopped, unless it is a worker."""
        if self._works:
            self.worker.stop()
            await asyncio.wait([self._work])
        elif hand_back is not None:
            await self.call(self.dispatcher.close(hand_back))
        else:
            await self.call(self.isolation.recall(0.0))
        self.world.note(self, "ends")
        await self.call(self.runtime.close())

    async def drive_suspects(
        self, debates: Sequence[str], done: Callable[[str], None], recalled: asyncio.Event
    ) -> None:
        try:
            await self.call(drive_suspects(self.runtime, debates, done, recalled.wait()))
            await self.call(self.runtime.close())
        finally:
            if self.alive:
                self.world.note(self, "ends")
                self.world.loop.kill(self)

    async def _guarded(self, what: Awaitable[Any]) -> None:
        try:
            await what
        except Exception as error:
            ending = self.worker.stopping and isinstance(error, StoreError)
            if not ending:
                self.world.violated(f"{self.name} no longer looks for abandoned debates: {error!r}")

    async def _sweep(self) -> None:
        """Without workers, the serving process looks for abandoned debates."""
        while True:
            await asyncio.sleep(self.world.plan.sweep * self.world.rng.uniform(0.8, 1.2))
            with suppress(StoreError):
                await self.dispatcher.sweep()
