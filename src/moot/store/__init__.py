"""Where debates are kept. One small protocol; each backend passes the same contract suite (tests/store)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from moot.types import Cursor, Debate, Event, Failure, Gate, Json, Shown, Status, Turn, Usage, record


@record
class Commit:
    """What one step of a debate changes, or several that ended together. All of it is stored, or nothing."""

    debate_id: str
    epoch: int  # refused when someone else has taken the debate since
    turns: Sequence[Turn] = ()
    cursor: Cursor | None = None
    events: Sequence[Shown] = ()
    shown: int = 0  # how many of the events are the script's own
    status: Status | None = None
    total_rounds: int = 0
    outcome: Json | None = None
    error: Failure | None = None
    lost: Usage | None = None  # paid for, but no turn came of it
    gates: Sequence[Gate] = ()  # opened; one that is open already only gets its new time
    release: bool = False  # let go of the lease


@record
class Committed:
    status: Status
    events: Sequence[Event]


@record
class Page:
    debates: Sequence[Debate]
    next: str | None = None  # give it as `after` to see what comes next


@record
class Pulse:
    """What the store answers to a process that says it is alive."""

    statuses: Mapping[str, Status] = field(default_factory=dict[str, Status])  # of debates that are still its own
    lost: Collection[str] = ()  # taken over, canceled or gone


class Store(Protocol):
    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate: ...

    async def get(self, debate_id: str) -> Debate:
        """Raises NoSuchDebate."""
        ...

    async def find(self, prefix: str) -> Sequence[str]:
        """Ids that begin so, at most ten."""
        ...

    async def page(
        self, *, status: Status | None = None, format: str | None = None, limit: int = 20, after: str | None = None
    ) -> Page:
        """Newest first."""
        ...

    async def turns(self, debate_id: str, after: int = 0) -> Sequence[Turn]: ...

    async def events(self, debate_id: str, after: int = 0, limit: int = 1000) -> Sequence[Event]: ...

    async def claim(
        self, debate_id: str, owner: str, seconds: float, *, expect: Collection[Status], dead: str | None = None
    ) -> Debate | None:
        """Take the debate to drive it: raises its epoch, sets it running. None when its status is not one of
        `expect`, or a live lease is in the way. A lease of the owner `dead` is never in the way."""
        ...

    async def commit(self, commit: Commit) -> Committed | None:
        """None when the debate is no longer this epoch's to change."""
        ...

    async def move(
        self, debate_id: str, to: Status, *, expect: Collection[Status], events: Sequence[Shown] = ()
    ) -> Debate | None:
        """Change the status from outside. None when it is not one of `expect`."""
        ...

    async def pulse(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> Pulse:
        """Say which debates are still being driven; renews their leases when `seconds` is given."""
        ...

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        """Debates that should be running, but whose driver is silent past its lease, or dead."""
        ...

    async def gates(self, debate_id: str | None = None, *, expired: bool = False) -> Sequence[Gate]:
        """Of one debate: all its gates. Of all debates: the open ones, oldest first; with `expired` only those whose
        time is over."""
        ...

    async def decide(self, debate_id: str, key: str, decision: Json, *, by: str) -> Gate | None:
        """Answer an open gate. None when it is not open: of two who answer at once, one wins."""
        ...

    async def close(self) -> None: ...
