"""Labels, ballots, quorum and ties of a council."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from moot.core.types import Outcome
from moot.formats.council.shapes import Opinion, ballot_over
from moot.formats.council.vote import LETTERS, Submission, labels_for
from moot.formats.shared.checks import UNSETTLED
from tests.formats.council.answers import INVALID, NAMES, ballot, council, opinion, outcome_of
from tests.playing import play, script_of


def submissions(count: int, rounds: int = 1) -> list[Submission]:
    return [
        Submission(seat=f"m{n}", round=round, opinion=Opinion(**opinion(f"m{n}", round)))
        for n in range(1, count + 1)
        for round in range(rounds)
    ]


@given(st.integers(2, 9), st.text(max_size=30), st.integers(0, 10))
def test_every_answer_is_read_in_every_place_by_someone(count, topic, round):
    all_answers = submissions(count)
    places: dict[str, list[str]] = {each.id: [] for each in all_answers}
    for reader in {each.seat for each in all_answers}:
        labels = labels_for(reader, all_answers, topic=topic, round=round)
        assert labels == labels_for(reader, all_answers[::-1], topic=topic, round=round)
        assert list(labels) == list(LETTERS[: count - 1])
        assert reader not in {each.seat for each in labels.values()}
        for label, each in labels.items():
            places[each.id].append(label)
    for read_at in places.values():
        assert sorted(read_at) == list(LETTERS[: count - 1])


def test_a_ballot_must_rank_exactly_what_was_shown():
    shape = ballot_over(("A", "B", "C"))
    shape.model_validate({"reasoning": "r", "ranking": ["C", "A", "B"], "stands_behind": []})
    good = {"reasoning": "r", "ranking": ["C", "A", "B"], "stands_behind": ["B"]}
    for bad in (
        {"ranking": ["C", "A"]},
        {"ranking": ["C", "A", "A"]},
        {"ranking": ["C", "A", "D"]},
        {"ranking": ["C", "A", "B", "B"]},
        {"ranking": "CAB"},
        {"stands_behind": ["D"]},
        {"stands_behind": ["B", "B"]},
        {"reasoning": " "},
        {"winner": "A"},
    ):
        with pytest.raises(ValidationError):
            shape.model_validate({**good, **bad})


def test_invalid_ballots_abstain_with_the_reason():
    played = play(script_of("council", **NAMES), council(**{"0_rank_m3": INVALID}))
    outcome = played.outcome
    assert outcome.winner == "m1"
    first = outcome.polls[0]
    assert (first.round, first.method, first.result.abstained) == (0, "borda", 1)
    ballots = {ballot.voter: ballot for ballot in first.ballots}
    assert (ballots["m3"].ranking, ballots["m3"].reason) == ((), "three bad tries")
    assert ballots["m2"].ranking == ("m1/0", "m3/0")
    assert ballots["m2"].keys == ("0/rank/m2",)


def test_what_is_recorded_of_a_ballot():
    played = play(script_of("council", **NAMES), council())
    step = played.step("0/rank/m2")
    recorded = step.record(step.returns.model_validate(ballot(step, ["m3/0"], ["m1/0"])))
    assert recorded["ranking"] == ["m3/0", "m1/0"]
    assert (recorded["choice"], recorded["approves"]) == ("m3", ["m2/0", "m1/0"])  # its own, and what it says
    assert recorded["ranks"] == ["Karin", "Ines"]


def test_without_a_quorum_nothing_is_decided_and_nothing_debated():
    outcome = outcome_of(council(**{"0_rank_m3": INVALID, "0_rank_m2": INVALID}))
    assert (outcome.winner, outcome.ended_by, outcome.verdict_source) == ("undecided", "no_quorum", "fallback")
    assert outcome.headline == "Undecided: there is no valid vote."
    assert outcome.reason.startswith("Only 1 of 3 ballots in the last vote were valid")
    assert "three bad tries" in outcome.reason
    assert (outcome.scores, outcome.details["winning_answer"]) == ({}, None)
    assert [poll.decides for poll in outcome.polls] == [False]
    assert outcome.statement == "The council's answer."


def test_when_the_last_vote_has_no_quorum_the_one_before_counts():
    answer = council(behind=(), revise=("m1",), **{f"1_rank_m{n}": INVALID for n in (1, 2, 3)})
    outcome = outcome_of(answer)
    assert (outcome.winner, outcome.ended_by) == ("m1", "no_quorum")
    assert "The vote of round 0 counts." in outcome.reason
    assert outcome.details["winning_answer"]["round"] == 0
    assert "Ines no longer holds the answer that ranks first." in outcome.notes


def test_first_answers_stay_eligible_and_can_win_against_their_own_revision():
    outcome = outcome_of(council(behind=(), revise=("m1", "m2")), max_rounds=3, depth="debate")
    assert {each.id for each in outcome.polls[-1].candidates} == {"m1/0", "m1/3", "m2/0", "m2/3", "m3/0"}
    assert [poll.decides for poll in outcome.polls] == [False, False, False, True]
    assert outcome.winner == "m1"
    assert outcome.details["winning_answer"]["round"] == 0
    revised = outcome_of(council(favourites=("m2/1",), behind=("m2/1",), revise=("m1", "m2")))
    assert (revised.winner, revised.details["winning_answer"]["round"]) == ("m2", 1)


def test_a_tie_is_a_tie():
    cycle = {"m1": "m2/0", "m2": "m3/0", "m3": "m1/0"}
    outcome = outcome_of(council(rank=lambda step: ballot(step, [cycle[step.seat.id]], [])), depth="vote")
    assert outcome.winner == "tie"
    assert outcome.how == "A tie between the answers of Ines and Jonas and Karin."
    assert outcome.scores == {"m1": 0.5, "m2": 0.5, "m3": 0.5}
    assert outcome.details["winning_answer"] is None
    assert len(outcome.details["dissent"]) == 0  # everyone stands behind one of the leading answers: their own


def test_a_tie_between_answers_that_all_stand_behind_is_an_agreement_and_nothing_else():
    cycle = {"m1": "m2/0", "m2": "m3/0", "m3": "m1/0"}
    everyone = [f"m{n}/0" for n in (1, 2, 3)]

    def vote(behind: list[str]) -> Outcome:
        return outcome_of(council(rank=lambda step: ballot(step, [cycle[step.seat.id]], behind)), depth="vote")

    agreed = vote(everyone)
    assert (agreed.winner, agreed.details["agrees"], agreed.record.converged) == ("tie", True, True)
    assert agreed.headline == agreed.answer.value
    assert agreed.how.endswith("; 3 of 3 members stand behind each.")
    split = vote([])
    assert (split.winner, split.details["agrees"], split.record.converged) == ("tie", False, False)
    assert split.headline.startswith(UNSETTLED)


def test_two_members_have_nothing_to_compare_so_what_they_stand_behind_decides():
    two = {"members": 2, "depth": "vote"}
    persuaded = council(**{"0_rank_m1": lambda step: ballot(step, behind=["m2/0"])}, behind=())
    outcome = play(script_of("council", **two), persuaded).outcome
    assert (outcome.winner, outcome.scores, outcome.details["agrees"]) == ("m2", {}, True)
    neither = play(script_of("council", **two), council(behind=())).outcome
    assert (neither.winner, neither.details["agrees"]) == ("tie", False)
