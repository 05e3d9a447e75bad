"""Timing: CPU time of the same calls to two versions, as a ratio, measured in turns in one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from statistics import median
from typing import Literal

from moot.core.errors import ToolError
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Job, Limits, Run

ROUNDS = 5
MOST_CALLS = 20
SHORTEST_MS = 2.0  # of CPU, beyond what an empty call takes; below, noise would be measured

Runs = Callable[[Job], Awaitable[Run]]


async def time_ratio(
    code: str,
    previous: str,
    calls: Sequence[Sequence[str]],
    run: Runs,
    harness: Literal["python", "javascript"],
    limits: Limits,
    each: CaseLimits,
) -> float:
    """CPU time of the code over that of the previous version. Raises ToolError when there is nothing to compare."""
    few = list(calls[:MOST_CALLS])
    nothing = "None" if harness == "python" else "null"
    rounds = [(number, call) for number in (0, 1) for call in few] + [(2, [nothing])] * 3
    made = rounds * ROUNDS
    done = await run(cases_job(harness, [code, previous, ""], made, limits, each))
    results = read_cases(done, len(made))
    wrong = [result.outcome for result in results if result.outcome not in ("returned", "raised", "unreadable")]
    if wrong:
        raise ToolError(f"a call could not be timed ({wrong[0].replace('_', ' ')})")
    empty = median(result.cpu_ms for (number, _), result in zip(made, results, strict=True) if number == 2)
    spent = [_spent(version, len(few), len(rounds), [result.cpu_ms for result in results], empty) for version in (0, 1)]
    if min(spent) < SHORTEST_MS:
        raise ToolError("the calls take too little time to be compared")
    return round(spent[0] / spent[1], 3)


def _spent(version: int, calls: int, a_round: int, times: Sequence[float], empty: float) -> float:
    """CPU time of all calls to a version: for each its quickest of all rounds, less that of an empty call."""
    quickest = [
        min(times[number * a_round + version * calls + call] for number in range(ROUNDS)) - empty
        for call in range(calls)
    ]
    return sum(max(0.0, each) for each in quickest)
