"""Which debates a process drives beside each other, after processes have died.

A process that dies takes all its debates along, and one of them may be the reason. Which one is not known: only how
often each was driven by a process that died before a step of it was stored. The more often, the less company it gets:

- after the first death, any: a process can die for many reasons;
- after the second, at most `GROUPS[2]` such debates at once, beside others that are not under suspicion, and after
  further ones fewer;
- before the last two deaths that `crash_limit` allows, none: the process drives it alone until a step of it is stored.

A debate that kills its process gets to that limit, as it never stores a step. Another leaves at its first step, as no
debate beside it takes its process down any more: to be set aside, its process would have to be killed from outside both
times.

A debate that is turned away comes in as soon as there is room for it: when one under suspicion stores its first step
or leaves, or when the time alone of another is over. While a debate is driven alone here, this process takes no others
from a queue, so that they go to processes that are open.

Others don't wait for long behind a debate that is driven alone. After the time of a lease they are let in again, though
no step was stored; a death after that is no death alone. Then others have at least as much time as it has taken, before
the next debate is driven alone here. What kills its process only later than that gets twice as long after each further
death. So a debate whose process died is driven on after two leases and a sweep at the latest (its own must run out, if
that process was on another machine; then every process may be closed for one), as long as what kills does so within a
lease; where one process is open, after one lease and a sweep.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress

from moot.core.lifecycle import LIVE
from moot.core.types import Debate, Failure, Shown
from moot.runtime.drive import Drive
from moot.store import Commit, Debates
from moot.telemetry import Observer

log = logging.getLogger("moot.runtime")

GROUPS = {2: 10, 3: 3}  # by deaths: how many debates under suspicion are driven beside each other; at last, as the last
MOST_DOUBLED = 6  # how often the time alone is doubled at most


class Suspects:
    def __init__(self, drives: Mapping[str, Drive], crash_limit: int, seconds: float) -> None:
        """`drives`: what this process drives, by id. `seconds`: for how long a debate is driven alone."""
        self._drives, self._limit, self._seconds = drives, crash_limit, seconds
        self._entering: dict[str, int] = {}  # being claimed: id, and deaths of its drivers
        self._changed = asyncio.Event()
        self._turned_away: dict[str, int] = {}  # since the last sweep: id, and deaths of its drivers
        self._alone: tuple[str, float, float] | None = None  # which debate is driven alone, since when, until when
        self._open_until = 0.0  # until then no further debate is driven alone

    @property
    def closed(self) -> bool:
        """Whether a debate is driven alone, or is about to be: nothing else may be driven beside it."""
        if self._alone is None:
            return False
        debate_id, since, until = self._alone
        now = _now()
        if now < until and self.needs_alone(self._inside().get(debate_id, 0)):
            return True
        self._alone, self._open_until = None, now + (min(now, until) - since)
        return False

    @property
    def may_close(self) -> bool:
        """Whether a debate may be driven alone now: no other is, and those that waited for one have had their time."""
        return not self.closed and _now() >= self._open_until

    def needs_alone(self, crashes: int) -> bool:
        return crashes >= max(1, self._limit - 2)

    def is_guilty(self, debate: Debate, owner: str) -> bool:
        """Whether `owner`, who is about to claim the debate, should set it aside instead of driving it."""
        return debate.alone and crashes_of(debate, owner) >= self._limit

    def admits(self, debate_id: str, crashes: int) -> bool:
        """Whether a debate may be driven beside those that are driven here."""
        others = self.others(debate_id)
        if self.closed and self._alone is not None and self._alone[0] != debate_id:
            return False
        if self.needs_alone(crashes):
            return not others
        suspected = [other for other in others if other >= 2]
        return crashes < 2 or len(suspected) < min(map(self._group, (crashes, *suspected)))

    def seconds_alone(self, crashes: int) -> float:
        """For how long a debate is driven alone, the time included that the others have to end their steps."""
        # The two deaths that are needed come soon, if it is a debate that kills at once: others wait for that no longer
        # than a lease each time. Only one that has survived it that long is given more.
        return self._seconds * 2 ** min(MOST_DOUBLED, max(0, crashes - self._limit + 1))

    @contextmanager
    def entering(self, debate_id: str, crashes: int) -> Generator[None]:
        """Count a debate as driven while it is being claimed. One that must be alone closes the process for others."""
        self._entering[debate_id] = crashes
        if self.needs_alone(crashes) and not self.closed:
            now = _now()
            self._alone = debate_id, now, now + self.seconds_alone(crashes)
        try:
            yield
        finally:
            self._entering.pop(debate_id, None)  # two deliveries of one debate may enter at once
            self.notify()

    def others(self, debate_id: str) -> list[int]:
        """The deaths that count, of every debate here but one."""
        return [crashes for each, crashes in self._inside().items() if each != debate_id]

    def joined(self, debate_id: str) -> list[Drive]:
        """Drives that are stored as alone, and that no longer are when this debate is driven, too."""
        return [
            drive
            for each, drive in self._drives.items()
            if each != debate_id and drive.debate.alone and not drive.progressed
        ]

    def may_enter(self, debate_id: str, crashes: int) -> bool:
        """Whether a debate may be driven here now; one that must be alone, after the others were handed back."""
        return self.may_close if self.needs_alone(crashes) else self.admits(debate_id, crashes)

    def notify(self) -> None:
        """Wake those that wait for room. Called when a debate was claimed, could not be, stored its first step, or
        left."""
        self._changed.set()

    async def changed(self) -> None:
        """Wait until `notify` is called."""
        self._changed.clear()
        await self._changed.wait()

    async def room(self, debate_id: str, crashes: int, seconds: float) -> bool:
        """Wait until a debate may be driven here, at most so many seconds; return whether it may. It must enter before
        anything else is awaited. Does not wait where another is driven alone: other processes may be open."""
        may = await self._until(lambda: self.closed or self.may_enter(debate_id, crashes), _now() + seconds)
        return may and self.may_enter(debate_id, crashes)

    def turn_away(self, debate_id: str, crashes: int) -> None:
        """Remember a debate that had to be left for the next sweep."""
        self._turned_away[debate_id] = crashes

    async def until_sweep(self, seconds: float) -> bool:
        """Wait so many seconds, or until there is room for a debate that was turned away since the last call. Return
        whether there is."""

        def any_may() -> bool:
            return any(self.may_enter(each, crashes) for each, crashes in self._turned_away.items())

        found = await self._until(any_may, _now() + seconds)
        self._turned_away.clear()
        return found

    async def _until(self, holds: Callable[[], bool], deadline: float) -> bool:
        """Wait until a condition holds, at most until `deadline`; return whether it does."""
        while not holds():
            if _now() >= deadline:
                return False
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(deadline, self._next_time())):
                    await self.changed()
        return True

    def _next_time(self) -> float:
        """When there may be room without an event: the time alone of a debate is over, or that of those after it."""
        return min((time for time in (*(self._alone or ())[2:], self._open_until) if time > _now()), default=math.inf)

    def _group(self, crashes: int) -> int:
        return 1 if self.needs_alone(crashes) else GROUPS[min(crashes, max(GROUPS))]

    def _inside(self) -> dict[str, int]:
        """Debates that are driven here, with the deaths that count. A step that was stored clears a debate."""
        driven = {each: 0 if drive.progressed else drive.debate.crashes for each, drive in self._drives.items()}
        return driven | self._entering


def _now() -> float:
    return asyncio.get_running_loop().time()


def crashes_of(debate: Debate, owner: str) -> int:
    """How many drivers in a row have died, as of when `owner` claims the debate."""
    if debate.status not in LIVE:
        return 0
    return debate.crashes + (debate.owner not in (None, owner))


async def set_aside(store: Debates, claimed: Debate, observer: Observer | None) -> None:
    """Fail a debate that takes processes down. It must have been claimed."""
    failure = Failure(
        kind="crashed",
        message=f"The process that drove this debate died or fell silent {claimed.crashes} times in a row before a "
        "step of it was stored, in the end with no other debate beside it. It was set aside, so that it takes no "
        "further process down. Find the cause in the log of that process, for example memory or a plug-in, then try "
        "its open steps again.",
    )
    log.error("Debate %s is set aside. %s", claimed.short, failure.message)
    why = {"status": "failed", "by": "recovery", "error": failure.message, "kind": failure.kind}
    commit = Commit(
        debate_id=claimed.id,
        epoch=claimed.epoch,
        status="failed",
        error=failure,
        events=[Shown(type="status", data=why)],
        release=True,
    )
    if await store.commit(commit) is not None and observer is not None:
        observer.rested(claimed, "failed", failure)
