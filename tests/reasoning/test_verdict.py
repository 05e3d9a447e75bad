"""The verdict between two sides: the judge alone, a second reading, a jury."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.verdict import SIDES, Decision, ReaderVote, decide, leader, other_side


def jurors(*choices: str) -> list[ReaderVote]:
    return [ReaderVote(seat=f"juror{n}", first="a", choice=choice) for n, choice in enumerate(choices, 1)]


def both_orders(*pairs: tuple[str, str]) -> list[ReaderVote]:
    votes: list[ReaderVote] = []
    for n, (one, two) in enumerate(pairs, 1):
        votes.append(ReaderVote(seat=f"juror{n}", first="a", choice=one))
        votes.append(ReaderVote(seat=f"juror{n}-swapped", first="b", choice=two))
    return votes


@pytest.mark.parametrize(("scores", "wins"), [((7, 5), "a"), ((5, 7), "b"), ((5, 5), "tie")])
def test_the_higher_score_leads(scores: tuple[int, int], wins: str):
    assert leader(*scores) == wins


def test_sides_are_opposite():
    assert [other_side(side) for side in SIDES] == ["b", "a"]


@pytest.mark.parametrize(
    ("judge", "reason", "decision"),
    [
        ("a", "", Decision(winner="a", source="judge")),
        ("tie", "", Decision(winner="tie", source="judge", reason="The scores are equal.")),
        ("undecided", "bad JSON", Decision(winner="undecided", source="fallback", reason="bad JSON")),
    ],
)
def test_without_readers_the_judge_decides(judge: str, reason: str, decision: Decision):
    assert decide(judge, reason, []) == decision


@pytest.mark.parametrize(
    ("judge", "second", "winner", "flip_rate"),
    [("a", "a", "a", 0.0), ("a", "b", "tie", 1.0), ("a", "tie", "tie", 1.0), ("a", "abstains", "a", None)],
)
def test_a_second_reading_confirms_or_makes_a_tie(judge: str, second: str, winner: str, flip_rate: float | None):
    vote = ReaderVote(seat="second", first="b", choice=second, reason="garbage")
    decision = decide(judge, "", [vote])
    assert (decision.winner, decision.source, decision.flip_rate) == (winner, "judge", flip_rate)
    assert ("was not checked: garbage" in decision.reason) == (second == "abstains")


def test_a_second_reading_does_not_stand_in_for_a_judge_without_a_verdict():
    decision = decide("undecided", "bad JSON", [ReaderVote(seat="second", first="b", choice="a")])
    assert decision == Decision(winner="undecided", source="fallback", reason="bad JSON")


@pytest.mark.parametrize(
    ("judge", "choices", "winner"),
    [
        ("a", ("b", "b"), "b"),
        ("a", ("b",), "tie"),
        ("a", ("tie", "tie"), "tie"),  # no side has more votes than there are ties
        ("a", ("a", "tie"), "a"),
        ("a", ("abstains", "abstains"), "a"),
        ("undecided", ("b",), "b"),
        ("undecided", ("tie",), "tie"),
    ],
)
def test_judge_and_jurors_have_a_vote_each(judge: str, choices: tuple[str, ...], winner: str):
    decision = decide(judge, "", jurors(*choices))
    assert (decision.winner, decision.source) == (winner, "jury")
    assert sum(decision.tally.values()) == len(choices) + 1


def test_without_any_valid_ballot_there_is_no_verdict():
    decision = decide("undecided", "bad JSON", jurors("abstains", "abstains"))
    assert (decision.winner, decision.source) == ("undecided", "fallback")
    assert decision.tally == {"a": 0, "b": 0, "tie": 0, "abstains": 3}


def test_a_juror_who_flips_votes_for_a_tie_and_one_with_half_a_ballot_abstains():
    decision = decide("a", "", both_orders(("a", "a"), ("a", "b"), ("b", "abstains")))
    assert decision.tally == {"a": 2, "b": 0, "tie": 1, "abstains": 1}
    assert (decision.winner, decision.flip_rate) == ("a", 0.5)


CHOICES = st.sampled_from(["a", "b", "tie", "abstains"])
OTHER = {"a": "b", "b": "a"}


@given(st.sampled_from(["a", "b", "tie", "undecided"]), st.lists(CHOICES, max_size=6))
def test_neither_side_is_favoured(judge: str, choices: list[str]):
    decision = decide(judge, "", jurors(*choices))
    turned = decide(OTHER.get(judge, judge), "", jurors(*(OTHER.get(each, each) for each in choices)))
    assert turned.winner == OTHER.get(decision.winner, decision.winner)
