"""Perspectives that leave the question, and those that are muted."""

from __future__ import annotations

import pytest

from moot.core.types import Failure
from moot.formats import wording_of
from moot.formats.panel.rules import LEFT_THE_QUESTION
from moot.records.record import record_of
from tests.formats.panel.answers import SYNTHESIS, THREE, TOPIC, answers, assessment, rebuttal, run
from tests.playing import finished


def muted(played):
    return [shown.data for shown in played.shown if shown.type == "MUTED"]


def test_an_off_topic_perspective_is_told_so_and_everyone_is_redirected():
    left = assessment(off_topic=["Performance Advocate"])
    played = run(answers(evaluate=left), max_rounds=2)
    first, second = played.step("2/argue/p1").prompt.text, played.step("2/argue/p2").prompt.text
    assert "Look at cost." in first
    assert "Look at cost." in second
    assert LEFT_THE_QUESTION in first
    assert LEFT_THE_QUESTION not in second


def test_a_muted_perspective_is_not_asked_again_and_two_that_oppose_each_other_remain():
    mute = assessment(mute=["Performance Advocate", "Operational Simplicity", "Nobody"])
    played = run(answers(analyze=THREE, evaluate=mute), max_rounds=2)
    # Without the first, the two left would not oppose each other; the second can be muted, and no more than one.
    assert [key for key in played.keys if key.startswith("2/argue")] == ["2/argue/p1", "2/argue/p3"]
    assert muted(played) == [{"seat": "p2", "name": "Operational Simplicity", "round": 1, "off_topic": False}]


def test_of_two_perspectives_none_is_muted():
    mute = assessment(mute=["Performance Advocate", "Operational Simplicity"])
    played = run(answers(evaluate=mute), max_rounds=2)
    assert muted(played) == []
    assert played.outcome.notes == ()


def test_muting_the_only_one_who_holds_out_is_no_agreement():
    def position(step):
        return rebuttal("hold" if step.seat.id == "p2" else "agree")

    mute = assessment(mute=["Operational Simplicity"])
    played = run(answers(analyze=THREE, evaluate=mute, rebut=position), max_rounds=2)
    assert "2/argue/p1" in played.keys  # what it said in the round in which it was muted still counts
    assert played.outcome.ended_by == "agreement"
    assert played.rounds == 2


@pytest.mark.parametrize(
    ("off_topic", "left", "having_left"),
    [
        ("Cost Steward", "", ""),
        ("operational simplicity", " It had left the question.", ", having left the question"),
    ],
)
def test_muting_is_said_to_be_for_good_and_its_reason_is_the_typed_one(off_topic, left, having_left):
    heading = f"The moderator muted Operational Simplicity: it is not heard after round 1.{left}"
    note = f"Operational Simplicity was muted by the moderator after round 1{having_left}."
    options = {"max_rounds": 3, "perspectives": 3}

    def evaluate(step):
        return assessment(mute=["Operational Simplicity"], off_topic=[off_topic]) if step.round == 1 else assessment()

    played = run(answers(analyze=THREE, evaluate=evaluate), **options)
    assert [key for key in played.keys if key.endswith("/p2")] == ["1/argue/p2", "1/rebut/p2"]
    debate = finished("panel", played, TOPIC, **options)
    wording = wording_of(debate)
    captions = []
    for event in played.events:
        wording.hear(event)
        captions += [wording.caption(event)] if event.type == "MUTED" else []
    assert [(caption.heading, caption.notes, caption.lines) for caption in captions] == [(heading, (), ())]
    assert wording.badges == {"p2": "muted"}
    assert played.outcome.notes == (note,)
    record = record_of(debate, played.turns, wording, demonstration=False)
    assert record.caveats == (note, *SYNTHESIS["caveats"])


def test_muting_is_noted_without_a_valid_synthesis_too():
    mute = assessment(mute=["Operational Simplicity"])
    invalid = Failure(kind="invalid", message="no JSON")
    outcome = run(answers(analyze=THREE, evaluate=mute, synthesize=invalid), max_rounds=2).outcome
    note = "Operational Simplicity was muted by the moderator after round 1."
    assert (outcome.verdict_source, outcome.notes, outcome.record.caveats) == ("fallback", (note,), (note,))
