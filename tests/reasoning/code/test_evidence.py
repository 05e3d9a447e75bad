"""Which tests count, and which version they choose."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.code.cases import Case, CaseRun
from moot.reasoning.code.evidence import (
    Runs,
    Settled,
    Statement,
    attack_holds,
    contested,
    quality_score,
    settle,
    weight,
)
from moot.reasoning.code.selection import Measured, by_evidence, classes, measured, ordered, simplest

CALL = ("f(1)",)
ONE, TWO, OPEN = Statement(expected="1"), Statement(expected="2"), Statement()
RAISES = Statement(raises="ValueError")


def returned(value: str) -> CaseRun:
    return CaseRun(outcome="returned", value=value)


def stands(*said: Statement, asked: int | None = None, **more) -> str:
    return settle(CALL, given=None, said=said, asked=len(said) if asked is None else asked, **more).standing


def test_an_expected_value_counts_when_two_blind_seats_and_most_of_those_asked_state_it():
    assert stands() == "unconfirmed"
    assert stands(ONE) == "unconfirmed"
    assert stands(ONE, ONE) == "agreed"
    assert stands(ONE, Statement(expected="1.0")) == "agreed"
    assert stands(ONE, TWO) == "disputed"
    assert stands(ONE, TWO, ONE) == "agreed"
    assert stands(ONE, ONE, TWO, TWO) == "disputed"
    assert stands(ONE, ONE, asked=4) == "disputed"
    assert stands(RAISES, RAISES) == "agreed"
    assert stands(RAISES, ONE) == "disputed"
    assert stands(OPEN, OPEN, ONE) == "unspecified"
    assert stands(OPEN, ONE) == "unspecified"
    assert stands(ONE, ONE, OPEN) == "agreed"
    assert stands(ONE, ONE, stable=False) == "quarantined"


def test_a_given_test_stands_whatever_anyone_says():
    mine = Case(call=CALL, expected="3")
    settled = settle(CALL, given=mine, said=(ONE, ONE), asked=2, stable=False)
    assert (settled.standing, settled.case, settled.counts) == ("given", mine, True)


STATEMENTS = st.lists(st.sampled_from([ONE, TWO, RAISES, OPEN]), max_size=6)


@given(STATEMENTS, st.randoms(use_true_random=False))
def test_the_order_of_statements_makes_no_difference(said, rng: random.Random):
    assert stands(*said) == stands(*rng.sample(said, len(said)))


@given(STATEMENTS)
def test_what_is_agreed_was_stated_by_most_of_them(said):
    settled = settle(CALL, given=None, said=said, asked=len(said))
    if settled.standing == "agreed":
        behind = [
            each
            for each in said
            if settled.case and (each.expected, each.raises) == (settled.case.expected, settled.case.raises)
        ]
        assert len(behind) >= 2
        assert 2 * len(behind) > len(said)


def test_what_was_not_run_is_neither_passed_nor_failed():
    runs, case = Runs(), Case(call=CALL, expected="1")
    assert runs.passes("v", case) is None
    runs.add("v", [CALL], [CaseRun(outcome="not_run")])
    assert runs.passes("v", case) is None
    assert not runs.has("v")
    runs.add("v", [CALL], [returned("1")])
    assert runs.passes("v", case) is True
    runs.add("v", [CALL], [CaseRun(outcome="timed_out")])
    assert runs.passes("v", case) is False


def test_one_version_that_differs_between_runs_does_not_take_a_test_out_of_the_count():
    runs, case = Runs(), Case(call=CALL, expected="1")
    for version in ("a", "b"):
        runs.add(version, [CALL, CALL], [returned("1"), returned("1")])
    runs.add("c", [CALL, CALL], [returned("1"), returned("2")])
    assert runs.stable(CALL, ["a", "b", "c"])
    assert runs.passes("c", case) is False
    runs.add("b", [CALL], [returned("7")])
    assert not runs.stable(CALL, ["a", "b", "c"])
    assert runs.stable(CALL, ["a", "bc"])  # both by one author
    assert runs.stable(CALL, ["b"])


def test_contested_calls_come_with_those_first_that_part_the_versions_evenly():
    runs, calls = Runs(), [("f(1)",), ("f(2)",), ("f(3)",)]
    for version, values in {"a": "111", "b": "112", "c": "122", "d": "122"}.items():
        runs.add(version, calls, [returned(value) for value in values])
    assert contested(runs, ["a", "b", "c", "d"], calls) == (("f(2)",), ("f(3)",))


def test_an_attack_holds_only_if_it_is_agreed_fails_twice_and_no_given_test_says_otherwise():
    case = Case(call=CALL, expected="1")
    agreed = Settled(call=CALL, standing="agreed", case=case)
    runs = Runs()
    runs.add("v", [CALL], [returned("2")])
    assert not attack_holds(case, agreed, [], runs, "v")
    runs.add("v", [CALL], [returned("2")])
    assert attack_holds(case, agreed, [], runs, "v")
    assert not attack_holds(case, agreed, [Case(call=CALL, expected="2")], runs, "v")
    assert not attack_holds(case, Settled(call=CALL, standing="disputed"), [], runs, "v")
    assert not attack_holds(Case(call=CALL, expected="5"), agreed, [], runs, "v")
    runs.add("v", [CALL], [returned("1")])
    assert not attack_holds(case, agreed, [], runs, "v")


def test_weights_are_shares_and_never_none():
    assert (weight(0, 0), weight(3, 4), weight(0, 4)) == (Fraction(1, 2), Fraction(2, 3), Fraction(1, 6))
    with pytest.raises(ValueError):
        weight(2, 1)


def test_quality_is_null_where_nothing_ran_and_weighs_what_was_measured():
    assert quality_score(None, types=1, security=1, maintainability=1) is None
    assert quality_score(1.0, types=1, security=1, maintainability=1) == 1
    assert quality_score(0.5, types=0, security=1, maintainability=0.5) == 0.5
    assert quality_score(0.5, types=None, security=None, maintainability=None) == 0.5


def version(name: str, **more) -> Measured:
    return Measured(**{"name": name, "author": name, "number": ord(name[0]), "ran": True, "shows": (name,), **more})


@pytest.mark.parametrize(
    ("versions", "winner", "by"),
    [
        (
            [version("a", given=(False,), agreed=(True, True)), version("b", given=(True,), agreed=(False, False))],
            "b",
            "given",
        ),
        ([version("a", agreed=(True, False)), version("b", agreed=(True, True))], "b", "agreed"),
        ([version("a"), version("b", shows=("x",)), version("c", shows=("x",))], "", "class"),
        ([version("a", high_findings=1), version("b", high_findings=0)], "b", "security"),
        ([version("a")], "a", "only"),
        ([version("a"), version("b")], "", "tie"),
        ([version("a", given=(None,)), version("b", given=(False,))], "", "given"),
        ([version("a", ran=False)], "", "given"),
        ([version("a", ran=False), version("b")], "b", "ran"),
    ],
)
def test_evidence_selects_in_a_stated_order(versions, winner, by):
    choice = by_evidence(versions)
    assert (choice.winner.name if choice.winner else "", choice.by) == (winner, by)


def test_one_author_twice_is_not_two_authors():
    versions = [
        version("a", shows=("x",), author="e1"),
        version("b", shows=("x",), author="e1"),
        version("c", author="e2"),
    ]
    assert [len(each.authors) for each in classes(versions)] == [1, 1]
    assert by_evidence(versions).by == "tie"


def test_of_leaders_that_behave_alike_the_simpler_or_earlier_one_is_taken_and_others_stay_tied():
    alike = by_evidence([version("b", shows=("x",), complexity=3.0), version("a", shows=("x",), complexity=2.0)])
    assert (simplest(alike).winner.name, simplest(alike).by, simplest(alike).then) == ("a", "tie", ("complexity",))
    equal = by_evidence([version("b", shows=("x",)), version("a", shows=("x",))])
    assert (simplest(equal).winner.name, simplest(equal).by, simplest(equal).then) == ("a", "tie", ("alike",))
    assert simplest(by_evidence([version("a"), version("b")])).winner is None


def test_a_tie_break_does_not_hide_the_rule_that_left_the_leaders():
    """An earlier version that did the same is excluded: its author did not know what a person said."""
    same = {"shows": ("x",), "complexity": 1.0}
    heard = simplest(by_evidence([version("a", **same), version("b", heard=1, **same), version("c", heard=1, **same)]))
    assert (heard.winner.name, heard.by, heard.then) == ("b", "heard", ("alike",))
    failing = version("a", given=(False,), complexity=1.0)
    others = [version(name, given=(True,), shows=("x",), complexity=ord(name) * 1.0) for name in "cb"]
    passing = simplest(by_evidence([failing, *others]))
    assert (passing.winner.name, passing.by, passing.then) == ("b", "given", ("complexity",))
    larger = version("a", shows=("y",), complexity=9.0)
    both = simplest(by_evidence([larger, *(version(name, **same, author="e") for name in "cb")]))
    assert (both.winner.name, both.by, both.then) == ("b", "tie", ("complexity", "alike"))


OUTCOMES = st.sampled_from([True, False, None])


@given(
    st.lists(
        st.tuples(OUTCOMES, OUTCOMES, OUTCOMES, st.sampled_from("xyz"), st.sampled_from(["e1", "e2"])),
        min_size=1,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_the_choice_depends_on_no_order_and_never_on_a_version_that_fails_a_given_test(rows, rng: random.Random):
    versions = [
        version(f"v{n}", number=n, given=(one,), agreed=(two, three), shows=(shows,), author=author)
        for n, (one, two, three, shows, author) in enumerate(rows)
    ]
    choice = by_evidence(versions)
    shuffled = by_evidence(rng.sample(versions, len(versions)))
    assert {each.name for each in choice.leaders} == {each.name for each in shuffled.leaders}
    assert all(each.passes_given for each in choice.leaders)
    assert ordered(versions) == ordered(rng.sample(versions, len(versions)))
    most = max((each.agreed_passed for each in versions if each.passes_given), default=0)
    assert all(each.agreed_passed == most for each in choice.leaders)


def test_a_version_is_measured_by_what_counts_alone():
    runs = Runs()
    settled = [
        Settled(call=("f(1)",), standing="given", case=Case(call=("f(1)",), expected="1")),
        Settled(call=("f(2)",), standing="agreed", case=Case(call=("f(2)",), expected="2")),
        Settled(call=("f(3)",), standing="disputed"),
        Settled(call=("f(4)",), standing="quarantined"),
    ]
    runs.add("v", [each.call for each in settled], [returned(n) for n in "1234"])
    found = measured(runs, "v", settled, author="e1", number=1, scripts=(None,))
    assert (found.given, found.agreed, len(found.shows)) == ((True, None), (True,), 3)
    assert found.pass_rate == pytest.approx(2 / 3)
    assert measured(runs, "w", settled, author="e1", number=1).pass_rate is None
