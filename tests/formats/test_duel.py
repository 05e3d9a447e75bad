"""The rules of a duel: calls, waves, order, privacy, verdict."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from moot.core.errors import InputError
from moot.core.settings import read
from moot.core.types import Failure
from moot.formats.duel.settings import DuelSettings
from moot.formats.duel.verdict import record_for
from tests.formats.council.answers import shown
from tests.formats.ways import good_but
from tests.playing import good, play, script_of

SHEET = {
    "debaters": [
        {"name": "Ada", "personality": "P-ada", "position": "Q-ada", "instructions": "I-ada"},
        {"name": "Basil", "personality": "P-basil", "position": "Q-basil", "instructions": "I-basil"},
    ],
    "judge": {"name": "Cleo", "personality": "P-cleo", "judging_criteria": "C-cleo"},
}


def a_turn(n: int) -> list[str]:
    seat = "a" if n % 2 else "b"
    return [f"THINK {n}/think/{seat}", f"TURN {n}/speak/{seat}", f"THINK {n}/evaluate/judge", f"SCORE {n}/score/judge"]


DOCUMENT_ORDER = [
    *("HEADER -", "PLAN 0/plan/a", "PLAN 0/plan/b"),
    *(line for n in range(1, 7) for line in a_turn(n)),
    *("THINK 6/deliberate/judge", "VERDICT -"),
]


def test_six_turns_are_thirty_calls_in_nineteen_waves_shown_in_the_documents_order():
    played = play(script_of("duel", turns=6))
    assert len(played.turns) == 30
    assert played.waves == 19
    assert shown(played) == DOCUMENT_ORDER


@given(st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_the_order_shown_does_not_depend_on_who_is_faster(rng: random.Random):
    played = play(script_of("duel"), order=lambda steps: rng.sample(steps, len(steps)), one_by_one=True)
    assert shown(played) == DOCUMENT_ORDER
    assert len(played.turns) == 30


@pytest.mark.parametrize(("turns", "calls"), [(2, 14), (7, 34)])
def test_calls_for_other_numbers_of_turns(turns: int, calls: int):
    assert len(play(script_of("duel", turns=turns)).turns) == calls


def test_system_prompts_are_joined_in_the_order_given():
    played = play(script_of("duel", **SHEET))
    assert played.step("0/plan/a").messages[0].text.startswith("P-ada\n\nQ-ada\n\nI-ada")
    assert played.step("0/plan/b").messages[0].text.startswith("P-basil\n\nQ-basil\n\nI-basil")
    assert played.step("1/evaluate/judge").messages[0].text.startswith("P-cleo\n\nC-cleo")


def test_each_debaters_last_turn_is_a_closing_turn():
    for turns in (4, 5):
        played = play(script_of("duel", turns=turns))
        closing = [step.key for step in played.steps if step.prompt.name == "duel/close"]
        speaking = [step.key for step in played.steps if step.phase == "speak"]
        assert closing == speaking[-2:]
        thinking = [step for step in played.steps if step.phase == "think" and "It is your last" in step.prompt.text]
        assert [step.round for step in thinking] == [turns - 1, turns]


def test_the_first_score_of_each_speaker_is_a_first_impression():
    played = play(script_of("duel"))
    names = [step.prompt.name for step in played.steps if step.phase == "score"]
    assert names == ["duel/score_first"] * 2 + ["duel/score"] * 4


def test_who_saw_what():
    """In all messages sent: thoughts, plans and scores stay with their seat; the judge reads public turns only."""
    said: dict[str, str] = {}

    def answer(step):
        words = said.setdefault(step.key, f"secret<{step.key}>")
        if step.returns is None:
            return words
        data = good(step)
        return {**data, "reasoning": words} if "reasoning" in data else data

    played = play(script_of("duel", premise="Tea beats coffee.", **SHEET), answer)
    for key, words in said.items():
        readers = {step.seat.id for step, messages in played.sent if any(words in m.text for m in messages)}
        if "/speak/" in key:  # an author reads their own words again, unless they were the last
            last = {"5/speak/a": {"b", "judge"}, "6/speak/b": {"judge"}}
            assert readers == last.get(key, {"a", "b", "judge"})
        else:
            assert readers <= {key.rpartition("/")[2]}, f"{key} was read by {readers}"
    for step, messages in played.sent:
        if step.seat.id == "judge":
            assert not any("think" in m.text and "secret<" in m.text for m in messages if m.role == "user")
        else:
            assert not any("out of 10" in m.text for m in messages)
    briefed = {step.seat.id: messages[0].text for step, messages in played.sent}
    assert "ada" in briefed["a"]
    assert "basil" not in briefed["a"]
    assert "ada" not in briefed["judge"]
    assert "basil" not in briefed["judge"]


def test_the_premise_is_spoken_of_only_when_there_is_one():
    without = play(script_of("duel"))
    assert not any("premise" in m.text or "proposition" in m.text for _, messages in without.sent for m in messages)
    assert without.outcome.details["premise_upheld"] is None
    with_ = play(script_of("duel", premise="Tea beats coffee."))
    told = "You argue FOR this proposition: “Tea beats coffee.”"
    assert told in with_.step("1/think/a").prompt.text
    assert told in with_.step("0/plan/a").messages[0].text
    assert told.replace("FOR", "AGAINST") in with_.step("0/plan/b").messages[0].text
    assert "Basil argues against it." in with_.step("6/deliberate/judge").prompt.text
    assert with_.outcome.details["premise_upheld"] is True
    assert with_.outcome.headline == (
        "The premise is upheld. Ada, who argued for it, won 8 to 6 (not checked in the other order)."
    )


def test_the_premise_is_rejected_when_its_opponent_wins():
    answer = good_but({"winner": "Basil"}, at="confirm")
    outcome = play(script_of("duel", premise="Tea beats coffee."), answer).outcome
    assert (outcome.winner, outcome.details["premise_upheld"]) == ("b", False)


def test_the_record_must_agree_with_what_the_judge_confirmed():
    record = record_for("Ada", "Basil", "Ada")
    record.model_validate({"winner": "Ada", "scores": {"Ada": 8, "Basil": 7}})
    for bad in (
        {"winner": "Ada", "scores": {"Ada": 7, "Basil": 7}},
        {"winner": "Basil", "scores": {"Ada": 5, "Basil": 8}},
        {"winner": "Ada", "scores": {"Ada": 5, "Basil": 8}},
        {"winner": "Ada", "scores": {"Ada": 5}},
        {"winner": "Ada", "scores": {"Ada": 5, "Basil": 11}},
        {"winner": "Ada", "scores": {"Ada": 5, "Eve": 1}},
        {"winner": "Ada", "scores": {"Ada": 5, "Basil": 1, "Eve": 1}},
        {"winner": "Eve", "scores": {"Ada": 5, "Basil": 1}},
    ):
        with pytest.raises(ValidationError):
            record.model_validate(bad)


INVALID = Failure(kind="invalid", message="three bad tries")
LIMIT = Failure(kind="limit", message="none left")


@pytest.mark.parametrize(("phase", "failure"), [("confirm", INVALID), ("extract", INVALID), ("deliberate", LIMIT)])
def test_without_a_valid_verdict_the_duel_is_undecided_and_says_why(phase: str, failure: Failure):
    outcome = play(script_of("duel"), good_but(failure, at=phase)).outcome
    assert (outcome.winner, outcome.verdict_source) == ("undecided", "fallback")
    assert failure.message in outcome.reason
    assert outcome.scores == {"a": None, "b": None}


def test_an_invalid_score_is_no_score_and_does_not_end_the_duel():
    played = play(script_of("duel"), good_but(INVALID, at="6/score/judge"))
    assert played.outcome.details["running_scores"] == {"a": 7, "b": None}
    assert played.outcome.winner == "a"


def test_a_limit_ends_the_duel_with_a_verdict_on_what_was_said():
    played = play(script_of("duel"), good_but(LIMIT, at="3/think/a"))
    assert (played.outcome.ended_by, played.outcome.winner) == ("max_total_output_tokens", "a")
    assert "4/think/b" not in played.keys
    assert played.keys[-1] == "6/announce/judge"


def test_a_blind_judge_reads_labels_and_the_outcome_names_names():
    answer = good_but("Speaker One was better than Speaker Two.", at="announce")
    played = play(script_of("duel", blind=True, premise="P.", **SHEET), answer)
    judge = [m.text for step, messages in played.sent if step.seat.id == "judge" for m in messages]
    assert not any("Ada" in text or "Basil" in text for text in judge)
    assert any("Speaker One" in text for text in judge)
    assert played.outcome.statement == "Ada was better than Basil."
    assert played.outcome.winner == "a"


def test_two_debaters_of_one_name_are_refused():
    twins = [{"name": "Ada"}, {"name": "ada"}]
    with pytest.raises(InputError, match="both debaters are called"):
        read(DuelSettings, {"debaters": twins})


@pytest.mark.parametrize("name", ['Ad"a', "A\nda", "", "x" * 61])
def test_names_that_could_break_a_prompt_are_refused(name: str):
    with pytest.raises(InputError):
        read(DuelSettings, {"debaters": [{"name": name}, {"name": "Basil"}]})
