"""The rules of a panel: its rounds, its endings, and what a person can change."""

from __future__ import annotations

import random
import re
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.settings import read
from moot.core.types import Failure, FinalAnswer
from moot.formats import wording_of
from moot.formats.panel.settings import PanelSettings
from moot.records.record import record_of
from moot.records.transcript import render
from tests.formats.panel.answers import SYNTHESIS, TOPIC, analysis, answers, assessment, framing, rebuttal, run
from tests.playing import finished, play, script_of


def test_a_round_is_arguments_at_once_then_rebuttals_in_turn_then_the_moderator_then_you():
    played = run(max_rounds=2)
    assert played.keys == [
        "0/analyze/moderator",
        "1/argue/p1",
        "1/argue/p2",
        "1/rebut/p1",
        "1/rebut/p2",
        "1/evaluate/moderator",
        "1/checkpoint/you",
        "2/argue/p1",
        "2/argue/p2",
        "2/compare/memory",
        "2/rebut/p1",
        "2/rebut/p2",
        "2/evaluate/moderator",
        "2/synthesize/moderator",
    ]
    assert played.waves == 11  # the arguments of a round share a wave, and the comparison waits for no one
    assert played.shown[-1].type == "VERDICT"


def test_the_defaults_of_the_document():
    settings_ = PanelSettings()
    assert settings_.max_rounds == 5
    assert settings_.default_perspectives == 2
    assert settings_.token_budget_per_round == 2000
    assert settings_.round_timeout_seconds == 120
    assert settings_.checkpoint_timeout_seconds == 1800
    assert settings_.max_runtime_seconds == 1800
    assert read(PanelSettings, {"token_budget_per_round": "unlimited"}).token_budget_per_round == 0


AGREE = {"rebut": rebuttal("agree")}
YIELD = {"rebut": lambda s: rebuttal("hold") if s.seat.id == "p1" else rebuttal("concede", "Performance Advocate")}
LOW = "The recommendation has low confidence."


@pytest.mark.parametrize(
    ("ending", "by_phase", "rounds", "winner", "how"),
    [
        ("agreement", AGREE, 1, "consensus", "The panel agrees."),
        ("clear_winner", YIELD, 1, "p1", "Performance Advocate prevails."),
        ("stagnation", {"evaluate": assessment("stagnating")}, 2, "undecided", LOW),
        ("max_rounds", {}, 3, "undecided", LOW),
    ],
)
def test_the_four_endings(ending, by_phase, rounds, winner, how):
    played = run(answers(**by_phase), max_rounds=3)
    outcome, settled = played.outcome, ending in ("agreement", "clear_winner")
    assert (outcome.ended_by, played.rounds, outcome.winner, outcome.how) == (ending, rounds, winner, how)
    assert outcome.record.recommendation == "Start with PostgreSQL."
    assert outcome.confidence.level == ("High" if settled else "Low")
    assert outcome.verdict_source == "rules"
    positions, synthesis = (
        "the perspectives' stated positions, read by code",
        "the moderator's synthesis; the perspectives did not agree",
    )
    assert outcome.decided_by == (positions if settled else synthesis)
    debate = finished("panel", played, TOPIC, max_rounds=3)
    record = record_of(debate, played.turns, wording_of(debate), demonstration=False)
    assert record.decided.by == outcome.decided_by


@pytest.mark.parametrize(("by_phase", "begins"), [(AGREE, ""), ({}, "Not settled; recommended: ")])
def test_the_headline_answers_the_question(by_phase, begins):
    written = {**SYNTHESIS, "recommendation": "**Start with PostgreSQL**, e.g. in one table. Measure it."}
    outcome = run(answers(synthesize=written, **by_phase), max_rounds=1).outcome
    answer = "Start with PostgreSQL, e.g. in one table."
    assert outcome.headline == f"{begins}{answer}"
    assert outcome.answer == FinalAnswer(kind="text", value=answer)
    assert outcome.statement == written["recommendation"]


@pytest.mark.parametrize("synthesis", [{**SYNTHESIS, "recommendation": "---"}, Failure(kind="invalid", message="Bad.")])
def test_without_a_recommendation_the_headline_says_why_it_is_undecided(synthesis):
    outcome = run(answers(synthesize=synthesis, rebut=rebuttal("agree")), max_rounds=1).outcome
    assert (outcome.winner, outcome.headline) == ("undecided", "Undecided: there is no valid synthesis.")
    assert (outcome.answer, outcome.how) == (None, "")
    assert outcome.reason


VAGUE = analysis(clarifying_question="Which data?")


def test_a_vague_question_is_asked_back_first_and_the_answer_reaches_everyone():
    played = run(answers(analyze=VAGUE), max_rounds=1)
    assert played.keys[:3] == ["0/analyze/moderator", "0/clarify/you", "0/frame/moderator"]
    assert "Which data?" in played.step("0/clarify/you").prompt.text
    assert "For sessions." in played.step("1/argue/p1").messages[0].text


def sent(played, key):
    """The text of all messages that were sent for a step."""
    return next("\n\n".join(message.text for message in messages) for step, messages in played.sent if step.key == key)


def outside_of_fences(text):
    return re.sub(r"\[words of .*? begin (\w+)\].*?\[words of .*? end \1\]", "", text, flags=re.DOTALL)


def test_what_the_person_clarified_and_advised_reaches_assessments_and_synthesis():
    guide = {"choice": "guide", "text": "Mind our team."}
    played = run(answers(analyze=VAGUE, checkpoint=guide), max_rounds=2)
    for key in ("1/evaluate/moderator", "2/evaluate/moderator", "2/synthesize/moderator"):
        assert "Asked what exactly is meant: For sessions." in outside_of_fences(played.step(key).prompt.text)
    assert "Mind our team." not in sent(played, "1/evaluate/moderator")
    for key in ("2/evaluate/moderator", "2/synthesize/moderator"):
        assert "Guidance after round 1: Mind our team." in outside_of_fences(played.step(key).prompt.text)
    assert played.outcome.details["clarification"] == "For sessions."
    assert played.outcome.details["guidance"] == ["Mind our team."]


def test_perspectives_are_chosen_after_the_clarification():
    chosen = framing(debaters=3, perspectives=["Security Advocate", "User Experience", "Cost Steward"])
    played = run(answers(analyze=VAGUE, frame=chosen), max_rounds=1)
    assert "For sessions." in sent(played, "0/frame/moderator")
    assert list(played.outcome.names.values()) == ["Security Advocate", "User Experience", "Cost Steward"]


def test_without_a_valid_second_look_the_first_one_counts():
    played = run(answers(analyze=VAGUE, frame=Failure(kind="invalid", message="garbage")), max_rounds=1)
    assert list(played.outcome.names.values()) == ["Performance Advocate", "Operational Simplicity"]


def test_nothing_to_add_is_not_looked_at_again():
    played = run(answers(analyze=VAGUE, clarify={"text": ""}), max_rounds=1)
    assert "0/frame/moderator" not in played.keys
    assert "The person who asked has said" not in sent(played, "1/evaluate/moderator")


def test_the_moderators_framing_and_constraints_reach_the_debaters_inside_a_fence():
    given_ = analysis(framing="Which of the two for sessions?", constraints=["Two people on call.", "Ship in May."])
    played = run(answers(analyze=given_), max_rounds=2)
    for seat in ("p1", "p2"):
        text = sent(played, f"1/argue/{seat}")
        for words in ("Which of the two for sessions?", "Two people on call.", "Ship in May."):
            assert words in text
            assert words not in outside_of_fences(text)
        assert "Ship in May." in sent(played, f"2/argue/{seat}")  # it stays in the seat's history


def test_redirects_and_who_left_the_question_are_in_the_transcript():
    played = run(answers(evaluate=assessment(off_topic=["Performance Advocate"])), max_rounds=1)
    debate = finished("panel", played, TOPIC, max_rounds=1)
    text = render(debate, played.events, wording_of(debate), demonstration=False)
    assert "Both spoke.\n\nLeft the question: Performance Advocate.\n\nNext: Look at cost." in text


def test_without_checkpoints_nobody_is_asked():
    played = run(answers(analyze=VAGUE), max_rounds=3, checkpoints=False)
    assert not any(step.kind == "gate" for step in played.steps)


def test_guidance_reaches_the_next_round_outside_of_any_fence():
    guide = {"choice": "guide", "text": "Mind our PostgreSQL experience."}
    played = run(answers(checkpoint=guide), max_rounds=2)
    text = played.step("2/argue/p2").prompt.text
    assert "Guidance from the person who asked: Mind our PostgreSQL experience." in text
    assert played.outcome.details["guidance"] == ["Mind our PostgreSQL experience."]


def test_the_person_can_end_it():
    played = run(answers(checkpoint={"choice": "end", "text": ""}))
    assert (played.outcome.ended_by, played.rounds) == ("person", 1)
    assert played.outcome.confidence.level == "Low"


def test_a_checkpoint_says_what_happens_when_nobody_answers():
    step = run(max_rounds=2).step("1/checkpoint/you")
    assert (step.gate, step.timeout_seconds) == ("checkpoint", 1800)
    assert step.otherwise is None  # it pauses
    assert step.artifacts == {"summary": "Both spoke.", "state": "new_ground", "measured": None}


def test_a_round_that_takes_too_long_is_cut_short_and_assessed():
    clock = count()

    def half_a_second(step):
        at = next(clock) / 2
        return {"started_at": at, "created_at": at + 0.5}

    script = script_of("panel", topic=TOPIC, max_rounds=1, round_timeout_seconds=1)
    played = play(script, answers(), one_by_one=True, times=half_a_second)
    assert "1/rebut/p1" not in played.keys  # two arguments have used up the second
    assert "1/evaluate/moderator" in played.keys
    (cut,) = [each.data for each in played.shown if each.type == "CUT"]
    assert cut == {"round": 1, "unheard": ["Performance Advocate", "Operational Simplicity"]}
    assert played.outcome.details["cut_short"] == [1]
    assert played.outcome.ended_by == "max_rounds"


def test_rebuttals_see_all_arguments_and_the_rebuttals_before_them():
    speaks = answers(
        argue=lambda s: f"argument of {s.seat.id} in {s.round}",
        rebut=lambda s: rebuttal(text=f"rebuttal of {s.seat.id} in {s.round}"),
    )
    played = run(speaks, max_rounds=2)
    first, second = played.step("2/rebut/p1").prompt.text, played.step("2/rebut/p2").prompt.text
    assert "argument of p2 in 2" in first
    assert "rebuttal of p2" not in first
    assert "argument of p1 in 2" in second
    assert "rebuttal of p1 in 2" in second
    assert "in 1" not in second


def test_an_invalid_synthesis_is_undecided_and_the_arguments_are_kept():
    outcome = run(answers(synthesize=Failure(kind="invalid", message="no JSON")), max_rounds=1).outcome
    assert (outcome.winner, outcome.verdict_source, outcome.reason) == ("undecided", "fallback", "no JSON")
    assert all(position.arguments for position in outcome.record.positions)


def test_a_limit_ends_the_panel_with_what_there_is():
    def limited(step):
        return Failure(kind="limit", message="none left") if step.round == 2 else answers()(step)

    outcome = run(answers(argue=limited), max_rounds=4).outcome
    assert outcome.ended_by == "max_total_output_tokens"
    assert outcome.reason == "The panel did not settle it: the limit max_total_output_tokens was reached."
    assert outcome.confidence.level == "Low"


@given(st.randoms(use_true_random=False))
@settings(max_examples=5)
def test_it_replays_whoever_is_faster(rng: random.Random):
    played = play(
        script_of("panel", topic=TOPIC, max_rounds=2),
        answers(argue=lambda s: f"words of {s.seat.id} in round {s.round}"),
        order=lambda steps: rng.sample(steps, len(steps)),
        one_by_one=True,
    )
    again = script_of("panel", topic=TOPIC, max_rounds=2)
    assert again.replay(played.turns) == played.shown
    assert again.outcome == played.outcome


def test_the_budget_of_a_round_is_shared_by_argument_and_rebuttal():
    played = run(max_rounds=1, token_budget_per_round=300)
    assert played.step("1/argue/p1").max_tokens == 150
    assert played.step("1/rebut/p1").max_tokens == 150
    free = run(max_rounds=1, token_budget_per_round="unlimited")
    assert free.step("1/argue/p1").max_tokens == 1000
    assert free.step("1/rebut/p1").most_tokens is None
    least = run(max_rounds=1, token_budget_per_round=1)
    assert least.step("1/argue/p1").max_tokens == 1  # and not: no limit


def used(tokens):
    return lambda step: {"tokens_out": tokens} if step.phase in ("argue", "rebut") else {}


def test_what_is_left_of_a_rounds_budget_bounds_the_answer_and_all_its_tries():
    script = script_of("panel", topic=TOPIC, max_rounds=2, checkpoints=False)
    played = play(script, answers(), times=used(1000))
    for round in (1, 2):  # each round has a budget of its own, and with the default caps it can be used up
        argues, rebuts = played.step(f"{round}/argue/p1"), played.step(f"{round}/rebut/p1")
        assert (argues.max_tokens, argues.most_tokens) == (1000, 2000)
        assert (rebuts.max_tokens, rebuts.most_tokens) == (1000, 1000)
    short = play(script_of("panel", topic=TOPIC, max_rounds=1), answers(), times=used(1700))
    assert short.step("1/rebut/p1").max_tokens == 300


def test_who_has_used_a_rounds_budget_is_not_asked_again_in_it():
    def tokens(step):
        return {"tokens_out": 2000} if step.key == "1/argue/p1" else {}

    played = play(script_of("panel", topic=TOPIC, max_rounds=2), answers(), times=tokens)
    assert "1/rebut/p1" not in played.keys
    assert {"1/rebut/p2", "2/argue/p1", "2/rebut/p1"} <= set(played.keys)
    (spent,) = [event for event in played.events if event.type == "SPENT"]
    heading = wording_of(finished("panel", played)).caption(spent).heading
    assert heading == "Performance Advocate has used its 2000 tokens for round 1 and is not heard in answer."


COPIED = "Start with PostgreSQL and measure it for a month."


def copying(step):
    return rebuttal("agree", text=f"{step.seat.id} in {step.round}.", recommendation=COPIED)


def test_a_recommendation_in_anothers_words_is_no_agreement():
    played = run(answers(rebut=copying), max_rounds=2, checkpoints=False)
    outcome = played.outcome
    assert (outcome.ended_by, outcome.winner) == ("max_rounds", "undecided")
    note = "Operational Simplicity repeated Performance Advocate's words; that is not counted as agreement."
    assert outcome.notes == (note,)
    assert note in outcome.record.caveats
    assert "repeats the words of Performance Advocate, which is no agreement" in sent(played, "1/evaluate/moderator")
    shown = [each.data for each in played.shown if each.type == "COPIED"]
    assert [(each["name"], each["round"]) for each in shown] == [
        ("Operational Simplicity", 1),
        ("Operational Simplicity", 2),
    ]


@pytest.mark.parametrize(
    ("second", "winner"),
    [
        ("I would now start with PostgreSQL and measure it for a month.", "undecided"),
        ("start with postgresql, and measure it - for a month!", "undecided"),
        ("Begin with the database that runs already, then look at the numbers.", "consensus"),
    ],
)
def test_only_agreement_in_ones_own_words_counts(second, winner):
    def position(step):
        return rebuttal("agree", recommendation=COPIED if step.seat.id == "p1" else second)

    outcome = run(answers(rebut=position, evaluate=assessment("converging")), max_rounds=1).outcome
    assert (outcome.winner, bool(outcome.notes)) == (winner, winner == "undecided")


def test_who_said_it_first_may_say_it_again():
    def position(step):
        if step.round == 1:  # the second copies the first
            return rebuttal("hold", recommendation=COPIED)
        return rebuttal("agree", recommendation=COPIED if step.seat.id == "p1" else "Let us look at PostgreSQL first.")

    outcome = run(answers(rebut=position), max_rounds=2).outcome
    assert (outcome.ended_by, outcome.notes) == ("agreement", ())


def test_an_argument_copied_from_another_does_not_become_ones_own():
    def argues(step):
        return COPIED if (step.round, step.seat.id) in ((1, "p1"), (2, "p2")) else f"{step.key} {step.seat.id}"

    def position(step):
        copies = step.round == 2 and step.seat.id == "p2"
        return rebuttal("agree" if step.round == 2 else "hold", recommendation=COPIED if copies else None)

    outcome = run(answers(argue=argues, rebut=position), max_rounds=2).outcome
    assert outcome.winner == "undecided"
    assert "Operational Simplicity repeated Performance Advocate's words" in outcome.notes[0]


def test_those_who_recommend_different_answers_do_not_agree():
    topic = "Should we move our monolith to the cloud or keep it on our own servers?"
    words = {"p1": "We should move our monolith to the cloud.", "p2": "We should keep our monolith on our own servers."}
    divided = answers(rebut=lambda step: rebuttal("agree", recommendation=words[step.seat.id]))
    outcome = play(script_of("panel", topic, max_rounds=1), divided).outcome
    assert outcome.ended_by == "max_rounds"
    assert outcome.winner != "consensus"
    words["p2"] = "Let the monolith go, and move into the cloud this summer."
    united = answers(
        rebut=lambda step: rebuttal("agree", text=f"{step.seat.id} is fine.", recommendation=words[step.seat.id])
    )
    assert play(script_of("panel", topic, max_rounds=1), united).outcome.ended_by == "agreement"
