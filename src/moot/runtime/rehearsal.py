"""Rehearsals: a format played with made-up answers, for estimates and to find what its description lacks."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field

from moot.core.limits import LIMITS
from moot.core.script import AGAIN, Script
from moot.core.steps import Ask
from moot.core.types import Debate, Outcome, Usage
from moot.formats.format import COMMON_PHASES, Format
from moot.runtime.budget import LEAST_TOKENS, Allowance
from moot.runtime.executors import Executors
from moot.runtime.turns import failure_of, turn_of_reply

MOST_CALLS = 1000

_UNLIMITED = Allowance(max_tokens=sys.maxsize, tries=1, tokens=sys.maxsize, cost_usd=0.0)
_AT = {"started_at": 0.0, "created_at": 0.0, "duration_ms": 0}


@dataclass
class Rehearsal:
    """The result of one play with made-up answers of full length."""

    asked: list[Usage] = field(default_factory=list[Usage])  # of each call
    steps: int = 0  # the calls, and what people, memory and tools were asked
    usage: Usage = field(default_factory=Usage)  # with what memory and tools use
    phases: set[str] = field(default_factory=set[str])
    outcome: Outcome | None = None
    error: Exception | None = None  # that the rules raised

    @property
    def calls(self) -> int:
        return len(self.asked)

    def of_first(self, calls: int) -> Usage:
        """What it would use if it ended after so many calls."""
        return self.usage if calls >= self.calls else sum(self.asked[:calls], Usage())

    def of_largest(self, calls: int) -> Usage:
        """What so many calls would use if each were as large, and as dear, as the largest."""
        costs = [each.cost_usd for each in self.asked]
        return Usage(
            tokens_in=calls * max((each.tokens_in for each in self.asked), default=0),
            tokens_out=calls * max((each.tokens_out for each in self.asked), default=0),
            cost_usd=None if None in costs else calls * max((cost or 0.0 for cost in costs), default=0.0),
        )

    @property
    def cut(self) -> bool:
        """Whether it did not come to an outcome."""
        return self.outcome is None


async def rehearse(format_: Format, debate: Debate, executors: Executors, seed: int) -> Rehearsal:
    """Play a debate for at most `MOST_CALLS` calls. Each seed gives other answers."""
    rehearsal = Rehearsal()
    script = format_.script(debate)
    try:
        script.begin()
        while script.open and rehearsal.calls < MOST_CALLS:
            await _take_step(script, executors, seed, rehearsal)
    except Exception as error:  # a plug-in may raise anything
        rehearsal.error = error
    finally:
        script.close()
    rehearsal.outcome, rehearsal.steps = script.outcome, script.turn_count
    return rehearsal


async def _take_step(script: Script, executors: Executors, seed: int, rehearsal: Rehearsal) -> None:
    step = next(iter(script.open.values()))
    executor = executors.of(step)
    used = executor.estimate(step)
    if used.tokens_out > 0:
        rehearsal.asked.append(used)
    rehearsal.usage += used
    rehearsal.phases.add(step.phase)
    reply = await executor.rehearse(step, seed)
    script.resolve(turn_of_reply(step, reply, _UNLIMITED, seq=script.turn_count + 1, **_AT))


def least_tokens(format_: Format, debate: Debate, executors: Executors) -> int:
    """The fewest output tokens with which every model that is asked first is asked at all, with what is kept for the
    closing steps. Call it in a thread."""

    async def first_asked() -> list[Ask]:
        script = format_.script(debate)
        try:
            script.begin()
            while script.open:
                asks = [step for step in script.open.values() if isinstance(step, Ask)]
                if asks:
                    return asks
                await _take_step(script, executors, 0, Rehearsal())
            return []
        finally:
            script.close()

    asks = asyncio.run(first_asked())
    kept = max((step.leave.tokens for step in asks if step.leave), default=0)
    return kept + sum(min(LEAST_TOKENS, step.max_tokens) for step in asks)


def missing_words(format_: Format, rehearsal: Rehearsal) -> list[str]:
    """What a format's description lacks for this rehearsal, each in a sentence."""
    found = [] if rehearsal.error is None else [failure_of(rehearsal.error).message]
    found += [
        f"`phases` has no name for {phase!r}."
        for phase in sorted(rehearsal.phases - format_.phases.keys() - COMMON_PHASES.keys())
        if phase.removesuffix(AGAIN) not in format_.phases
    ]
    outcome = rehearsal.outcome
    if outcome is not None and outcome.ended_by not in {*format_.endings, *LIMITS}:
        found.append(f"`endings` has no words for {outcome.ended_by!r}.")
    return found
