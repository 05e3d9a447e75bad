"""Points, places and effective voters of ranked ballots."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.ranking import condorcet_winner, effective_voters, points, standings


def ranked(*orders: str) -> list[tuple[str, ...]]:
    return [tuple(order) for order in orders]


def places(answers: str, rankings, behind=None) -> list[str]:
    return ["".join(each.answer for each in place) for place in standings(answers, rankings, behind or {})]


def test_points_are_shares_so_that_being_on_fewer_ballots_costs_nothing():
    rankings = ranked("abc", "ab", "ca", "b")
    assert points("a", rankings) == Fraction(2, 3)
    assert points("b", rankings) == Fraction(1, 4)
    assert points("c", rankings) == Fraction(1, 2)
    assert points("d", rankings) is None
    assert points("b", ranked("b")) is None


def test_tennessee():
    """The usual example: Memphis 42, Nashville 26, Chattanooga 15, Knoxville 17."""
    rankings = ranked(*["mnck"] * 42, *["nckm"] * 26, *["cknm"] * 15, *["kcnm"] * 17)
    assert condorcet_winner("mnck", rankings) == "n"
    assert [each[0].answer for each in standings("mnck", rankings, {})] == ["n", "c", "m", "k"]
    assert points("n", rankings) == Fraction(194, 300)


def test_borda_and_condorcet_can_differ():
    rankings = ranked("abc", "abc", "abc", "bca", "bca")
    assert condorcet_winner("abc", rankings) == "a"
    assert places("abc", rankings) == ["b", "a", "c"]


def test_equal_points_are_told_apart_by_pairwise_wins_then_by_who_stands_behind_them():
    assert places("ab", ranked("ab", "ba")) == ["ab"]
    assert places("ab", ranked("ab", "ba"), {"b": 2, "a": 1}) == ["b", "a"]
    rankings = ranked("axyb", "bax", "xba")  # a and b have the same points, and two of three prefer b
    assert points("a", rankings) == points("b", rankings) == Fraction(1, 2)
    assert places("ab", rankings, {"a": 9}) == ["b", "a"]


def test_a_cycle_is_a_tie():
    rankings = ranked("abc", "bca", "cab")
    assert places("abc", rankings) == ["abc"]
    assert condorcet_winner("abc", rankings) is None


ballots_of_some = st.lists(st.permutations("abcde").map(lambda order: "".join(order[:4])), max_size=8)


@given(ballots_of_some, st.permutations("abcde"), st.randoms(use_true_random=False))
def test_neither_the_order_of_ballots_nor_what_answers_are_called_matters(orders, renamed, rng):
    behind = {answer: len(answer) for answer in "abc"}
    before = [set(place) for place in places("abcde", ranked(*orders), behind)]
    mixed = rng.sample(orders, len(orders))
    assert [set(place) for place in places("edcba", ranked(*mixed), behind)] == before
    name = dict(zip("abcde", renamed, strict=True))
    calls = ranked(*["".join(name[each] for each in order) for order in orders])
    called = places("abcde", calls, {name[each]: n for each, n in behind.items()})
    assert [set(place) for place in called] == [{name[each] for each in place} for place in before]


@given(ballots_of_some)
def test_points_lie_between_nought_and_one_and_a_unanimous_first_wins(orders):
    rankings = ranked(*orders)
    for answer in "abcde":
        earned = points(answer, rankings)
        assert earned is None or 0 <= earned <= 1
    firsts = {order[0] for order in orders}
    on_all = [each for each in firsts if all(each in order for order in orders)]
    if len(firsts) == 1 and on_all:
        assert points(on_all[0], rankings) == 1
    assert sorted("".join(places("abcde", rankings))) == list("abcde")


def test_raising_an_answer_never_lowers_it():
    for order in permutations("abc"):
        base = ranked("abc", "bca", "".join(order))
        at = order.index("b")
        if at:
            raised = [*order]
            raised[at - 1], raised[at] = raised[at], raised[at - 1]
            assert points("b", ranked("abc", "bca", "".join(raised))) > points("b", base)


def sets(**signed: str):
    return {voter: frozenset(answers) for voter, answers in signed.items()}


def test_effective_voters():
    assert effective_voters(sets(x="abc", y="abc", z="abc"), "abc") == 1
    assert effective_voters(sets(x="a", y="b", z="c"), "abc") == 3
    assert effective_voters(sets(x="ab", y="ab", z="c"), "abc") == pytest.approx(1.8)
    assert effective_voters(sets(x="a", y="b"), "ab") == 2
    assert effective_voters(sets(x="a"), "ab") is None
    assert effective_voters({}, "ab") is None
    assert effective_voters(sets(x="a", y="b"), "") is None


@given(st.lists(st.frozensets(st.sampled_from("abcd")), min_size=2, max_size=9))
def test_effective_voters_are_at_least_one_and_at_most_all(signed):
    voters = {str(n): each for n, each in enumerate(signed)}
    worth = effective_voters(voters, "abcd")
    assert 1 <= worth <= len(signed) + 1e-9
    assert effective_voters(dict(reversed(voters.items())), "dcba") == worth
