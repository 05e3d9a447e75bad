"""Repetition and likeness: what is measured, and what may end a panel."""

from __future__ import annotations

import pytest

from moot.core.types import Failure
from tests.formats.panel.answers import NOT_MEASURED, alike, answers, assessment, run


def test_measured_repetition_ends_it_whatever_the_moderator_says():
    played = run(answers(argue=lambda s: f"{s.seat.id} says the very same words in every round again"), max_rounds=5)
    outcome = played.outcome
    assert outcome.ended_by == "stagnation"
    assert played.rounds == 2
    assert "everyone repeats more than 60%" in outcome.reason
    told = played.step("2/evaluate/moderator")
    assert "repeats 100% of what it said before" in told.prompt.text
    assert told.record(None)["repetition"] == {"Performance Advocate": 1.0, "Operational Simplicity": 1.0}
    assert told.record(None)["repeats"] == ["Performance Advocate", "Operational Simplicity"]


def test_one_who_repeats_does_not_end_it():
    def argues(step):
        own = "the very same words in every round again and again"
        return own if step.seat.id == "p1" else " ".join(f"w{step.round}x{n}" for n in range(12))

    played = run(answers(argue=argues), max_rounds=3)
    assert (played.outcome.ended_by, played.rounds) == ("max_rounds", 3)
    assert played.outcome.details["measured"][-1]["repeats"] == ["Performance Advocate"]


def test_each_new_argument_is_compared_with_all_earlier_ones_of_its_speaker():
    played = run(answers(argue=lambda s: f"{s.seat.id} argues in {s.round}", compare=alike(0.1)), max_rounds=3)
    assert "1/compare/memory" not in played.keys
    assert played.step("3/compare/memory").pairs == (
        ("p1 argues in 3", "p1 argues in 1"),
        ("p1 argues in 3", "p1 argues in 2"),
        ("p2 argues in 3", "p2 argues in 1"),
        ("p2 argues in 3", "p2 argues in 2"),
    )


def test_likeness_is_a_number_for_the_moderator_the_person_and_the_record():
    played = run(answers(compare=alike(0.31, 0.74)), max_rounds=3)
    told = played.step("2/evaluate/moderator")
    assert "Performance Advocate repeats 0% of what it said before, and is 0.31 alike in meaning" in told.prompt.text
    assert (
        "0.74 alike in meaning to an earlier argument of its own: perhaps the same in other words" in told.prompt.text
    )
    noted = told.record(None)
    assert noted["likeness"] == {"Performance Advocate": 0.31, "Operational Simplicity": 0.74}
    assert (noted["likeness_by"], noted["paraphrases"]) == ("offline", ["Operational Simplicity"])
    asked = played.step("2/checkpoint/you")
    assert "Measured: Performance Advocate repeats 0%" in asked.prompt.text
    assert asked.artifacts["measured"] == noted
    shown = [each.data for each in played.shown if each.type == "MEASURED"]
    assert [each["round"] for each in shown] == [2, 3]
    shares = [each.pop("shares") for each in shown]
    assert shown == played.outcome.details["measured"]
    assert shares == [{"p1": 0.0, "p2": 0.0}] * 2


@pytest.mark.parametrize("state", ["new_ground", "converging"])
def test_paraphrase_alone_never_ends_a_panel_and_is_no_agreement(state):
    played = run(answers(compare=alike(1.0), evaluate=assessment(state)), max_rounds=3)
    assert (played.outcome.ended_by, played.rounds, played.outcome.winner) == ("max_rounds", 3, "undecided")


@pytest.mark.parametrize(
    ("compared", "says"),
    [
        (NOT_MEASURED, "it went in circles (the moderator says so)."),
        (alike(0.8), "and everyone's newest argument is much like an earlier one of their own"),
        (alike(0.8, 0.2), "and some arguments are much like earlier ones"),
        (alike(0.2), "though by measure the newest arguments are unlike the earlier ones"),
    ],
)
def test_what_the_moderator_says_about_stagnation_is_compared_with_the_measures(compared, says):
    played = run(answers(compare=compared, evaluate=assessment("stagnating")), max_rounds=4)
    assert (played.outcome.ended_by, played.rounds) == ("stagnation", 2)
    assert says in played.outcome.reason


def test_without_a_valid_assessment_only_repeated_words_are_stagnation():
    invalid = Failure(kind="invalid", message="garbage")
    alone = run(answers(compare=alike(0.99), evaluate=invalid), max_rounds=3).outcome
    assert alone.ended_by == "max_rounds"
    again = run(answers(evaluate=invalid, argue="we say the very same words in each round"), max_rounds=3)
    assert again.outcome.ended_by == "stagnation"


def test_scores_that_do_not_fit_are_no_measure():
    wrong = {"scores": [0.9], "by": "offline", "note": ""}
    played = run(answers(compare=wrong), max_rounds=2)
    assert played.step("2/evaluate/moderator").record(None)["likeness"] == {}
