"""The protocol of executors."""

from __future__ import annotations

from typing import Protocol, TypeVar

from moot.core.errors import LimitReached
from moot.core.limits import Limits
from moot.core.steps import Step
from moot.core.types import Answer, Hear, Reply, Usage
from moot.runtime.budget import Allowance, Used

S = TypeVar("S", bound=Step, contravariant=True)

FREE = Allowance(max_tokens=0, tries=0, tokens=0, cost_usd=0.0)


class Executor(Protocol[S]):
    """Executes one kind of step."""

    waits: bool  # a person answers the step: it is never executed
    live: bool  # watchers see the step, and its text, while it is in flight

    def allow(self, step: S, limits: Limits, used: Used, /) -> Allowance | LimitReached:
        """Return what to reserve for the step until it has ended, or the limit that forbids it. `used` is everything
        spent, lost and reserved so far."""
        ...

    async def execute(self, step: S, allowance: Allowance, hear: Hear, /) -> Reply:
        """Execute the step. Raises an exception when it fails. After a crash it is called again for a step without a
        turn: at least once, not exactly once."""
        ...

    def estimate(self, step: S, /) -> Usage:
        """What the step uses at most, without retries."""
        ...

    def cut_off(self, step: S, chars: int, /) -> Usage:
        """An estimate of what the step has used that was cut off after `chars` characters of its answer."""
        ...

    async def rehearse(self, step: S, seed: int, /) -> Reply:
        """Make up a valid answer without a model, person, memory or tool, for estimates."""
        ...


class Uncounted:
    """Of executors whose steps count for nothing until they have ended."""

    def estimate(self, step: Step) -> Usage:
        return Usage()

    def cut_off(self, step: Step, chars: int) -> Usage:
        return Usage()


def typed(answer: Answer) -> Reply:
    return Reply(text=answer.prose(), model="", provider="", answer=answer)
