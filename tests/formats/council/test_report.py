"""The outcome of a council: the chair's answer, dissent, notes, record."""

from __future__ import annotations

import pytest

from moot.formats import wording_of
from moot.records.record import record_of
from tests.formats.council.answers import INVALID, LIMIT, NAMES, ballot, council, labels_in, outcome_of
from tests.playing import finished, play, script_of


def test_the_chair_is_told_when_there_is_no_result():
    played = play(script_of("council", **NAMES), council(rank=INVALID))
    text = played.step("0/synthesize/chair").prompt.text
    assert "There is no result." in text
    assert "Only 0 of 3" in text
    assert played.outcome.details["chair_departs"] is None


def test_dissent_is_kept_in_its_own_words():
    def rank(step):
        return ballot(step, ["m1/0"], [] if step.seat.id == "m3" else ["m1/0"])

    outcome = outcome_of(council(rank=rank, revise=("m3",)), max_rounds=1)
    assert outcome.winner == "m1"
    assert outcome.details["agreement"] == 0.667
    (dissent,) = outcome.details["dissent"]
    assert dissent == {
        "seat": "m3",
        "name": "Karin",
        "round": 1,
        "position": "What m3 holds at 1",
        "answer": "Words of m3 at 1.",
        "reasons": ["Reason of m3."],
    }
    assert "Karin dissents: What m3 holds at 1" in outcome.notes


def test_the_chair_knows_the_result_and_cannot_change_it():
    played = play(script_of("council", **NAMES), council(synthesize={"answer": "m2 is right.", "departs": True}))
    text = played.step("0/synthesize/chair").prompt.text
    assert "Answer A ranks first. The council agrees." in text
    assert labels_in(played.step("0/synthesize/chair")) == {"m1/0": "A", "m2/0": "B", "m3/0": "C"}
    assert "1. answer A: 1.00 points, first on 2 of 2 ballots, 3 of 3 behind it" in text
    outcome = played.outcome
    assert outcome.winner == "m1"
    assert outcome.details["chair_departs"] is True
    assert "The chair departs from the answer that ranks first." in outcome.notes


def test_the_chairs_labels_become_names():
    text = "Answer A beats answer C. Answer Z is not Answer AB; the answer I give is answer B."
    outcome = outcome_of(council(synthesize={"answer": text, "departs": False}))
    assert outcome.statement == (
        "Ines's answer beats Karin's answer. Answer Z is not Answer AB; the answer I give is Jonas's answer."
    )


@pytest.mark.parametrize("failure", [INVALID, LIMIT])
def test_when_the_chair_writes_nothing_the_winning_answer_stands(failure):
    outcome = outcome_of(council(synthesize=failure))
    assert outcome.winner == "m1"
    assert outcome.statement == "Words of m1 at 0."
    assert any(failure.message in note and "unchanged" in note for note in outcome.notes)


def record(answer, **options):
    played = play(script_of("council", **NAMES, **options), answer)
    debate = finished("council", played, **NAMES, **options)
    return record_of(debate, played.turns, wording_of(debate), demonstration=False)


def test_a_council_that_agrees_on_a_clear_leader_is_decided_with_high_confidence():
    made = record(council())
    reasons = ("The verdict was checked, its lead is clear, and no ballot was missing.",)
    assert (made.confidence, made.confidence_reasons) == ("High", reasons)
    assert (made.decided.source, made.decided.by) == ("jury", "a vote of the members (borda), counted by code")
    assert [(vote.name, vote.choice) for vote in made.decided.votes] == [
        ("Ines", "m2"),
        ("Jonas", "m1"),
        ("Karin", "m1"),
    ]
    assert made.decided.tally == {"m1": 2, "m2": 1}


CYCLE = {"m1": "m2/0", "m2": "m3/0", "m3": "m1/0"}  # equal points for all


@pytest.mark.parametrize(
    ("answer", "options", "level", "reason"),
    [
        (council(**{"0_rank_m3": INVALID}), {"agreement": 0.6}, "Medium", "Not every ballot was valid."),
        (
            council(rank=lambda step: ballot(step, [CYCLE[step.seat.id]], ["m1/0"])),
            {},
            "Medium",
            "The winner leads by less than 0.2 of 1 points.",
        ),
        (council(behind=()), {"max_rounds": 1}, "Low", "The rounds were used up before the positions agreed."),
        (council(rank=INVALID), {}, "Low", "There is no valid verdict."),
    ],
)
def test_a_vote_with_doubts_is_decided_with_less_confidence(answer, options, level, reason):
    made = record(answer, **options)
    assert made.confidence == level
    assert reason in made.confidence_reasons
