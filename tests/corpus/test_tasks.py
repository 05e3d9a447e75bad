"""The corpus: its facts are checked by running it, in the sandbox that a candidate's code runs in."""

from __future__ import annotations

import ast
import asyncio
import doctest
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from moot.corpus import CodingTask, recognised, tasks
from moot.corpus.tasks import FOLDER
from moot.reasoning.code.cases import Case, CaseRun, passes
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Limits, Sandbox
from tests.corpus.scoring import hidden_passed

DOMAINS = sorted({each.domain for each in tasks()})
BY_ID = {each.id: each for each in tasks()}


# Many calls in one process, for code that is ours: a process for each would take minutes.
EACH = """
def _each(calls):
    found = []
    for call in calls:
        space = dict(globals())
        try:
            for step in call[:-1]:
                exec(step, space)
            found.append({"outcome": "returned", "value": repr(eval(call[-1], space))})
        except Exception as error:
            found.append({"outcome": "raised", "error": type(error).__name__})
    return found
"""


def cases_of(task: CodingTask) -> tuple[Case, ...]:
    return (*task.given, *task.hidden, *task.probes)


def ran(tried: Sequence[tuple[CodingTask, str]]) -> list[list[bool]]:
    """Which cases of its task each code passes."""
    versions = [code + EACH for _, code in tried]
    wanted = [[list(case.call) for case in cases_of(each)] for each, _ in tried]
    calls = [(n, (f"_each({each!r})",)) for n, each in enumerate(wanted)]
    limits = Limits(wall_seconds=200, cpu_seconds=200)
    done = asyncio.run(Sandbox().run(cases_job("python", versions, calls, limits, CaseLimits())))
    runs = [map(made, ast.literal_eval(run.value)) for run in read_cases(done, len(calls))]
    return [list(map(passes, cases_of(each), found)) for (each, _), found in zip(tried, runs, strict=True)]


def made(found: dict[str, str]) -> CaseRun:
    return CaseRun(**found)  # type: ignore[arg-type]


class TestFacts:
    def test_there_are_enough_and_no_two_are_alike(self):
        assert len(tasks()) >= 60
        assert len(DOMAINS) >= 12
        for name in ("id", "title", "spec", "solution"):
            assert Counter(getattr(each, name) for each in tasks()).most_common(1)[0][1] == 1, name
        assert {each.difficulty for each in tasks()} == {"easy", "medium", "hard"}
        assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < 200_000

    def test_every_task_is_whole(self):
        for each in tasks():
            assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.id)
            assert 1 <= len(each.given) <= 3, each.id
            assert len(each.hidden) >= 6, each.id
            assert len(each.probes) >= 6, each.id
            assert len(each.mutants) >= 3, each.id
            cases = cases_of(each)
            assert [case.problem for case in cases if case.problem] == []
            assert len({case.call for case in cases}) == len(cases) == len(each.calls), each.id
            assert all(any(each.entry in step for step in case.call) for case in cases), each.id
            assert isinstance(ast.parse(each.solution).body[-1], ast.FunctionDef | ast.ClassDef), each.id
            assert each.signature.startswith(f"{each.entry}("), each.id

    def test_mutants_differ(self):
        for each in tasks():
            assert len({mutant.code for mutant in each.mutants}) == len(each.mutants), each.id

    def test_the_examples_of_a_text_are_the_given_cases(self):
        for each in tasks():
            found = [example.source.strip() for example in doctest.DocTestParser().get_examples(each.text)]
            assert found == [step for case in each.given for step in case.call]


class TestRecognition:
    def test_a_task_is_known_by_its_specification_however_it_is_broken_into_lines(self):
        for each in tasks():
            assert recognised(f"Be quick.\n\n{each.text}\n\nThanks.") is each
            assert recognised("\n".join(each.spec.split(" "))) is each

    def test_anything_else_is_not(self):
        assert recognised("") is None
        assert recognised("Merge shifts that overlap.") is None
        assert recognised(BY_ID["merge-shifts"].spec.replace("touch", "meet")) is None

    def test_the_first_of_several_counts(self):
        one, two = BY_ID["merge-shifts"], BY_ID["split-bill"]
        assert recognised(f"{two.text}\n{one.text}") is two


@pytest.mark.slow
class TestRuns:
    def test_every_solution_passes_all_its_cases(self):
        for each, passed in zip(tasks(), ran([(each, each.solution) for each in tasks()]), strict=True):
            assert all(passed), each.id

    def test_every_mutant_fails_a_hidden_case_and_the_probes_that_are_named(self):
        pairs = [(each, mutant) for each in tasks() for mutant in each.mutants]
        for (each, mutant), passed in zip(pairs, ran([(each, mutant.code) for each, mutant in pairs]), strict=True):
            hidden, probes = passed[len(each.given) :][: len(each.hidden)], passed[-len(each.probes) :]
            assert not all(hidden), mutant.code
            assert tuple(n for n, fine in enumerate(probes) if not fine) == mutant.fails, mutant.code

    def test_what_passes_the_given_cases_alone_passes_no_hidden_one(self):
        each = BY_ID["in-base"]
        memorised = f"def {each.entry}(*given):\n    return {{(10, 2): '1010', (-255, 16): '-ff'}}[given]\n"

        async def main() -> list[int]:
            codes = (each.solution, memorised, "no python", "x = 1")
            return [await hidden_passed(each, code, Sandbox()) for code in codes]

        assert asyncio.run(main()) == [len(each.hidden), 0, 0, 0]
