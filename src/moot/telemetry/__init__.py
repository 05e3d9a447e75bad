"""Logs, metrics and traces for operators.

The runtime reports to an `Observer`, and a wrapper around each model reports its calls. Both are optional and cost
nothing when absent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from moot.core.script import Step
from moot.core.types import Debate, Failure, Reply, Status, Turn
from moot.store.queue import Swept


class TaskContext(NamedTuple):
    """The debate and step that an asyncio task works on."""

    debate_id: str
    epoch: int
    key: str = ""


task_context: ContextVar[TaskContext | None] = ContextVar("moot_task_context", default=None)

OnResult = Callable[[Reply | Exception], None]


class Observer(Protocol):
    """Is notified of what the runtime does. Its methods are called on the hot path, so they must be fast."""

    def drive(self, debate: Debate) -> AbstractContextManager[None]:
        """Wrap the driving of a debate, from taking it until it rests."""
        ...

    def step(self, debate: Debate, step: Step) -> AbstractContextManager[OnResult]:
        """Wrap the execution of a step. The result is passed to the function that the context yields."""
        ...

    def kept(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Turns were stored."""
        ...

    def failed(self, debate: Debate, step: Step, error: Exception) -> None:
        """A step failed for good and left no turn."""
        ...

    def rested(self, debate: Debate, status: Status, error: Failure | None) -> None:
        """The debate is no longer driven by this process."""
        ...

    def refused(self, debate: Debate) -> None:
        """A commit was rejected: another process has taken the debate over."""
        ...

    def took_over(self, debate: Debate, owner: str) -> None:
        """This process took a debate over from `owner`, whose lease had expired."""
        ...

    def swept(self, swept: Swept) -> None: ...
