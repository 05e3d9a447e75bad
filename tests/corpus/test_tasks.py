"""The corpus: its facts are checked by running it, in the sandbox that a candidate's code runs in."""

from __future__ import annotations

import ast
import asyncio
import doctest
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from moot.core.errors import InputError
from moot.corpus import CodingTask, recognised, task, tasks
from moot.corpus.tasks import FOLDER
from moot.reasoning.code.cases import CaseRun, passes
from moot.tools.checks.inside.mutate import mutants
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.sandbox import Limits, Sandbox
from moot.tools.scoring import TaskScore, score

Tried = tuple[str, Sequence[str]]  # some code, and a call to it
DOMAINS = sorted({each.domain for each in tasks()})


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


def ran(tried: Sequence[Tried], sandbox: Sandbox) -> list[CaseRun]:
    versions = list(dict.fromkeys(code for code, _ in tried))
    calls = [(versions.index(code), call) for code, call in tried]
    limits = Limits(wall_seconds=200, cpu_seconds=200)
    done = asyncio.run(sandbox.run(cases_job("python", versions, calls, limits, CaseLimits())))
    return list(read_cases(done, len(calls)))


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox()


class TestFacts:
    def test_there_are_enough_and_no_two_are_alike(self):
        assert len(tasks()) >= 60
        assert len(DOMAINS) >= 12
        for name in ("id", "title", "spec", "solution"):
            assert Counter(getattr(each, name) for each in tasks()).most_common(1)[0][1] == 1, name
        assert {each.difficulty for each in tasks()} == {"easy", "medium", "hard"}
        assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < 200_000

    @pytest.mark.parametrize("each", tasks(), ids=lambda each: each.id)
    def test_a_task_is_whole(self, each: CodingTask):
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.id)
        assert 1 <= len(each.given) <= 3
        assert len(each.hidden) >= 6
        assert len(each.probes) >= 6
        assert len(each.mutants) >= 3
        cases = (*each.given, *each.hidden, *each.probes)
        assert [case.problem for case in cases if case.problem] == []
        assert len({case.call for case in cases}) == len(cases) == len(each.calls)
        assert all(any(each.entry in step for step in case.call) for case in cases)
        assert isinstance(ast.parse(each.solution).body[-1], ast.FunctionDef | ast.ClassDef)
        assert each.signature.startswith(f"{each.entry}(")

    @pytest.mark.parametrize("each", tasks(), ids=lambda each: each.id)
    def test_mutants_are_those_of_our_mutator(self, each: CodingTask):
        made = {code for _, _, code in mutants(each.solution)}
        assert {mutant.code.rstrip("\n") for mutant in each.mutants} <= made
        assert len({mutant.code for mutant in each.mutants}) == len(each.mutants)

    def test_the_examples_of_a_text_are_the_given_cases(self):
        for each in tasks():
            found = [example.source.strip() for example in doctest.DocTestParser().get_examples(each.text)]
            assert found == [step for case in each.given for step in case.call]

    def test_a_task_by_its_id(self):
        assert task("merge-shifts").entry == "merge_shifts"
        with pytest.raises(InputError, match="no task 'nothing'.*merge-shifts"):
            task("nothing")


class TestRecognition:
    def test_a_task_is_known_by_its_specification_however_it_is_broken_into_lines(self):
        for each in tasks():
            assert recognised(f"Be quick.\n\n{each.text}\n\nThanks.") is each
            assert recognised("\n".join(each.spec.split(" "))) is each

    def test_anything_else_is_not(self):
        assert recognised("") is None
        assert recognised("Merge shifts that overlap.") is None
        assert recognised(task("merge-shifts").spec.replace("touch", "meet")) is None

    def test_the_first_of_several_counts(self):
        one, two = task("merge-shifts"), task("split-bill")
        assert recognised(f"{two.text}\n{one.text}") is two


class TestRuns:
    @pytest.mark.parametrize("domain", DOMAINS)
    def test_every_solution_passes_all_its_cases(self, domain: str, sandbox: Sandbox):
        here = [each for each in tasks() if each.domain == domain]
        pairs = [(each.solution, case) for each in here for case in (*each.given, *each.hidden, *each.probes)]
        runs = ran([(code, case.call) for code, case in pairs], sandbox)
        wrong = [(case, run) for (_, case), run in zip(pairs, runs, strict=True) if not passes(case, run)]
        assert wrong == []

    @pytest.mark.parametrize("domain", DOMAINS)
    def test_every_mutant_fails_a_hidden_case_and_the_probes_that_are_named(self, domain: str, sandbox: Sandbox):
        pairs = [(each, mutant) for each in tasks() if each.domain == domain for mutant in each.mutants]
        calls = [[list(case.call) for case in (*each.hidden, *each.probes)] for each, _ in pairs]
        tried = [
            (mutant.code + EACH, (f"_each({wanted!r})",)) for (_, mutant), wanted in zip(pairs, calls, strict=True)
        ]
        for (each, mutant), run in zip(pairs, ran(tried, sandbox), strict=True):
            runs = [CaseRun(**found) for found in ast.literal_eval(run.value)]
            passed = list(map(passes, (*each.hidden, *each.probes), runs))
            assert not all(passed[: len(each.hidden)]), mutant.code
            probes = passed[len(each.hidden) :]
            assert tuple(n for n, fine in enumerate(probes) if not fine) == mutant.fails, mutant.code

    def test_score_counts_hidden_cases_alone(self, sandbox: Sandbox):
        each = task("in-base")
        memorised = f"def {each.entry}(*given):\n    return {{(10, 2): '1010', (-255, 16): '-ff'}}[given]\n"

        async def main() -> list[TaskScore]:
            return [await score(each, code, sandbox) for code in (each.solution, memorised, "no python", "x = 1")]

        right, learnt, broken, other = asyncio.run(main())
        assert right.solved
        assert (right.passed, right.of) == (len(each.hidden), len(each.hidden))
        assert [(one.passed, one.solved) for one in (learnt, broken, other)] == [(0, False)] * 3
        assert {run.outcome for run in broken.runs} <= {"raised", "invalid", "died"}
