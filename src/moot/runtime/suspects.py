"""Which debates a process drives beside each other, after processes have died.

A process that dies takes all its debates along, and one of them may be the reason. Which one is not known: only how
often each was driven by a process that died before a step of it was stored. The more often, the less company it gets:

- after the first death, any: a process can die for many reasons;
- after the second, at most `GROUP` such debates at once, beside others that are not under suspicion;
- before the last two deaths that `crash_limit` allows, none: the process drives it alone until a step of it is stored.

A debate that kills its process gets to that limit, as it never stores a step. Another leaves at its first step, as no
debate beside it takes its process down any more: to be set aside, its process would have to be killed from outside both
times.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from moot.core.lifecycle import LIVE
from moot.core.types import Debate, Failure, Shown
from moot.runtime.drive import Drive
from moot.store import Commit, Store
from moot.telemetry import Observer

log = logging.getLogger("moot.runtime")

GROUP = 10


class Suspects:
    def __init__(self, drives: Mapping[str, Drive], crash_limit: int) -> None:
        """`drives`: what this process drives, by id."""
        self._drives, self._limit = drives, crash_limit
        self._entering: dict[str, int] = {}  # being claimed: id, and deaths of its drivers
        self._entered = asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether a debate is driven alone, or is about to be: nothing else may be driven beside it."""
        return any(map(self.needs_alone, self._inside().values()))

    def needs_alone(self, crashes: int) -> bool:
        return crashes >= max(1, self._limit - 2)

    def is_guilty(self, debate: Debate, owner: str) -> bool:
        """Whether `owner`, who is about to claim the debate, should set it aside instead of driving it."""
        return debate.alone and crashes_of(debate, owner) >= self._limit

    def admits(self, debate_id: str, crashes: int) -> bool:
        """Whether a debate may be driven beside those that are driven here."""
        others = self.others(debate_id)
        if any(map(self.needs_alone, others)):
            return False
        if self.needs_alone(crashes):
            return not others
        return crashes < 2 or sum(other >= 2 for other in others) < GROUP

    @contextmanager
    def entering(self, debate_id: str, crashes: int) -> Generator[None]:
        """Count a debate as driven while it is being claimed."""
        self._entering[debate_id] = crashes
        try:
            yield
        finally:
            self._entering.pop(debate_id, None)  # two deliveries of one debate may enter at once
            self._entered.set()

    def others(self, debate_id: str) -> list[int]:
        """The deaths that count, of every debate here but one."""
        return [crashes for each, crashes in self._inside().items() if each != debate_id]

    async def changed(self) -> None:
        """Wait until a debate has been claimed, or could not be."""
        self._entered.clear()
        await self._entered.wait()

    def _inside(self) -> dict[str, int]:
        """Debates that are driven here, with the deaths that count. A step that was stored clears a debate."""
        driven = {each: 0 if drive.progressed else drive.debate.crashes for each, drive in self._drives.items()}
        return driven | self._entering


def crashes_of(debate: Debate, owner: str) -> int:
    """How many drivers in a row have died, as of when `owner` claims the debate."""
    if debate.status not in LIVE:
        return 0
    return debate.crashes + (debate.owner not in (None, owner))


async def set_aside(store: Store, claimed: Debate, observer: Observer | None) -> None:
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
