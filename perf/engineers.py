"""Simulated engineers of a known skill, alone, by majority and in a debate about code: `python -m perf.engineers`.

The tasks are those of the corpus, without their examples unless some are given; what solves one is decided by hidden
cases. Each run is a
task and a seed. The code is the corpus's own, so it is run here and not in a sandbox; cheats are not run: they end as
they do in the sandbox, without a value. Everything else is as in any debate.

- forge: the code that it delivers; delivering none solves nothing.
- best single: the one of its engineers whose first code solved the most tasks of all.
- majority: as many engineers as the forge made calls write code, and more than half of it does the same on every probe.
- plurality: of the same code, the largest group that does the same, however small.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from moot.app import App
from moot.client import creating
from moot.core.types import Call, Json, Message
from moot.corpus import CodingTask, tasks
from moot.evaluate.intervals import Interval, paired, tango, wilson
from moot.formats.forge.answers import Solution
from moot.models.coding import Coder, Skills
from moot.models.coding.mistakes import cheats
from moot.reasoning.code.cases import CaseRun, passes
from moot.reasoning.code.written import written_case
from perf.rig import app_in, plan

LIMITS = {"wall_seconds": 60.0, "cpu_seconds": 60.0, "memory_bytes": 1, "processes": 1, "output_bytes": 1}
AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class Ended:
    """One run."""

    task: str
    seed: int
    solved: bool
    delivered: bool
    cheated: bool  # what was delivered is a cheat
    confidence: str
    calls: int
    singles: tuple[bool, ...]  # by engineer: whether its first code is right
    majority: bool
    plurality: bool


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What came of many runs."""

    runs: int
    forge: int
    best_single: int
    majority: int
    plurality: int
    calls: float  # of a forge, on average
    cheats: int
    confidence: Mapping[str, int]
    right_by_confidence: Mapping[str, int]
    over_single: Interval
    over_majority: Interval
    over_plurality: Interval

    def lines(self) -> list[str]:
        def share(name: str, right: int) -> str:
            found = wilson(right, self.runs)
            return (
                f"{name}: {right} of {self.runs} solved, {right / self.runs:.1%} ({found.low:.1%} to {found.high:.1%})"
            )

        def beyond(name: str, by: int, found: Interval) -> str:
            return f"forge beyond {name}: {(self.forge - by) / self.runs:+.1%} ({found.low:+.1%} to {found.high:+.1%})"

        levels = [
            f"{level} {n} ({self.right_by_confidence.get(level, 0)} right)" for level, n in self.confidence.items()
        ]
        return [
            share("forge", self.forge),
            share("best single", self.best_single),
            share("majority", self.majority),
            share("plurality", self.plurality),
            beyond("best single", self.best_single, self.over_single),
            beyond("majority", self.majority, self.over_majority),
            beyond("plurality", self.plurality, self.over_plurality),
            f"calls of a forge: {self.calls:.1f}; cheats delivered: {self.cheats}",
            f"confidence: {', '.join(levels)}",
        ]


def topic(task: CodingTask) -> str:
    kind = "class" if task.solution.startswith("class ") else "function"
    return f"Write a Python {kind} {task.signature}.\n\n{task.spec}"


@cache
def ran(code: str, call: tuple[str, ...]) -> CaseRun:
    """What a call of the corpus's own code leads to."""
    if code.strip() not in _honest():
        return CaseRun(outcome="died", error="no value")
    space: dict[str, Any] = {}
    try:
        exec(code, space)
        for statement in call[:-1]:
            exec(statement, space)
        return CaseRun(outcome="returned", value=repr(eval(call[-1], space)))
    except Exception as error:
        return CaseRun(outcome="raised", error=type(error).__name__, message=str(error))


@cache
def _honest() -> frozenset[str]:
    return frozenset(
        code.strip() for task in tasks() for code in (task.solution, *(mutant.code for mutant in task.mutants))
    )


def right(code: str, task: CodingTask) -> bool:
    return all(passes(case, ran(code, case.call)) for case in (*task.hidden, *task.probes, *task.given))


async def _cases(arguments: Json, texts: Mapping[str, str], /) -> Json:
    code = texts[arguments["version"]]
    results = [ran(code, tuple(call)).model_dump(mode="json") for call in arguments["calls"]]
    return {"results": results, "limits": LIMITS, "fingerprint": "in process"}


async def _checks(arguments: Json, texts: Mapping[str, str], /) -> Json:
    return {"missing": arguments["tools"], "fingerprint": "in process"}


def written(skills: Skills, task: CodingTask, seed: int, n: int) -> str:
    """The code that the n-th engineer of a crowd writes."""
    prompt = Message(role="user", text=topic(task))
    call = Call(key=f"{n}/write/crowd", seat=f"crowd{n}", messages=[prompt], max_tokens=4000, returns=Solution)
    text = Coder(skills).answer(call, seed)
    assert text is not None
    return Solution.from_text(text).code


def crowd(skills: Skills, task: CodingTask, seed: int, calls: int) -> tuple[bool, bool]:
    """Whether code that more than half of the engineers agree on is right, and that of the largest group."""
    groups = Counter[tuple[str, ...]]()
    codes: dict[tuple[str, ...], str] = {}
    for n in range(calls):
        code = written(skills, task, seed, n)
        runs = [ran(code, case.call) for case in task.probes]
        does = tuple(f"{run.outcome} {run.value} {run.error}" for run in runs)
        groups[does] += 1
        codes.setdefault(does, code)
    does, size = groups.most_common(1)[0]
    largest = right(codes[does], task)
    return largest and size * 2 > calls, largest


async def one(app: App, options: str, task: CodingTask, seed: int, settings: Json, given: int = 0) -> Ended:
    """With so many tests of the task `given`."""
    spec = f"sim:?seed={seed}&{options}"
    cases = [written_case(case) for case in task.given[:given]]
    chosen: Json = {"clarify": "judge", "recall_decisions": False, "hooks": [], "cases": cases, **settings}
    debate = await creating.create(app, plan(app, spec, format="forge", settings=chosen, topic=topic(task)))
    await app.runtime.start(debate.id)
    done = await app.runtime.wait(debate.id)
    if done.status != "completed" or done.outcome is None:
        raise RuntimeError(f"{task.id}, seed {seed}: it is {done.status}: {done.error}")
    turns = await app.runtime.store.turns(debate.id)
    calls = sum(1 + len(turn.metadata.get("attempts", ())) for turn in turns if turn.kind == "ask")
    first = {turn.seat: turn.data["code"] for turn in turns if turn.phase == "write" and turn.data}
    answer = None if done.outcome.answer is None else str(done.outcome.answer.value)
    skills = Skills.model_validate(dict(pair.split("=") for pair in options.split("&")))
    agreed, largest = crowd(skills, task, seed, calls)
    return Ended(
        task=task.id,
        seed=seed,
        solved=answer is not None and right(answer, task),
        delivered=answer is not None,
        cheated=answer is not None and any(answer.strip() == cheat.strip() for cheat in cheats(task)),
        confidence="none" if done.outcome.confidence is None else done.outcome.confidence.level,
        calls=calls,
        singles=tuple(seat in first and right(first[seat], task) for seat in ("e1", "e2", "e3")),
        majority=agreed,
        plurality=largest,
    )


async def many(folder: Path, options: str, runs: int, settings: Json, start: int = 0, given: int = 0) -> list[Ended]:
    """Runs over shuffled tasks, each task as often as any other."""
    order = [*tasks()]
    Random(start).shuffle(order)
    async with app_in(folder) as app:
        app.tools.update({"cases": _cases, "checks": _checks})
        free = asyncio.Semaphore(AT_ONCE)

        async def limited(n: int) -> Ended:
            async with free:
                return await one(app, options, order[n % len(order)], start + n, settings, given)

        return [*await asyncio.gather(*(limited(n) for n in range(runs)))]


def shares(ended: Sequence[Ended]) -> Shares:
    forge = [each.solved for each in ended]
    by_engineer = [[each.singles[n] for each in ended] for n in range(3)]
    single = max(by_engineer, key=sum)
    majority, plurality = [each.majority for each in ended], [each.plurality for each in ended]
    return Shares(
        runs=len(ended),
        forge=sum(forge),
        best_single=sum(single),
        majority=sum(majority),
        plurality=sum(plurality),
        calls=sum(each.calls for each in ended) / len(ended),
        cheats=sum(each.cheated for each in ended),
        confidence=Counter(each.confidence for each in ended),
        right_by_confidence=Counter(each.confidence for each in ended if each.solved),
        over_single=tango(paired(forge, single)),
        over_majority=tango(paired(forge, majority)),
        over_plurality=tango(paired(forge, plurality)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.engineers", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=240, help="how many, each a task and a seed")
    parser.add_argument("--model", default="skill=.6&cases=.85&repair=.5&red=.5", help="options of the simulated model")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--given", type=int, default=0, help="how many tests of each task are given")
    parser.add_argument("--json", type=Path, help="write every run to this file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = {"preset": given.preset}
        ended = asyncio.run(many(Path(folder), given.model, given.runs, settings, given.start, given.given))
    print(f"sim:?{given.model}, preset {given.preset}, seeds {given.start} to {given.start + given.runs - 1}")
    print("\n".join(shares(ended).lines()))
    if given.json:
        given.json.write_text(json.dumps([each.__dict__ for each in ended], indent=1))


if __name__ == "__main__":
    main()
