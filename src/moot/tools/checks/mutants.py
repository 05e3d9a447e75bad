"""Mutants: would these calls notice a small mistake? One that gives the same results as the code has survived."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.core.errors import ToolError
from moot.reasoning.code.cases import CaseRun
from moot.reasoning.code.literals import parsed
from moot.reasoning.code.values import same
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Job, Limits, Run

PROGRAM = Path(__file__).with_name("inside") / "mutate.py"
MOST_MUTANTS = 30
MOST_CALLS = 20  # to each mutant
EACH = CaseLimits(cpu_seconds=1.0, wall_seconds=5.0)  # a mutant may loop for ever

Runs = Callable[[Job], Awaitable[Run]]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    what: str
    code: str


@dataclass(frozen=True, kw_only=True)
class Mutation:
    made: int
    caught: int
    survivors: tuple[str, ...]


async def mutants_of(code: str, run: Runs, limits: Limits, most: int = MOST_MUTANTS) -> list[Mutant]:
    """At most so many mutants of some Python code, from all over it. Raises ToolError if it can't be parsed."""
    done = await run(
        Job(program=PROGRAM.read_text(), input=json.dumps({"code": code, "most": most}).encode(), limits=limits)
    )
    try:
        found = json.loads(done.results)
    except ValueError:
        raise ToolError("The mutants could not be made: the code is too long or nested too deeply.") from None
    if "problem" in found:
        raise ToolError(f"The code can't be parsed: {found['problem']}.")
    return [Mutant(what=what, code=text) for what, text in found["mutants"]]


async def mutation(code: str, calls: Sequence[Sequence[str]], run: Runs, limits: Limits) -> Mutation:
    """Make mutants of some Python code and see which of them the calls tell from it. Raises ToolError."""
    mutants = await mutants_of(code, run, limits)
    few = list(calls[:MOST_CALLS])
    versions = [code, *(mutant.code for mutant in mutants)]
    made = [(number, call) for number in range(len(versions)) for call in few]
    done = await run(cases_job("python", versions, made, limits, EACH))
    results = read_cases(done, len(made))
    before, caught, survivors = results[: len(few)], 0, list[str]()
    for number, mutant in enumerate(mutants, 1):
        after = results[number * len(few) : (number + 1) * len(few)]
        if any(each.outcome == "not_run" for each in after):
            raise ToolError("The run ended before all mutants were tried.")
        if all(map(alike, before, after)):
            survivors.append(mutant.what)
        else:
            caught += 1
    return Mutation(made=len(mutants), caught=caught, survivors=tuple(survivors))


def alike(one: CaseRun, two: CaseRun) -> bool:
    """Whether two calls led to the same."""
    if one.outcome != two.outcome or one.error != two.error:
        return False
    return one.outcome != "returned" or same(parsed(one.value), parsed(two.value))
