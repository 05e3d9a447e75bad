"""Blind readers: a second judge, and a jury."""

from __future__ import annotations

from moot.core.types import Failure
from moot.formats import wording_of
from tests.formats.examples import BALLOT
from tests.formats.ways import good_but
from tests.playing import debate_of, good, play, script_of


def test_the_second_judge_is_blind_and_reads_the_other_order():
    played = play(script_of("duel", swap=True))
    step = played.step("6/ballot/second")
    text = "\n".join(m.text for m in step.messages)
    assert "Ada" not in text
    assert "Basil" not in text
    assert text.index("Words of b at 2/speak/b") < text.index("Words of a at 1/speak/a")


def ballots(first: int, second: int):
    return good_but({"reasoning": "r", "score_first": first, "score_second": second}, at="ballot")


def test_a_flip_becomes_a_tie_and_is_reported():
    agreed = play(script_of("duel", swap=True), ballots(3, 8)).outcome  # b is read first, a is better
    assert (agreed.winner, agreed.flip_rate) == ("a", 0.0)
    flipped = play(script_of("duel", swap=True), ballots(8, 3)).outcome
    assert (flipped.winner, flipped.flip_rate) == ("tie", 1.0)
    assert "flip" in flipped.reason


def test_an_invalid_second_reading_is_said_and_changes_nothing():
    garbage = Failure(kind="invalid", message="garbage")
    outcome = play(script_of("duel", swap=True), good_but(garbage, at="ballot")).outcome
    assert outcome.winner == "a"
    assert outcome.flip_rate is None
    assert "was not checked" in outcome.reason


def test_a_jury_of_mixed_models_outvotes_the_judge():
    def answer(step):
        if step.phase == "ballot":
            a_first = "at 1/speak/a" in step.prompt.text.partition("The second side said")[0]
            return {"reasoning": "r", "score_first": 2 if a_first else 9, "score_second": 9 if a_first else 2}
        return good(step)

    played = play(script_of("duel", jury=3, jury_models=["sim:x", "sim:y"]), answer)
    outcome = played.outcome
    assert outcome.winner == "b"
    assert outcome.verdict_source == "jury"
    assert outcome.tally == {"a": 1, "b": 3, "tie": 0, "abstains": 0}
    assert [played.step(f"6/ballot/juror{n}").seat.model for n in (1, 2, 3)] == ["sim:x", "sim:y", "sim:x"]


def test_jurors_who_read_both_orders_and_flip_do_not_count():
    played = play(script_of("duel", jury=2, swap=True), ballots(8, 3))  # always for the side that is read first
    outcome = played.outcome
    assert len([key for key in played.keys if "/ballot/" in key]) == 4
    assert outcome.flip_rate == 1.0
    assert outcome.tally == {"a": 1, "b": 0, "tie": 2, "abstains": 0}
    assert outcome.winner == "tie"  # the judge alone against two who flipped


def test_a_valid_ballot_is_shown_with_its_choice_and_an_invalid_one_abstains():
    def answer(step):
        if step.key == "1/ballot/juror2":
            return Failure(kind="invalid", message="three bad tries")
        return {**BALLOT, "score_second": 6} if step.key == "1/ballot/juror3" else good(step)

    played = play(script_of("classic", max_rounds=1, jury=3), answer)
    wording = wording_of(debate_of("classic", max_rounds=1, jury=3))
    shown = {event.turn.seat: wording.caption(event).headline for event in played.events if event.type == "BALLOT"}
    assert shown == {
        "juror1": "Juror 1 votes, round 1: for Debater A (for), Debater A (for) 6, Debater B (against) 4",
        "juror2": "Juror 2 abstains, round 1",
        "juror3": "Juror 3 votes, round 1: for neither side, Debater A (for) 6, Debater B (against) 6",
    }
    outcome = played.outcome
    assert [(vote.seat, vote.choice, vote.key, vote.reason) for vote in outcome.votes] == [
        ("juror1", "a", "1/ballot/juror1", ""),
        ("juror2", "abstains", "1/ballot/juror2", "three bad tries"),
        ("juror3", "tie", "1/ballot/juror3", ""),
    ]
    assert outcome.tally == {"a": 2, "b": 0, "tie": 1, "abstains": 1}
    assert outcome.support == 2 / 3
    assert outcome.decided_by == "the judge and 3 jurors, counted by code"
