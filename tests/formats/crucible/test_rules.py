"""The rules of a crucible: its rounds, its endings, invalid critiques."""

from __future__ import annotations

import pytest

from moot.core.types import Failure, FinalAnswer
from moot.formats.crucible.settings import CrucibleSettings
from tests.formats.crucible.answers import BAD, CONTENT, STUCK, TOPIC, critique, issue, marked, rounds, run
from tests.playing import play, script_of


def test_a_round_is_an_answer_then_a_critique_and_a_synthesis_ends_it():
    played = run(CONTENT)
    assert played.keys == [
        "0/rag/memory",
        "1/propose/proposer",
        "1/critique/skeptic",
        "2/defend/proposer",
        "2/critique/skeptic",
        "3/defend/proposer",
        "3/critique/skeptic",
        "3/synthesize/synthesizer",
    ]
    assert [shown.type for shown in played.shown] == [
        "HEADER",
        "RAG",
        *("ROUND", "TURN", "CRITIQUE") * 3,
        "ENDING",
        "SYNTHESIS",
        "VERDICT",
    ]


def test_a_satisfied_skeptic_ends_it():
    played = run(STUCK, STUCK, critique(score=8, ready=True, earlier=marked(i1="resolved", i2="resolved")))
    outcome = played.outcome
    assert (outcome.ended_by, outcome.winner, outcome.verdict_source) == ("satisfied", "consensus", "rules")
    assert (outcome.headline, outcome.how) == ("The final answer.", "The skeptic is satisfied: 8 of 10.")
    assert outcome.answer == FinalAnswer(value="The final answer.")
    assert outcome.statement == "The final answer."
    assert outcome.scores == {"proposer": 8}
    assert played.rounds == 3
    assert outcome.details["early_stopped"] is True
    assert outcome.confidence.level == "High"


@pytest.mark.parametrize(
    ("last", "threshold", "ends"),
    [
        (critique(issue(), score=8, ready=True), 8, True),
        (critique(issue(), score=8, ready=True), 9, False),  # ready, but below the threshold
        (critique(issue(), score=10, ready=False), 8, False),  # a high score alone
    ],
)
def test_satisfied_means_ready_and_the_score(last, threshold, ends):
    played = run(last, settings={"early_stop_score": threshold})
    assert (played.outcome.ended_by == "satisfied", played.rounds) == (ends, 3 if ends else 5)


def test_no_critical_issue_open_ends_it():
    resolved = critique(issue("major"), score=6, earlier=marked(i1="resolved"))
    outcome = run(STUCK, critique(earlier=marked(i1="open")), resolved).outcome
    assert (outcome.ended_by, outcome.winner) == ("no_critical", "consensus")
    assert outcome.how == "No critical issue is open; the skeptic gives it 6 of 10."
    assert outcome.confidence.level == "Medium"


def test_nothing_ends_it_before_min_rounds():
    assert run(CONTENT, settings={"min_rounds": 4}).rounds == 4
    assert run(CONTENT, settings={"min_rounds": 1}).rounds == 1
    assert run(critique(issue("minor"))).rounds == 3


def test_the_last_round_ends_it_unsettled():
    outcome = run(STUCK).outcome
    assert (outcome.ended_by, outcome.winner, outcome.verdict_source) == ("max_rounds", "undecided", "rules")
    assert outcome.how == "The skeptic's last score is 5 of 10."
    assert outcome.reason == "After 5 rounds, 5 critical issues are open."
    assert outcome.details["early_stopped"] is False
    assert outcome.statement == "The final answer."
    assert (outcome.confidence.level, outcome.record.converged) == ("Low", False)


def test_content_in_the_last_round_is_not_early():
    outcome = run(STUCK, STUCK, STUCK, STUCK, CONTENT).outcome
    assert (outcome.ended_by, outcome.winner, outcome.details["early_stopped"]) == ("satisfied", "consensus", False)


@pytest.mark.parametrize("key", ["1/propose/proposer", "2/defend/proposer", "2/critique/skeptic"])
def test_a_limit_ends_it_in_a_synthesis_of_what_there_is(key):
    answer = rounds(STUCK)
    limited = lambda step: Failure(kind="limit", message="None left.") if step.key == key else answer(step)  # noqa: E731
    played = play(script_of("crucible", topic=TOPIC), limited)
    outcome = played.outcome
    assert (outcome.ended_by, outcome.winner) == ("max_total_output_tokens", "undecided")
    assert outcome.details["early_stopped"] is False
    if key.startswith("1"):  # nothing was ever proposed
        assert played.keys[-1] == key
        assert (outcome.statement, outcome.verdict_source) == ("", "fallback")
        assert "nothing to write up" in outcome.reason
    else:
        assert played.step(played.keys[-1]).phase == "synthesize"
        assert outcome.statement == "The final answer."
        assert outcome.reason == "The limit max_total_output_tokens ended it before the skeptic was content."
        said = played.step(played.keys[-1]).prompt.text
        assert "Answer 1 of the proposer." in said
        assert ("was not heard on this answer" in said) == key.startswith("2/critique")


def test_without_a_synthesis_the_last_answer_stands_in_and_nothing_is_decided():
    outcome = run(CONTENT, final=Failure(kind="limit", message="None left.")).outcome
    assert (outcome.winner, outcome.verdict_source) == ("undecided", "fallback")
    assert outcome.headline == "Undecided: there is no final answer."
    assert outcome.reason == "The final answer was not written: None left."
    assert outcome.statement == "Answer 3 of the proposer."
    assert run(CONTENT, final=" ").outcome.reason == "The synthesizer wrote nothing."


def test_the_synthesis_is_paid_for_from_the_start():
    first = run(CONTENT).step("1/propose/proposer")
    assert (first.leave.calls, first.leave.tokens) == (1, CrucibleSettings().judge_max_tokens)


def test_an_invalid_critique_is_shown_and_never_ends_it():
    played = run(BAD, BAD, BAD, CONTENT)
    outcome = played.outcome
    assert (outcome.ended_by, played.rounds) == ("satisfied", 4)
    assert outcome.details["invalid_critiques"] == 3
    assert [shown.turn.failure.kind for shown in played.shown if shown.type == "CRITIQUE" and shown.turn.failure] == [
        "invalid"
    ] * 3
    assert "gave no valid critique" in played.step("2/defend/proposer").prompt.text


def test_an_invalid_critique_says_nothing_about_what_is_open():
    settled = critique(score=6, earlier=marked(i1="resolved"))
    outcome = run(STUCK, settled, BAD, BAD, BAD).outcome  # nothing critical is open, but the last answer was not read
    assert (outcome.ended_by, outcome.winner, outcome.verdict_source) == ("max_rounds", "undecided", "rules")
    assert outcome.reason == "There is no valid critique of the last answer."
    assert outcome.details["auto_score"] == 6


def test_when_all_are_invalid_there_is_no_score_and_no_verdict():
    played = run(BAD)
    outcome = played.outcome
    assert (outcome.winner, outcome.verdict_source, played.rounds) == ("undecided", "fallback", 5)
    assert outcome.headline == "Undecided: there is no valid critique."
    assert (outcome.details["auto_score"], outcome.scores) == (None, {"proposer": None})
    assert outcome.statement == "The final answer."
    assert outcome.confidence.level == "Low"
