"""The simulated engineer: what it answers to each kind of prompt, and that its rates are those that are set."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterator

import pytest

from moot.core.types import Answer, Message, Sampling
from moot.corpus import CodingTask, tasks
from moot.formats.forge.answers import (
    Approaches,
    Attack,
    Improvement,
    OwnPlan,
    Predictions,
    Questions,
    Readings,
    Repair,
    Review,
    Solution,
    Teaching,
    Tests,
    ballot_over,
    critique_of,
)
from moot.models.coding.mistakes import cheats
from moot.models.providers.sim import sim_model
from moot.models.shape import read_answer
from moot.models.spec import parse
from moot.reasoning.code.cases import Case
from moot.reasoning.code.literals import parsed
from moot.reasoning.code.values import same
from moot.reasoning.code.written import case_of, code_in
from moot.reasoning.fence import fence
from moot.tools.sandbox import Sandbox
from tests.corpus.scoring import hidden_passed
from tests.models.calls import Listener, Score, call

pytestmark = pytest.mark.slow

TASKS = {each.id: each for each in tasks()}
ONE = TASKS["merge-shifts"]


def said(options: str, text: str, returns: type[Answer] | None = None, **more: object) -> str:
    given = {"messages": (Message(role="user", text=text),), "max_tokens": 100_000, "returns": returns, **more}
    return asyncio.run(sim_model(parse(f"sim:?{options}")[0])(call(**given), Listener())).text


def asked(options: str, text: str, returns, **more: object):
    read = read_answer(said(options, text, returns, **more), returns)
    assert isinstance(read, returns)
    return read


def near(count: int, of: int, share: float) -> bool:
    """Within five standard deviations; seeds are fixed, so this passes always or never."""
    return abs(count - of * share) <= 5 * math.sqrt(of * max(share * (1 - share), 0.01))


def each_task(seeds: int) -> Iterator[tuple[CodingTask, int]]:
    return ((each, seed) for each in tasks() for seed in range(seeds))


def right(each: CodingTask, case: Case) -> bool:
    known = each.calls["; ".join(case.call)]
    if known.raises or case.raises:
        return known.raises == case.raises
    return same(parsed(known.expected), parsed(case.expected))


def shown(each: CodingTask, code: str, label: str = "v1") -> str:
    quoted = fence(code, of=label, at="1/x")
    return f"The task:\n\n{each.text}\n\n{label}, Ada. It passes 1 of 2 tests.\n{quoted}\n\nGo on."


class TestCode:
    def test_it_is_the_solution_as_often_as_the_skill_says_and_else_a_mutant_of_it(self):
        found = Counter(
            _kind(each, asked(f"skill=.6&seed={seed}", each.text, Solution).code) for each, seed in each_task(6)
        )
        assert found.keys() == {"right", "mutant"}
        assert near(found["right"], found.total(), 0.6)

    def test_equal_seeds_steps_and_seats_give_equal_code_and_others_do_not(self):
        def codes(**more: object) -> list[str]:
            return [asked("skill=.5&seed=3", each.text, Solution, **more).code for each in tasks()]

        assert codes() == codes()
        others = [codes(key="1/say/b"), codes(seat="b"), codes(sampling=Sampling(seed=9))]
        assert all(other != codes() for other in others)

    def test_cheats_come_as_often_as_set(self):
        kinds = [_kind(each, asked(f"cheat=.3&seed={seed}", each.text, Solution).code) for each, seed in each_task(4)]
        assert near(kinds.count("cheat"), len(kinds), 0.3)
        assert "cheat" not in [_kind(each, asked("skill=.5", each.text, Solution).code) for each in tasks()]

    def test_no_cheat_solves_anything(self):
        sandbox = Sandbox()

        async def main() -> list[tuple[str, int]]:
            chosen = [TASKS["merge-shifts"], TASKS["stock-ledger"]]
            passed = [(code, await hidden_passed(each, code, sandbox)) for each in chosen for code in cheats(each)]
            return [(code, cases) for code, cases in passed if cases]

        assert asyncio.run(main()) == []

    def test_a_family_shares_its_mistakes(self):
        def alike(options: str) -> int:
            two = [
                [asked(f"skill=.5&seed=1&{options}", each.text, Solution, key=f"0/write/{seat}", seat=seat).code]
                for each in tasks()
                for seat in ("a", "b")
            ]
            return sum(one == other for one, other in zip(two[::2], two[1::2], strict=True))

        assert alike("rho=1&family=x") == len(tasks())
        assert alike("rho=0") < alike("rho=.7") < len(tasks())
        one, other = ([asked(f"rho=1&family={f}", e.text, Solution).code for e in tasks()] for f in "xy")
        assert one != other


class TestTests:
    def test_values_are_right_as_often_as_set_and_hidden_cases_never_shown(self):
        good = total = 0
        for each, seed in each_task(3):
            cases = asked(f"cases=.85&seed={seed}", each.text, Tests).cases
            assert not {case.call for case in cases} & {case.call for case in each.hidden}
            good, total = good + sum(right(each, case) for case in cases), total + len(cases)
        assert total > 1000
        assert near(good, total, 0.85)

    def test_oracles_predict_known_calls_and_leave_the_others_open(self):
        good = total = 0
        for each, seed in each_task(3):
            calls = [*(case.call for case in each.probes), (f"{each.entry}(object())",)]
            listed = "\n".join(f"{n}: {' '.join('; '.join(call).split())}" for n, call in enumerate(calls, 1))
            text = f"{each.text}\n\nCalls:\n\n{listed}\n\nEnd with:\n\n```predictions\n1: [1, 2]\n```"
            given = asked(f"cases=.7&seed={seed}", text, Predictions).predictions
            assert [one.number for one in given] == list(range(1, len(calls) + 1))
            assert given[-1].unspecified
            for case, one in zip(each.probes, given[:-1], strict=True):
                good += right(each, Case(call=case.call, expected=one.expected, raises=one.raises))
                total += 1
        assert near(good, total, 0.7)


class TestAttacks:
    def test_red_finds_what_is_wrong_as_often_as_set(self):
        found = total = 0
        for each, seed in each_task(2):
            for mutant in each.mutants:
                if mutant.fails:
                    attack = asked(f"red=.5&cases=1&seed={seed}", shown(each, mutant.code), Attack).cases
                    hits = {each.probes.index(case) for case in attack if case in each.probes}
                    assert hits <= set(mutant.fails)
                    found, total = found + bool(hits), total + 1
        assert total > 500
        assert near(found, total, 0.5)

    def test_against_the_solution_there_is_nothing_but_bluff(self):
        attacks = [asked("red=1", shown(each, each.solution), Attack).cases for each in tasks()]
        assert not any(right(each, case) for each, cases in zip(tasks(), attacks, strict=True) for case in cases)
        assert 0 < sum(map(bool, attacks)) < len(attacks)

    def test_issues_name_the_version_and_a_test_that_it_fails(self):
        returns = critique_of(("v1", "v2"))
        raised = Counter[str]()
        wanted = [(each, mutant) for each in tasks() for mutant in each.mutants[:1] if mutant.fails]
        for each, mutant in wanted:
            text = shown(each, each.solution) + shown(each, mutant.code, "v2")
            for issue in asked("red=1&cases=1", text, returns).issues:
                raised[issue.version] += 1
                case = case_of(issue.case)
                assert case is not None
                assert each.probes.index(case) in mutant.fails
        assert raised == {"v2": len(wanted)}
        assert len(wanted) > 60

    def test_of_unknown_code_nothing_is_known_but_that_it_should_pass(self):
        text = shown(ONE, "def merge_shifts(shifts):\n    return shifts\n")
        (issue,) = asked("red=1&cases=1", text, critique_of(("v1",))).issues
        assert case_of(issue.case) in ONE.probes


class TestRepairs:
    def test_a_mistake_is_repaired_as_often_as_set(self):
        repaired = [
            asked(f"repair=.5&seed={seed}", shown(each, mutant.code), Repair).code == each.solution
            for each, seed in each_task(2)
            for mutant in each.mutants
        ]
        assert near(sum(repaired), len(repaired), 0.5)

    def test_a_failed_repair_changes_nothing_or_makes_another_mistake(self):
        codes = [(mutant, asked("repair=0&skill=0", shown(ONE, mutant.code), Repair).code) for mutant in ONE.mutants]
        assert all(_kind(ONE, code) == "mutant" for _, code in codes)
        assert Counter(asked(f"repair=0&seed={n}", shown(ONE, codes[0][0].code), Repair).code for n in range(30))[
            codes[0][0].code
        ] in range(8, 28)

    @pytest.mark.parametrize(
        ("options", "returns", "share"),
        [
            pytest.param("skill=0&repair=.5", Solution, 0.5, id="who sees it may take it over"),
            pytest.param("skill=.9&repair=.2", Repair, 0.9, id="it is seldom spoilt"),
        ],
    )
    def test_a_solution_that_is_shown(self, options: str, returns: type[Answer], share: float):
        kept = [asked(options, shown(each, each.solution), returns).code == each.solution for each in tasks()]
        assert near(sum(kept), len(kept), share)

    def test_each_issue_is_answered_and_code_changes_only_when_one_is_accepted(self):
        text = shown(ONE, ONE.mutants[0].code) + "\n\nIssues:\n\n1: high, by Bo: “wrong”\n2: low, by Cy: “odd”\n"
        yes, no = asked("repair=1", text, Review), asked("repair=0&seed=3", text, Review)
        assert [(one.number, one.accepted) for one in yes.answers] == [(1, True), (2, True)]
        assert yes.code == ONE.solution
        assert [one.accepted for one in no.answers] == [no.code is not None] * 2

    def test_an_improvement_keeps_the_code_or_spoils_it(self):
        assert asked("skill=1", shown(ONE, ONE.mutants[0].code), Improvement).code == ONE.mutants[0].code
        spoilt = asked("skill=0", shown(ONE, ONE.solution), Improvement).code
        assert _kind(ONE, spoilt) == "mutant"


class TestOtherAnswers:
    def test_ballots_put_what_is_right_first_as_often_as_the_skill_says(self):
        returns = ballot_over(("v1", "v2", "v3"))
        first = Counter[str]()
        for each, seed in each_task(3):
            texts = [(each.mutants[0].code, "v1"), (each.mutants[1].code, "v2"), (each.solution, "v3")]
            text = each.text + "".join(shown(each, code, label) for code, label in texts)
            ranking = asked(f"skill=.7&seed={seed}", text, returns).ranking
            assert sorted(ranking) == ["v1", "v2", "v3"]
            first[ranking[0]] += 1
        assert near(first["v3"], first.total(), 0.7 + 0.3 / 3)

    def test_questions_plans_and_lessons(self):
        assert asked("skill=1", ONE.text, Questions).questions == []
        plan = asked("skill=1", f"{ONE.text}\n\n4 engineers write the whole code.", Approaches)
        assert (plan.interface, len(set(plan.approaches))) == (ONE.signature, 4)
        assert asked("skill=1", ONE.text, OwnPlan).interface == ONE.signature
        readings = asked("skill=1", f"{ONE.text}\n\n1. What if it is empty?\n2. And if not?", Readings)
        assert [(one.number, one.stated) for one in readings.answers] == [(1, False), (2, False)]
        taught = asked("skill=1", f"{ONE.text}\n\n1. Ada, attempt 1: failed.\n2. Ada, attempt 2: passed.", Teaching)
        assert [one.cites for one in taught.lessons] == [[1]]
        assert "chosen" not in taught.explanation  # whether a version was is not said here
        assert asked("skill=1", ONE.text, Teaching).lessons == []


class TestOrdinary:
    def test_unknown_tasks_and_shapes_are_answered_like_by_the_ordinary_model(self):
        unknown = "Write a function that adds two numbers."
        for returns in (None, Score, Solution, Tests, Predictions):
            assert said("skill=.6", unknown, returns) == said("seed=0", unknown, returns)
        assert said("skill=.6", ONE.text, Score) == said("seed=0", ONE.text, Score)
        assert said("skill=.6", ONE.text, Predictions) == said("seed=0", ONE.text, Predictions)

    def test_without_its_options_it_writes_no_code(self):
        assert ONE.entry not in said("seed=1", ONE.text)
        for option in ("skill=.6", "cases=.85", "repair=.5", "red=.5", "cheat=.1", "rho=.2", "family=x"):
            assert f"def {ONE.entry}" in code_in(said(option, ONE.text))

    def test_failures_and_garbage_still_happen(self):
        assert said("skill=1&garbage=1", ONE.text, Solution).startswith("As a simulated model")


def _kind(each: CodingTask, code: str) -> str:
    if code == each.solution:
        return "right"
    if code in cheats(each):
        return "cheat"
    return "mutant" if code in {mutant.code for mutant in each.mutants} else "unknown"
