"""A forge and a single engineer on the same tasks, scored by hidden tests after the outcome."""

from __future__ import annotations

import asyncio
from typing import Any

from challenges.asking import Place, main
from moot.corpus import CodingTask, tasks
from moot.reasoning.code.cases import passes
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import PROCESS, Limits

SKILLS = "seed={seed}&skill=.4&cases=.95&repair=.7&red=.7"
ALONE = ("self_evolvement", "proposal", "adversarial", "convergence")


def challenge(place: Place) -> None:
    solved = {"forge": 0, "single": 0}
    chosen = [task for task in tasks() if task.difficulty == "easy"][:2]
    for seed, task in enumerate(chosen):
        alone = dict.fromkeys(ALONE, False)
        for arm, settings in (("forge", {}), ("single", {"engineers": 1, **alone})):
            done = place.forge(SKILLS.format(seed=seed), topic=task.text, **settings)
            prompts = str(place.get(f"/v1/debates/{done['id']}/audit")["turns"])
            hidden = [case for case in task.hidden if case not in task.given and case not in task.probes]
            shown = [case.call[-1] for case in hidden if case.call[-1] in prompts]
            place.check(f"{task.id}, {arm}: no hidden test was shown", not shown)
            code = _code(place, done)
            solved[arm] += bool(code) and asyncio.run(_passes(code, task))
    place.check(
        f"forge solves as many: {solved['forge']} of {len(chosen)} against {solved['single']}",
        solved["forge"] >= solved["single"],
    )
    place.check("forge solves some", solved["forge"] > 0)


def _code(place: Place, done: Any) -> str:
    """What was delivered; of a single engineer, what it wrote."""
    answer = done["outcome"]["answer"]
    if answer is not None:
        return answer["value"]
    rows = place.rows("code_versions", done["id"], "version_number")
    return rows[0]["code"] if len(rows) == 1 else ""


async def _passes(code: str, task: CodingTask) -> bool:
    job = cases_job("python", [code], [(0, case.call) for case in task.hidden], Limits(), CaseLimits())
    results = read_cases(await PROCESS.run(job), len(task.hidden))
    return all(passes(case, result) for case, result in zip(task.hidden, results, strict=True))


if __name__ == "__main__":
    main(challenge)
