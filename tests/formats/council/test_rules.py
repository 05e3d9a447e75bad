"""The rules of a council: who is asked what, when it debates, and how it ends."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.types import FinalAnswer
from tests.formats.council.answers import INVALID, LIMIT, NAMES, ballot, council, labels_in, shown
from tests.playing import play, script_of, turn_for


def of_all(event: str, *phases: str) -> list[str]:
    return [f"{event} {phase}/m{n}" for phase in phases for n in (1, 2, 3)]


AGREED = ["HEADER -", *of_all("TURN", "0/answer"), *of_all("BALLOT", "0/rank"), "TALLY -", "VERDICT -"]


def a_round(n: int) -> list[str]:
    return [*of_all("TURN", f"{n}/object", f"{n}/rebut"), *of_all("BALLOT", f"{n}/rank"), "TALLY -"]


def test_a_council_that_agrees_votes_once_and_does_not_debate():
    played = play(script_of("council", **NAMES), council())
    assert shown(played) == AGREED
    assert played.waves == 3
    assert len(played.turns) == 7
    outcome = played.outcome
    assert (outcome.winner, outcome.ended_by, outcome.verdict_source) == ("m1", "agreement", "jury")
    assert outcome.headline == outcome.statement == "The council's answer."
    assert outcome.how == "Ines's answer ranks first; 3 of 3 members stand behind it."
    assert outcome.answer == FinalAnswer(value="The council's answer.")
    assert outcome.scores == {"m1": 1.0, "m2": 0.5, "m3": 0.0}
    assert outcome.details["agreement"] == 1.0
    assert outcome.details["condorcet_winner"] == "m1/0"
    assert outcome.details["dissent"] == []


def test_a_council_that_disagrees_debates_until_its_rounds_are_over():
    played = play(script_of("council", max_rounds=2, **NAMES), council(behind=()))
    assert shown(played) == [*AGREED[:-1], *a_round(1), *a_round(2), "VERDICT -"]
    assert len(played.turns) == 6 + 9 + 9 + 1
    assert played.waves == 2 + 3 + 3 + 1
    assert played.outcome.ended_by == "max_rounds"
    assert played.outcome.winner == "m1"
    assert played.outcome.details["agrees"] is False


def test_it_debates_only_as_long_as_it_disagrees():
    def rank(step):
        return ballot(step, ["m1/0"], ["m1/0"] if step.round else [])

    played = play(script_of("council", max_rounds=5, **NAMES), council(rank=rank))
    assert (played.outcome.ended_by, played.rounds) == ("agreement", 1)


@pytest.mark.parametrize(
    ("depth", "behind", "rounds", "ended_by"),
    [
        ("auto", ("m1/0",), 0, "agreement"),
        ("auto", (), 2, "max_rounds"),
        ("vote", (), 0, "vote"),
        ("vote", ("m1/0",), 0, "vote"),
        ("debate", ("m1/0",), 2, "max_rounds"),
    ],
)
def test_depth(depth, behind, rounds, ended_by):
    played = play(script_of("council", depth=depth, **NAMES), council(behind=behind))
    assert (played.rounds, played.outcome.ended_by) == (rounds, ended_by)


@pytest.mark.parametrize(("agreement", "rounds"), [(0.66, 0), (0.75, 1)])
def test_how_many_must_stand_behind_the_answer_is_a_setting(agreement, rounds):
    two_of_three = council(**{"0_rank_m3": lambda step: ballot(step, ["m1/0"], [])})
    played = play(script_of("council", agreement=agreement, max_rounds=1, **NAMES), two_of_three)
    assert played.rounds == rounds


@given(st.randoms(use_true_random=False), st.sampled_from([(), ("m2", "m3")]))
@settings(max_examples=10)
def test_neither_the_order_shown_nor_the_outcome_depends_on_who_is_faster(rng: random.Random, revise):
    answer = council(behind=(), revise=revise, **{"1_rank_m2": INVALID})
    slow = play(script_of("council", **NAMES), answer)
    fast = play(
        script_of("council", **NAMES), answer, order=lambda steps: rng.sample(steps, len(steps)), one_by_one=True
    )
    assert shown(fast) == shown(slow)
    assert fast.outcome == slow.outcome
    again = script_of("council", **NAMES)
    replayed = again.replay([turn_for(step, answer(step), n) for n, step in enumerate(fast.steps, 1)])
    assert [(each.type, each.key, each.data) for each in replayed] == [(e.type, e.key, e.data) for e in fast.shown]
    assert again.outcome == fast.outcome


def test_who_saw_what():
    """In all messages sent: no answer is read before all have answered, and no ballot by anyone but its author."""
    played = play(script_of("council", max_rounds=1, **NAMES), council(behind=(), revise=("m2",)))
    for step, messages in played.sent:
        text = "\n".join(message.text for message in messages)
        me = step.seat.id
        if step.phase == "answer":
            assert "Words of" not in text
        if step.phase in ("rank", "object", "rebut"):
            assert f"[words of answer {me}" not in text
            assert not {f"{me}/0", f"{me}/1"} & labels_in(step).keys()
        for other in ("m1", "m2", "m3"):
            if other != me:
                assert not any(f"Reasoning of {n}/rank/{other}" in text for n in (0, 1))
        assert "points" not in text or me == "chair"
        assert "behind it" not in text or me == "chair"
        assert '"confidence": 73' not in "\n".join(m.text for m in messages if m.role != "assistant")
    assert set(labels_in(played.step("0/rank/m1"))) == {"m2/0", "m3/0"}
    assert set(labels_in(played.step("1/rank/m1"))) == {"m2/0", "m2/1", "m3/0"}
    assert set(labels_in(played.step("1/rank/m2"))) == {"m1/0", "m3/0"}
    assert set(labels_in(played.step("1/synthesize/chair"))) == {"m1/0", "m2/0", "m2/1", "m3/0"}


def test_names_and_models_are_never_read_by_anyone():
    members = [{"name": "Ines", "model": "sim:x"}, {"name": "Jonas", "model": "openai:gpt-6"}, {"name": "Karin"}]
    played = play(script_of("council", members=members, chair={"name": "Lena"}), council(behind=(), revise=("m1",)))
    read_by_all = "\n".join(message.text for _, messages in played.sent for message in messages)
    for secret in ("Ines", "Jonas", "Karin", "Lena", "sim:", "gpt", "scripted"):
        assert secret not in read_by_all


def test_perspectives_are_private():
    members = [{"perspective": "P-one"}, {"perspective": "P-two"}]
    played = play(script_of("council", members=members), council(behind=()))
    for step, messages in played.sent:
        text = "\n".join(message.text for message in messages)
        assert ("P-one" in text) == (step.seat.id == "m1")
        assert ("P-two" in text) == (step.seat.id == "m2")


def test_a_member_without_a_valid_answer_votes_and_does_not_debate():
    played = play(script_of("council", max_rounds=1, **NAMES), council(behind=(), **{"0_answer_m3": INVALID}))
    assert "0/rank/m3" in played.keys
    assert not {"1/object/m3", "1/rebut/m3"} & set(played.keys)
    assert set(labels_in(played.step("0/rank/m3"))) == {"m1/0", "m2/0"}
    outcome = played.outcome
    assert outcome.winner == "m1"
    assert outcome.details["no_answer"] == {"m3": "three bad tries"}
    assert [each["position"] for each in outcome.details["dissent"]] == ["What m2 holds at 0", ""]


def test_one_answer_is_not_ranked_and_none_is_not_written_up():
    alone = {f"0_answer_m{n}": INVALID for n in (2, 3)}
    played = play(script_of("council", **NAMES), council(**alone))
    assert played.keys == ["0/answer/m1", "0/answer/m2", "0/answer/m3", "0/synthesize/chair"]
    outcome = played.outcome
    assert (outcome.winner, outcome.ended_by) == ("undecided", "too_few_answers")
    assert "nothing to rank" in outcome.reason
    nobody = play(script_of("council", **NAMES), council(answer=INVALID))
    assert nobody.keys == ["0/answer/m1", "0/answer/m2", "0/answer/m3"]
    assert nobody.outcome.reason == "No member gave a valid answer. three bad tries"
    assert nobody.outcome.statement == ""


def test_objections_reach_authors_and_everyone_hears_them_blind():
    def objecting(step):
        target = {"m1": "m2/0", "m2": "m1/0", "m3": "m1/0"}[step.seat.id]
        asked = next(s for s in played_steps if s.key == f"0/rank/{step.seat.id}")
        return {"against": labels_in(asked)[target], "objection": f"Objection of {step.seat.id}."}

    played_steps = []

    def answer(step):
        played_steps.append(step)
        return council(behind=(), object=objecting)(step)

    played = play(script_of("council", max_rounds=1, **NAMES), answer)
    to_m1 = played.step("1/rebut/m1").prompt.text
    assert to_m1.count("This was said against your answer") == 2
    assert "Objection of m2." in to_m1
    assert "Objection of m1." not in to_m1  # its own
    to_m3 = played.step("1/rebut/m3").prompt.text
    assert to_m3.startswith("Nobody objected to your answer.")
    labels = labels_in(played.step("0/rank/m3"))
    assert f"This was said against answer {labels['m1/0']}:" in to_m3
    assert f"This was said against answer {labels['m2/0']}:" in to_m3
    assert "Objection of m3." not in to_m3
    step = played.step("1/object/m3")
    assert step.record(step.returns.model_validate(objecting(step))) == {"to": "m1"}


def test_a_rebuttal_is_read_with_the_answer_it_defends():
    played = play(script_of("council", max_rounds=1, **NAMES), council(behind=(), revise=("m2",)))
    text = played.step("1/rank/m1").prompt.text
    quotes = {
        seat_round: text[text.index(f"[words of answer {label} begin") : text.index(f"[words of answer {label} end")]
        for seat_round, label in labels_in(played.step("1/rank/m1")).items()
    }
    assert "Rebuttal at 1/rebut/m2." in quotes["m2/1"]
    assert "Rebuttal" not in quotes["m2/0"]
    assert "Rebuttal at 1/rebut/m3." in quotes["m3/0"]


def test_a_limit_among_the_answers_ends_with_a_vote_on_what_there_is():
    played = play(script_of("council", **NAMES), council(behind=(), **{"0_answer_m3": LIMIT}))
    assert played.outcome.ended_by == "max_total_output_tokens"
    assert played.keys[3:] == ["0/rank/m1", "0/rank/m2", "0/rank/m3", "0/synthesize/chair"]
    assert played.outcome.details["no_answer"] == {"m3": "none left"}


@pytest.mark.parametrize(("at", "votes_again"), [("1_object_m2", False), ("1_rebut_m2", True), ("rebut", False)])
def test_a_limit_in_the_debate_ends_it_and_only_what_is_new_is_voted_on(at, votes_again):
    played = play(script_of("council", **NAMES), council(behind=(), **{at: LIMIT}))
    outcome = played.outcome
    assert (outcome.winner, outcome.ended_by) == ("m1", "max_total_output_tokens")
    assert ("1/rank/m1" in played.keys) == votes_again
    assert played.keys[-1] == "1/synthesize/chair"


def test_a_limit_among_the_ballots_is_an_abstention():
    played = play(script_of("council", **NAMES), council(**{"0_rank_m3": LIMIT, "1_object_m1": LIMIT}))
    ballot = next(ballot for ballot in played.outcome.polls[0].ballots if ballot.voter == "m3")
    assert (ballot.ranking, ballot.reason) == ((), "none left")
    assert "1/object/m3" not in played.keys  # it has read nothing to object to


def test_votes_and_chair_are_kept_affordable():
    played = play(script_of("council", **NAMES), council())
    kept = played.step("0/answer/m1").leave
    assert (kept.calls, kept.tokens) == (4, 3 * 800 + 1200)
    assert played.step("0/rank/m1").closing
    assert played.step("0/synthesize/chair").closing
