"""Which debates a process drives beside each other, after processes have died.

A process that dies takes all its debates along, and one of them may be the reason. Which one is not known: only how
often each was driven by a process that died before a step of it was stored. The more often, the less company it gets:

- after the first death, any: a process can die for many reasons;
- after the second, at most `GROUPS[2]` such debates at once, beside others that are not under suspicion, and after
  further ones fewer;
- before the last two deaths that `crash_limit` allows, none: the process drives it alone until a step of it is stored.

A debate that kills its process gets to that limit, as it never stores a step. Another leaves at its first step, as no
debate beside it takes its process down any more: to be set aside, its process would have to be killed from outside both
times. Where it can't be alone in time it is driven beside others, and the count begins again before those two.

A debate that is turned away comes in as soon as there is room for it: when one under suspicion stores its first step
or leaves, or when the time alone of another is over. If that takes longer than `OVERDUE` of a lease, it comes in beside
any others, wherever none is driven alone. While a debate is driven alone here, this process takes no others from a
queue, so that they go to processes that are open.

Others don't wait for long behind a debate that is driven alone. After the time of a lease they are let in again, though
no step was stored; a death after that is no death alone. Within half of that time, a further debate that must be alone
follows right on one that has stored its step: all others have left by then, which takes longer than a step. Then others
have at least as much time as all of it has taken, before the next debate is driven alone here. What kills its process
only later than that gets twice as long after each further death. So a debate whose process died is driven on after two
leases and a sweep at the latest (its own must run out, if that process was on another machine; then every process may
be closed for one), as long as what kills does so within a lease; where one process is open, after one lease and a
sweep.
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
OVERDUE = 1 / 3  # of a lease in which no process took a debate over, after which it is driven beside any others
BEGINNING = 1 / 5  # of a lease in which a process that has begun makes no such exceptions
MOST_DOUBLED = 6  # how often the time alone is doubled at most


class Suspects:
    def __init__(self, drives: Mapping[str, Drive], crash_limit: int, seconds: float) -> None:
        """`drives`: what this process drives, by id. `seconds`: for how long a debate is driven alone."""
        self._drives, self._limit, self._seconds = drives, crash_limit, seconds
        self._entering: dict[str, int] = {}  # being claimed: id, and deaths of its drivers
        self._began: float | None = None  # when the first debate asked for room
        self._changed = asyncio.Event()
        self._turned_away: dict[str, int] = {}  # since the last sweep: id, and deaths of its drivers
        self._alone: tuple[str, float] | None = None  # which debate is driven alone, and until when
        self._closed_since = -math.inf  # when the first of those began that were driven alone one after the other
        self._open_until = 0.0  # until then no further debate is driven alone, unless it follows on another
        self._for_itself: set[str] = set()  # debates that wait for room and must be alone

    @property
    def closed(self) -> bool:
        """Whether a debate is driven alone, or is about to be: nothing else may be driven beside it."""
        if self._alone is None:
            return False
        debate_id, until = self._alone
        now = _now()
        if now < until and self.needs_alone(self._inside().get(debate_id, 0)):
            return True
        self._alone, self._open_until = None, now + (min(now, until) - self._closed_since)
        return False

    @property
    def may_close(self) -> bool:
        """Whether a debate may be driven alone now: no other is, and it follows on one, or others had their time."""
        return not self.closed and (_now() >= self._open_until or self._goes_on)

    @property
    def _goes_on(self) -> bool:
        """Whether a debate that must be alone may follow on another, without a time for others in between."""
        return _now() < self._closed_since + self._seconds / 2

    def needs_alone(self, crashes: int) -> bool:
        return together_at_most(crashes, self._limit) == 1

    @property
    def most_beside(self) -> int:
        """As many deaths at most are counted of a debate that is driven beside others, though it should be alone: two
        more alone must follow until it is set aside."""
        return max(0, self._limit - 3)

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
        return crashes < 2 or len(suspected) < min(together_at_most(its, self._limit) for its in (crashes, *suspected))

    def is_overdue(self, waited: float) -> bool:
        """Whether a debate that could have been taken over for so many seconds comes in beside any others. Not where
        one is driven alone, and not in a process that has only begun: after a time without any, all of them would come
        at once."""
        self._began = _now() if self._began is None else self._began
        begun = _now() > self._began + self._seconds * BEGINNING
        return begun and not self.closed and waited > self._seconds * OVERDUE

    def seconds_alone(self, crashes: int) -> float:
        """For how long a debate is driven alone, the time included that the others have to end their steps."""
        # The two deaths that are needed come soon, if it is a debate that kills at once: others wait for that no longer
        # than a lease each time. Only one that has survived it that long is given more.
        return self._seconds * 2 ** min(MOST_DOUBLED, max(0, crashes - self._limit + 1))

    @contextmanager
    def entering(self, debate_id: str, crashes: int, *, beside: bool = False) -> Generator[None]:
        """Count a debate as driven while it is being claimed. One that must be alone closes the process for others,
        unless it may be driven `beside` them."""
        self._entering[debate_id] = crashes
        if not beside and self.needs_alone(crashes) and not self.closed:
            self._closed_since = self._closed_since if self._goes_on else _now()
            self._alone = debate_id, self._closed_since + self.seconds_alone(crashes)
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

    async def room(self, debate_id: str, crashes: int, seconds: float, waited: float = 0.0) -> bool:
        """Wait until a debate may be driven here, at most so many seconds, and not until it is overdue; return whether
        it may. It must enter before anything else is awaited. Where another is driven alone, only one that must be
        alone as well waits, and longer: the others may be driven elsewhere. `waited`: seconds without a driver so
        far."""
        alone = self.needs_alone(crashes)
        if alone:
            self._for_itself.add(debate_id)
            seconds = max(seconds, self._seconds / 2)
        if waited < self._seconds * OVERDUE:
            seconds = min(seconds, self._seconds * OVERDUE - waited)
        try:
            await self._until(
                lambda: (self.closed and not alone) or self.may_enter(debate_id, crashes), _now() + seconds
            )
        finally:
            self._for_itself.discard(debate_id)
        return self.may_enter(debate_id, crashes)

    def should_leave(self, debate_id: str) -> bool:
        """Whether a debate that was driven alone, and has stored a step now, should make room for the next."""
        alone = self._alone is not None and self._alone[0] == debate_id
        waiting = self._for_itself | {each for each, crashes in self._turned_away.items() if self.needs_alone(crashes)}
        return alone and self._goes_on and bool(waiting - {debate_id})

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
        return min((time for time in (*(self._alone or ())[1:], self._open_until) if time > _now()), default=math.inf)

    def _inside(self) -> dict[str, int]:
        """Debates that are driven here, with the deaths that count. A step that was stored clears a debate."""
        driven = {each: 0 if drive.progressed else drive.debate.crashes for each, drive in self._drives.items()}
        return driven | self._entering


def together_at_most(crashes: int, limit: int) -> int:
    """How many debates that are under suspicion after so many deaths are driven beside each other."""
    if crashes >= max(1, limit - 2):
        return 1
    return GROUPS[min(max(crashes, min(GROUPS)), max(GROUPS))]


def _now() -> float:
    return asyncio.get_running_loop().time()


def crashes_of(debate: Debate, owner: str) -> int:
    """How many drivers in a row have died, as of when `owner` claims the debate."""
    if debate.status not in LIVE:
        return 0
    return debate.crashes + (debate.owner not in (None, owner))


def waited_of(debate: Debate, lease_seconds: float, now: float, is_dead: Callable[[str], bool]) -> float:
    """For how many seconds at most another process could have taken a debate over."""
    lease_until = debate.lease_until or 0.0
    free_since = lease_until - lease_seconds if debate.owner is not None and is_dead(debate.owner) else lease_until
    return max(0.0, now - max(debate.updated_at, free_since))


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
