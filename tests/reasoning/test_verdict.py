"""The verdict between two sides: the judge alone, a second reading, a jury."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.verdict import Decision, JudgeVote, ReaderVote, decide


def judge_says(choice: str, reason: str = "") -> JudgeVote:
    return JudgeVote(choice=choice, keys=("3/verdict/judge",), reason=reason)


def vote(seat: str, choice: str, first: str = "a", reason: str = "") -> ReaderVote:
    return ReaderVote(seat=seat, key=f"3/ballot/{seat}", first=first, choice=choice, reason=reason)


def jurors(*choices: str) -> list[ReaderVote]:
    return [vote(f"juror{n}", choice) for n, choice in enumerate(choices, 1)]


def both_orders(*pairs: tuple[str, str]) -> list[ReaderVote]:
    votes: list[ReaderVote] = []
    for n, (one, two) in enumerate(pairs, 1):
        votes += [vote(f"juror{n}", one), vote(f"juror{n}-swapped", two, "b")]
    return votes


@pytest.mark.parametrize(
    ("judge", "reason", "decision"),
    [
        ("a", "", Decision(winner="a", source="judge")),
        ("tie", "", Decision(winner="tie", source="judge", reason="The scores are equal.")),
        ("undecided", "bad JSON", Decision(winner="undecided", source="fallback", reason="bad JSON")),
    ],
)
def test_without_readers_the_judge_decides(judge: str, reason: str, decision: Decision):
    assert decide(judge_says(judge, reason)) == decision


@pytest.mark.parametrize(
    ("judge", "second", "winner", "flip_rate"),
    [("a", "a", "a", 0.0), ("a", "b", "tie", 1.0), ("a", "tie", "tie", 1.0), ("a", "abstains", "a", None)],
)
def test_a_second_reading_confirms_or_makes_a_tie(judge: str, second: str, winner: str, flip_rate: float | None):
    decision = decide(judge_says(judge), [vote("second", second, "b", "garbage")])
    assert (decision.winner, decision.source, decision.flip_rate) == (winner, "judge", flip_rate)
    assert ("was not checked: garbage" in decision.reason) == (second == "abstains")


def test_a_tie_in_both_orders_says_why_it_is_one():
    decision = decide(judge_says("tie"), [vote("second", "tie", "b")])
    assert (decision.winner, decision.reason) == ("tie", "Both readings found the sides level.")


def test_a_second_reading_does_not_stand_in_for_a_judge_without_a_verdict():
    decision = decide(judge_says("undecided", "bad JSON"), [vote("second", "a", "b")])
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
    decision = decide(judge_says(judge), jurors(*choices))
    assert (decision.winner, decision.source) == (winner, "jury")
    assert sum(decision.tally.values()) == len(choices) + 1


def test_without_any_valid_ballot_there_is_no_verdict():
    decision = decide(judge_says("undecided", "bad JSON"), jurors("abstains", "abstains"))
    assert (decision.winner, decision.source) == ("undecided", "fallback")
    assert decision.tally == {"a": 0, "b": 0, "tie": 0, "abstains": 3}


def test_a_juror_who_flips_votes_for_a_tie_and_one_with_half_a_ballot_abstains():
    decision = decide(judge_says("a"), both_orders(("a", "a"), ("a", "b"), ("b", "abstains")))
    assert decision.tally == {"a": 2, "b": 0, "tie": 1, "abstains": 1}
    assert (decision.winner, decision.flip_rate) == ("a", 0.5)


CHOICES = st.sampled_from(["a", "b", "tie", "abstains"])
OTHER = {"a": "b", "b": "a"}


@given(st.sampled_from(["a", "b", "tie", "undecided"]), st.lists(CHOICES, max_size=6))
def test_neither_side_is_favoured(judge: str, choices: list[str]):
    decision = decide(judge_says(judge), jurors(*choices))
    turned = decide(judge_says(OTHER.get(judge, judge)), jurors(*(OTHER.get(each, each) for each in choices)))
    assert turned.winner == OTHER.get(decision.winner, decision.winner)
