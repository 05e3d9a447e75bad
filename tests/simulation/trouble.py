"""What goes wrong, when and where: drawn from the seed, within what the plan allows."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from moot.core.errors import StoreError
from tests.simulation.database import Job
from tests.simulation.plan import Plan
from tests.simulation.process import Gone, Process

if TYPE_CHECKING:
    from tests.simulation.world import World

# Faults that can strike at any moment, not only when something is read or written.
ANYTIME = ("crash", "pause", "clock", "stop", "stop now", "guide", "cancel", "drain", "close", "fork", "delete")
ILLS = ("crash", "pause", "clock", "drain", "close")  # after which a process is not well for a while
JUMPS = (-7200.0, -2400.0, -40.0, -8.0, 8.0, 40.0, 200.0)


class Trouble:
    def __init__(self, world: World, plan: Plan) -> None:
        self._world, self._plan, self._rng = world, plan, world.rng
        self._left = dict(plan.faults)
        self._dying: set[Process] = set()
        self._anytime = [fault for fault in ANYTIME if fault in plan.faults]
        self.last = 0.0  # when something last went wrong
        self.furthest = 0.0  # that a clock was ever set ahead

    def may(self, fault: str, process: Process | None = None, chance: float | None = None) -> bool:
        """Whether it happens now. If so, it counts."""
        left = self._left.get(fault, 0)
        if not left or self._rng.random() >= (self._plan.chance if chance is None else chance):
            return False
        self._left[fault] = left - 1
        self.happened(fault, process)
        return True

    def happened(self, fault: str, process: Process | None = None) -> None:
        self._world.count(fault)
        self.last = self._world.loop.time()
        if process is not None:
            process.disturbed = max(process.disturbed, self.last)

    def ends(self) -> None:
        """From now on, nothing goes wrong any more."""
        self._left.clear()

    def of_write(self, process: Process, job: Job) -> str | None:
        planned = self._plan.at_write.get(job.number)
        if planned is not None:
            self.happened("crash" if planned.startswith("crash") else planned, process)
            if planned in ("stop", "stop now", "close"):
                self._strike(planned, process)
                return None
            return planned
        if self.may("crash", process):
            return self._rng.choice(("crash before", "crash after"))
        return next((fault for fault in ("fail", "fail late", "lost reply") if self.may(fault, process)), None)

    def of_model(self) -> str | None:
        if self.may("flaky"):
            return self._rng.choice(("overloaded", "timeout", "unavailable", "slow"))
        return None

    def poisons(self, process: Process, debate: str) -> bool:
        """Whether a step of this debate, which is asked for, takes its process down. It never gets an answer."""
        if debate not in self._plan.poisoned:
            return False
        if process not in self._dying and self.may("poison", process, chance=1.0):
            self._dying.add(process)
            self._world.later(self._soon(), self._crash_if_alive, process, "of a poisonous step")
        return process in self._dying

    def of_delivery(self) -> tuple[bool, bool]:
        """Whether what the queue delivers next is lost, or delivered twice."""
        return self.may("lose", chance=0.1), self.may("double", chance=0.1)

    def lands_after_death(self) -> bool:
        """Whether a write that is on its way lands although its process is dead."""
        return "posthumous" in self._plan.ways and self._rng.random() < 0.5

    def store_delay(self, process: Process) -> float:
        if self.may("slow", process):
            seconds = self._rng.uniform(1, 1.6 * self._plan.lease)
            process.disturbed = max(process.disturbed, self._world.loop.time() + seconds)
            return seconds
        return self._rng.random() * 0.02

    def model_delay(self, *, slow: bool = False) -> float:
        if slow:
            return self._rng.uniform(self._plan.lease, 70)
        return 0.0 if "eager" in self._plan.ways else self._rng.uniform(0.05, 2.5)

    def moment(self, process: Process) -> None:
        """Something begins: a good time for something else to go wrong."""
        if self._anytime:
            fault = self._rng.choice(self._anytime)
            if self.may(fault, process if fault in ILLS else None, self._plan.chance / 2):
                self._strike(fault, process)

    def kill(self, left: int) -> None:
        """Kill a process that drives something, if any does; then others, `left` in all."""
        living = self._world.living()
        driving = [process for process in living if process.runtime.driven]
        if left and living:
            victim = self._rng.choice(driving or living)
            self.happened("crash", victim)
            for each in self._world.living(children=self._plan.kills_children):
                if victim in (each, each.parent):
                    self.crash(each, "from outside")
        if left > 1:
            self._world.later(self._plan.kill_seconds, self.kill, left - 1)

    def crash(self, process: Process, why: str) -> None:
        self._world.note(process, "crashes", why)
        process.drove = frozenset(process.runtime._drives)
        self._world.left_behind(process)
        self._world.loop.kill(process)
        process.died()
        self._reborn(process)

    def pause(self, process: Process) -> None:
        seconds = self._rng.uniform(1.1, 4) * self._plan.lease
        self._world.note(process, "is paused", round(seconds, 3))
        self._world.loop.pause(process)
        self._world.later(seconds, self._wake, process)

    def _strike(self, fault: str, process: Process) -> None:
        """Not inside whatever is going on, but right after, or a little later."""
        world, people = self._world, self._world.people
        match fault:
            case "crash":
                world.later(self._soon(), self._crash_if_alive, process, "at any moment")
            case "pause":
                world.later(self._soon(), self._pause_if_running, process)
            case "clock":
                world.later(self._soon(), self._jump, process)
            case "drain" | "close":
                people.join(self._end(process.parent or process, fault))  # which ends with its worker
            case "fork":
                people.join(people.fork())
            case _:
                people.join(people.interfere(fault))

    def _soon(self) -> float:
        return self._rng.choice((0.0, self._rng.random() * 0.03, self._rng.random() * 3))

    def _crash_if_alive(self, process: Process, why: str) -> None:
        if process.alive:
            self.crash(process, why)

    def _pause_if_running(self, process: Process) -> None:
        if process.alive and not process.paused:
            self.pause(process)

    def _wake(self, process: Process) -> None:
        if process.alive:
            self.happened("goes on after a pause", process)
            self._world.note(process, "goes on")
            self._world.loop.wake(process)

    def _jump(self, process: Process) -> None:
        process.skew = self._rng.choice(JUMPS)
        self.furthest = max(self.furthest, process.skew)
        self._world.note(process, "has its clock set", process.skew)
        self._world.later(self._rng.uniform(20, 90), self._set_right, process)

    def _set_right(self, process: Process) -> None:
        self._world.note(process, "has its clock set right")
        process.skew = 0.0
        self.happened("clock set right", process)

    async def _end(self, process: Process, how: str) -> None:
        with suppress(Gone, StoreError):
            await process.end(hand_back=self._rng.uniform(0, 3) if how == "drain" else None)
        if process.alive:
            self._world.loop.kill(process)
            process.died()
            self._reborn(process)

    def _reborn(self, process: Process) -> None:
        if process.parent is None:
            later = self._rng.uniform(*self._plan.reborn)
            self._world.later(later, self._world.begin, process.number, process.life + 1)
