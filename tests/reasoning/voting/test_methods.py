"""Each voting method by example: what it counts, its condition, ties, abstentions, weights."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import InputError, UnknownName
from moot.core.poll import Ballot, Poll
from moot.reasoning.voting import AUTO, DOOR, BallotError, count, counted, method_for, methods
from moot.reasoning.voting.methods import BORDA, UNANIMOUS, WEIGHTED
from tests.reasoning.voting.making import ballots, candidates, places, result, times

# Where the capital of Tennessee should be, the usual example: each town's voters prefer the nearer one.
TENNESSEE = times((42, "mnck"), (26, "nckm"), (15, "cknm"), (17, "kcnm"))
CYCLE = ["abc", "bca", "cab"]
HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("method", "order"),
    [
        ("plurality", ["m", "n", "k", "c"]),
        ("weighted", ["m", "n", "k", "c"]),
        ("borda", ["n", "c", "m", "k"]),
        ("condorcet", ["n", "c", "k", "m"]),
        ("schulze", ["n", "c", "k", "m"]),
    ],
)
def test_tennessee(method, order):
    counted = result(method, "mnck", TENNESSEE)
    assert places(counted) == order
    assert (counted.winner, counted.reached, counted.fallback) == (order[0], True, "")


@pytest.mark.parametrize("method", ["majority", "unanimous"])
def test_a_method_whose_condition_is_not_met_decides_nothing(method):
    counted = result(method, "mnck", TENNESSEE)
    assert (counted.winner, counted.reached) == (None, False)
    assert places(counted)[0] == "m"
    assert counted.reason


def test_a_majority_is_more_than_half():
    assert result("majority", "ab", ["a", "a", "b"]).winner == "a"
    half = result("majority", "abc", ["a", "a", "b", "c"])
    assert (half.winner, half.reason) == (
        None,
        "None is first on more than half of the 4 ballots; the best is first on 2.",
    )


def test_unanimous_needs_all_but_the_author():
    assert result("unanimous", "ab", ["ab", "a", "a"]).winner == "a"
    assert result("unanimous", "ab", ["a", "b", "a"]).winner is None
    own = result("unanimous", "abc", ["v0:bc", "v1:ac", "v2:ab"], a="v0", b="v1", c="v2")
    assert (own.winner, places(own)[0]) == ("a", "a")  # v0 could not vote for a
    two = result("unanimous", "ab", ["v0:b", "v1:a"], a="v0", b="v1")
    assert (two.winner, two.reached, places(two)) == (None, True, ["ab"])


def test_borda_and_condorcet_can_differ():
    written = times((3, "abc"), (2, "bca"))
    assert result("condorcet", "abc", written).winner == "a"
    assert result("borda", "abc", written).winner == "b"


def test_condorcet_falls_back_to_borda_and_says_so():
    written = [*CYCLE, "abc"]
    counted = result("condorcet", "abc", written)
    assert (counted.winner, counted.method, counted.fallback) == ("a", "condorcet", "borda")
    assert [each.name for each in counted.rounds] == ["head-to-head wins", "points"]
    assert "Borda count decides" in counted.rounds[0].found
    assert counted.places == result("borda", "abc", written).places


def test_schulze_resolves_a_cycle_at_its_weakest_link():
    # Of 9, 6 prefer a to b, 5 prefer b to c, 7 prefer c to a: by way of a, c beats b more strongly than b beats c.
    counted = result("schulze", "abc", times((2, "abc"), (3, "bca"), (4, "cab")))
    assert counted.winner == "c"
    assert counted.rounds[1].against["c"]["b"] > counted.rounds[1].against["b"]["c"]


@pytest.mark.parametrize("method", ["plurality", "weighted", "borda", "condorcet", "schulze"])
def test_a_cycle_is_a_tie(method):
    counted = result(method, "abc", CYCLE, ["pairwise", "support"])
    assert (counted.winner, places(counted), counted.tie_break) == (None, ["abc"], "")
    assert counted.reason == "The votes rank none of them above the others."


def test_ties_are_broken_by_the_rules_stated_in_their_order():
    level = [Ballot(voter="1", ranking=("a",)), Ballot(voter="2", ranking=("b",), approves=("a", "b"))]
    tied = count("plurality", candidates("ab"), level)
    assert (tied.winner, tied.tie_break) == (None, "")
    broken = count("plurality", candidates("ab"), level, ["pairwise", "support"])
    assert (broken.winner, broken.tie_break) == (None, "")  # one voter stands behind each
    level.append(Ballot(voter="3", approves=("b",), reason="no valid ballot"))
    broken = count("plurality", candidates("ab"), level, ["pairwise", "support"])
    assert (broken.winner, broken.tie_break, broken.abstained) == ("b", "support", 1)
    assert broken.rounds[-1].figures == {"a": 1, "b": 2}
    preferred = result("plurality", "abc", ["abc", "abc", "bac", "bac", "cba"], ["pairwise", "support"])
    assert (preferred.winner, preferred.tie_break) == ("b", "pairwise")
    assert preferred.rounds[-1].name.startswith("tie-break: wins less losses")


def test_points_are_shares_so_that_being_on_fewer_ballots_costs_nothing():
    counted = result("borda", "abc", ["v0:bc", "v1:ca", "v2:ab"], a="v0", b="v1", c="v2")
    assert counted.rounds[0].figures == {"a": HALF, "b": HALF, "c": HALF}
    alone = result("borda", "ab", ["v0:b", "v1:a"], a="v0", b="v1")
    assert (alone.rounds[0].figures, places(alone)) == ({}, ["ab"])  # nothing is compared with anything


def test_what_a_ballot_leaves_out_shares_the_place_below():
    counted = result("borda", "abcd", ["a"])
    assert counted.rounds[0].figures == {"a": 1, "b": Fraction(1, 3), "c": Fraction(1, 3), "d": Fraction(1, 3)}
    assert places(result("schulze", "abcd", ["a", "ba"])) == ["ab", "cd"]


def test_weights_count_only_where_the_method_weighs():
    written = ["a*1/3", "a*1/3", "b*1"]
    assert result("plurality", "ab", written).winner == "a"
    assert result("weighted", "ab", written).winner == "b"
    assert result("weighted", "ab", written).rounds[0].figures == {"a": Fraction(2, 3), "b": 1}
    assert result("borda", "ab", written).winner == "b"
    assert result("weighted", "ab", ["a*0", "b*0"]).reason == "There is no valid ballot."


def test_abstentions_are_counted_and_decide_nothing():
    counted = result("majority", "ab", ["a", "a", "b", "", ""])
    assert (counted.winner, counted.voters, counted.abstained) == ("a", 5, 2)
    nothing = result("borda", "ab", ["", ""], ["pairwise", "support"])
    assert (nothing.winner, nothing.reached, nothing.reason) == (None, False, "There is no valid ballot.")


@pytest.mark.parametrize(
    ("voters", "method"),
    [(0, UNANIMOUS), (2, UNANIMOUS), (3, WEIGHTED), (5, WEIGHTED), (6, BORDA), (100, BORDA)],
)
def test_auto_goes_by_the_number_of_voters(voters, method):
    assert method_for(AUTO, voters) == method
    made = result(AUTO, "ab", ["ab"] * voters) if voters else None
    assert made is None or (made.method, made.winner) == (method.name, "a")


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (["abz"], "'z', which is no candidate"),
        (["aba"], "the same twice"),
        (["v1:ab"], "its own voter's"),
    ],
)
def test_a_ballot_that_ranks_what_it_may_not_is_refused(written, problem):
    with pytest.raises(BallotError, match=problem):
        result("plurality", "abc", written, a="v1")


def test_what_is_unknown_is_refused_by_name():
    with pytest.raises(UnknownName, match="Did you mean 'borda'"):
        result("bodra", "ab", ["ab"])
    with pytest.raises(UnknownName, match="tie-break 'dice'"):
        result("borda", "ab", ["ab"], ["dice"])
    with pytest.raises(BallotError, match="nothing to vote for"):
        count("borda", [], ballots("a"))
    with pytest.raises(BallotError, match="same id"):
        result("borda", "aa", ["a"])


def test_a_poll_survives_json_and_can_be_counted_again():
    poll = counted("condorcet", candidates("abc"), ballots(*CYCLE, "abc*1/7", ""), ["pairwise", "support"], round=2)
    read = Poll.model_validate_json(poll.model_dump_json())
    assert read == poll
    assert count(read.method, read.candidates, read.ballots, read.tie_breaks) == read.result
    assert '"1/7"' in poll.model_dump_json()  # exact, not 0.142857


def test_the_seat_that_wins_is_the_author_of_what_stands_first():
    def seat(method: str, *written: str, **authors: str) -> str:
        return counted(method, candidates("abc", authors), ballots(*written)).seat

    assert seat("plurality", "a", "a", "b", a="m1", b="m2") == "m1"
    assert seat("plurality", "a", "b", a="m1", b="m1") == "m1"  # two answers of one author
    assert seat("plurality", "a", "b", a="m1", b="m2") == "tie"
    assert seat("plurality", "c", "c", a="m1", b="m2") == "tie"  # nobody's: neither side
    assert seat("majority", "a", "b", a="m1", b="m2") == "undecided"


def test_a_method_from_the_docs_can_be_added_and_used_like_the_others():
    text = (Path(__file__).parents[3] / "docs" / "voting.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    defined: dict[str, Any] = {}
    exec(code, defined)
    before = dict(methods())
    with DOOR.adding("net-wins", defined["NET_WINS"]):
        assert result("net-wins", "mnck", TENNESSEE).winner == "n"
        with pytest.raises(InputError, match="There is a voting method 'net-wins' already"):
            DOOR.adding("net-wins", defined["NET_WINS"]).__enter__()
    with pytest.raises(InputError, match="It calls itself 'net-wins'"):
        DOOR.adding(AUTO, defined["NET_WINS"]).__enter__()
    assert methods() == before
