"""The rules of a classic debate."""

from __future__ import annotations

import pytest

from moot.core.errors import InputError
from moot.core.settings import read
from moot.core.types import Failure
from moot.formats.classic.settings import ClassicSettings
from tests.formats.ways import good_but
from tests.playing import GOOD, play, script_of


def test_a_and_b_speak_in_turn_and_the_judge_rules_once():
    played = play(script_of("classic", max_rounds=2))
    assert played.keys == ["1/speak/a", "1/speak/b", "2/speak/a", "2/speak/b", "2/verdict/judge"]
    assert [shown.type for shown in played.shown] == ["HEADER", "TURN", "TURN", "TURN", "TURN", "VERDICT"]
    outcome = played.outcome
    assert (outcome.winner, outcome.ended_by, outcome.verdict_source) == ("a", "max_rounds", "judge")
    assert outcome.scores == {"a": 7, "b": 5}


def test_the_defaults_of_the_document():
    settings = ClassicSettings()
    assert settings.max_rounds == 5
    assert settings.max_runtime_seconds == 600
    assert settings.max_total_output_tokens == 8000
    assert settings.max_cost_usd is None
    assert (settings.debater_max_tokens, settings.judge_max_tokens) == (600, 400)


@pytest.mark.parametrize(("stance", "a", "b"), [("pro", "FOR", "AGAINST"), ("con", "AGAINST", "FOR")])
def test_stances_are_opposite_and_in_the_prompts(stance: str, a: str, b: str):
    played = play(script_of("classic", max_rounds=1, a_stance=stance))
    assert f"You argue {a} " in played.step("1/speak/a").messages[0].text
    assert f"You argue {b} " in played.step("1/speak/b").messages[0].text
    assert f"for your side ({a.lower()})" in played.step("1/speak/a").prompt.text
    assert f"for your side ({b.lower()})" in played.step("1/speak/b").prompt.text


def test_the_judge_does_not_learn_who_argues_for_what_model_or_name():
    played = play(script_of("classic", max_rounds=1))
    text = "\n".join(m.text for m in played.step("1/verdict/judge").messages)
    assert "scripted:none" not in text
    assert "[words of Debater A begin" in text


def test_a_judge_of_every_round_reads_only_what_is_new_and_rules_no_further_time():
    played = play(script_of("classic", max_rounds=2, judge_every_round=True))
    assert played.keys == ["1/speak/a", "1/speak/b", "1/rule/judge", "2/speak/a", "2/speak/b", "2/rule/judge"]
    second = played.step("2/rule/judge").prompt.text
    assert "at 2/speak/a" in second
    assert "at 1/speak/a" not in second
    assert played.outcome.winner == "a"


def test_a_stale_debate_ends_early_only_when_it_may():
    stale = {**GOOD["Ruling"], "no_new_substantive_arguments": True}

    answer = good_but(stale, at="rule")
    ends = play(script_of("classic", judge_every_round=True, stop_when_stale=True), answer)
    assert (ends.outcome.ended_by, ends.rounds) == ("stop_when_stale", 1)
    goes_on = play(script_of("classic", judge_every_round=True), answer)
    assert goes_on.outcome.ended_by == "max_rounds"


def test_stop_when_stale_without_a_judge_is_refused():
    with pytest.raises(InputError, match="judge_every_round"):
        read(ClassicSettings, {"stop_when_stale": True})


@pytest.mark.parametrize(("scores", "winner"), [((7, 5), "a"), ((5, 7), "b"), ((5, 5), "tie")])
def test_the_winner_is_computed_from_the_scores(scores: tuple[int, int], winner: str):
    ruling = {**GOOD["Ruling"], "score_a": scores[0], "score_b": scores[1]}
    assert play(script_of("classic", max_rounds=1), good_but(ruling, at="verdict")).outcome.winner == winner


def test_a_judge_without_a_valid_answer_leaves_it_undecided():
    invalid = Failure(kind="invalid", message="three times no JSON")
    outcome = play(script_of("classic", max_rounds=1), good_but(invalid, at="verdict")).outcome
    assert (outcome.winner, outcome.verdict_source) == ("undecided", "fallback")
    assert outcome.reason == "The judge gave no valid verdict: three times no JSON."
    assert outcome.headline == f"Undecided. {outcome.reason}"
    assert outcome.scores == {"a": None, "b": None}


def test_what_is_recorded_of_a_verdict():
    step = play(script_of("classic", max_rounds=1)).step("1/verdict/judge")
    assert step.record(step.returns.model_validate(GOOD["Ruling"])) == {
        **GOOD["Ruling"],
        "winner": "a",
        "verdict_source": "judge",
    }


def test_a_limit_ends_the_rounds_and_the_judge_still_rules():
    limit = Failure(kind="limit", message="none left")
    played = play(script_of("classic"), good_but(limit, at="2/speak/b"))
    assert played.keys[-1] == "2/verdict/judge"
    assert played.outcome.ended_by == "max_total_output_tokens"
    assert played.outcome.winner == "a"
