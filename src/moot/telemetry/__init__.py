"""What operators can learn of how debates are driven: logs, metrics, traces.

The runtime tells a `Witness`, and models are watched by a wrapper around each call. Where nobody asked for any of it
there is neither, and nothing is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from moot.script import Step
from moot.store.queue import Swept
from moot.types import Debate, Failure, Reply, Status, Turn


class Where(NamedTuple):
    """Where in which debate this task is."""

    debate_id: str
    epoch: int
    key: str = ""


where: ContextVar[Where | None] = ContextVar("moot_where", default=None)

Answered = Callable[[Reply | Exception], None]


class Witness(Protocol):
    """Sees what is done with debates, and changes nothing. It is told on the way, so it is quick."""

    def drive(self, debate: Debate) -> AbstractContextManager[None]:
        """Around everything that this process does with a debate until it rests."""
        ...

    def step(self, debate: Debate, step: Step) -> AbstractContextManager[Answered]:
        """Around the execution of a step."""
        ...

    def kept(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """These are stored."""
        ...

    def failed(self, debate: Debate, step: Step, error: Exception) -> None:
        """A step has failed for good, and left no turn."""
        ...

    def rested(self, debate: Debate, status: Status, error: Failure | None) -> None: ...

    def refused(self, debate: Debate) -> None:
        """A commit came too late: the debate is someone else's."""
        ...

    def took_over(self, debate: Debate, owner: str) -> None:
        """From one that fell silent."""
        ...

    def swept(self, swept: Swept) -> None: ...
