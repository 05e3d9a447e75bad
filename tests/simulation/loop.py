"""An event loop whose time is not the world's: when nothing is ready it jumps to the next timer."""

from __future__ import annotations

import asyncio
import heapq
from contextvars import ContextVar
from random import Random
from typing import Any

MOST_CALLBACKS = 3_000_000  # more than any seed needs: something goes round in circles


class Stuck(Exception):
    """Nothing is ready and no timer is set, or it never ends."""


class Place:
    """Whatever can be stopped and killed as a whole: all callbacks and tasks that were made inside it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.paused = False
        self.tasks: list[asyncio.Task[Any]] = []
        self.held: list[asyncio.Handle] = []  # what would have run during the pause

    def keep(self, task: asyncio.Task[Any]) -> None:
        if len(self.tasks) > 200:
            self.tasks = [each for each in self.tasks if not each.done()]
        self.tasks.append(task)


PLACE: ContextVar[Place | None] = ContextVar("PLACE", default=None)


class VirtualLoop(asyncio.BaseEventLoop):
    """Timers that are due at the same moment run in any order, as do tasks that were woken in the same turn of the
    loop (with `shuffle`). Everything else runs first come, first served, as asyncio promises."""

    def __init__(self, rng: Random, *, shuffle: bool = False) -> None:
        super().__init__()
        self._time = 0.0
        self._rng, self._shuffles = rng, shuffle
        self.callbacks = 0
        self.any_paused = False
        self.set_debug(False)

    def time(self) -> float:
        return self._time

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:
        # Less than anything here is measured in: it only decides between timers of the same moment.
        return super().call_at(when + self._rng.random() * 1e-7, callback, *args, context=context)

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None, **more: Any) -> asyncio.Task[Any]:
        task = super().create_task(coro, name=name, context=context, **more)
        place = PLACE.get() if context is None else context.get(PLACE)
        if place is not None:
            place.keep(task)
        return task

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:
        """Run it here, in no time: while a real thread works, the time of this loop would go on by minutes."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    def kill(self, place: Place) -> None:
        """What runs there sees nothing but its own end."""
        place.alive = False
        self.wake(place)
        for task in place.tasks:
            task.cancel()

    def pause(self, place: Place) -> None:
        place.paused = self.any_paused = True

    def wake(self, place: Place) -> None:
        if place.paused:
            place.paused = False
            self._ready.extend(place.held)  # type: ignore[attr-defined]
            place.held.clear()

    def _write_to_self(self) -> None:
        pass  # the simulated selector never blocks

    def _run_once(self) -> None:
        ready, timers = self._ready, self._scheduled  # type: ignore[attr-defined]
        while timers and (timers[0]._cancelled or timers[0]._when <= self._time or not ready):
            handle = heapq.heappop(timers)
            handle._scheduled = False
            if handle._cancelled:
                self._timer_cancelled_count -= 1  # type: ignore[attr-defined]
                continue
            self._time = max(self._time, handle._when)
            ready.append(handle)
        if not ready:
            raise Stuck("Nothing is ready and no timer is set.")
        count = len(ready)
        self.callbacks += count
        if self.callbacks > MOST_CALLBACKS:
            raise Stuck(f"After {MOST_CALLBACKS:,} callbacks there is no end in sight.")
        if count > 1 and self._shuffles:
            self._shuffle_tasks()
        for _ in range(count):
            handle = ready.popleft()
            if handle._cancelled:
                continue
            if self.any_paused:
                place = handle._context.get(PLACE)
                if place is not None and place.paused:
                    place.held.append(handle)
                    continue
            handle._run()

    def _shuffle_tasks(self) -> None:
        ready = self._ready  # type: ignore[attr-defined]
        spots = [n for n, handle in enumerate(ready) if _is_step(handle)]
        if len(spots) > 1:
            handles = [ready[n] for n in spots]
            self._rng.shuffle(handles)
            for n, handle in zip(spots, handles, strict=True):
                ready[n] = handle


def _is_step(handle: asyncio.Handle) -> bool:
    """Whether the handle runs a task on: each has at most one such handle waiting."""
    return isinstance(getattr(handle._callback, "__self__", None), asyncio.Task)  # type: ignore[attr-defined]
