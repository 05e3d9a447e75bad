"""Debates whose processes died: in which company they are driven on, and when one is set aside.

A process that dies takes all its debates along, and one of them may be the reason. Which one is not known: only how
often each was driven by a process that died before a step of it was stored. After the first death a debate is driven on
as any other: a process can die for many reasons. After the second it is under suspicion: servers and workers have it
driven in another process (`moot.runtime.isolation`), together with few others like it, and before the last two deaths
that `crash_limit` allows with none.

A debate that kills its process gets to that limit, as it never stores a step. Another stores one as soon as nothing
beside it takes its process down any more: to be set aside, its process would have to be killed from outside both times.
"""

from __future__ import annotations

import logging

from moot.core.lifecycle import LIVE
from moot.core.types import Debate, Failure, Shown
from moot.store import Commit, Debates
from moot.telemetry import Observer

log = logging.getLogger("moot.runtime")

FROM_DEATHS = 2  # a debate is under suspicion
GROUPS = {2: 10, 3: 3}  # by deaths: how many debates under suspicion are driven beside each other; at last, as the last


def together_at_most(crashes: int, limit: int) -> int:
    """How many debates that are under suspicion after so many deaths are driven beside each other."""
    if crashes >= max(1, limit - 2):
        return 1
    return GROUPS[min(max(crashes, min(GROUPS)), max(GROUPS))]


def is_suspected(crashes: int, limit: int) -> bool:
    return crashes >= FROM_DEATHS or (crashes > 0 and together_at_most(crashes, limit) == 1)


def is_guilty(debate: Debate, owner: str, limit: int) -> bool:
    """Whether `owner`, who is about to claim the debate, should set it aside instead of driving it."""
    return debate.alone and crashes_of(debate, owner) >= limit


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
