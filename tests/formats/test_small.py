"""Questions to small models: short, one task each, in the language of the question, and without the marks of fences."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from moot.core.script import Step
from moot.formats import installed
from moot.formats.council.shapes import ShortSynthesis, ballot_over
from moot.formats.shared.small import LINE_CHARS, Line, in_sentences, points_shape
from tests.formats.ways import simulation
from tests.playing import Played, play, script_of

OURS = ["classic", "council", "crucible", "duel", "panel"]
MOST_WORDS = 450  # in one message of a debate with small models


def played(name: str, *, small: bool, **settings: Any) -> Played:
    given = {**(installed()[name].small if small else {}), **settings}
    return play(script_of(name, small=small, **given), simulation(5))


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("name", OURS)
def test_everyone_is_told_to_write_in_the_language_of_the_question(name: str, small: bool):
    more = {"jury": 1} if name in ("classic", "duel") else {"checkpoints": False} if name == "panel" else {}
    for step, messages in played(name, small=small, **more).sent:
        if step.kind == "ask":
            system = messages[0]
            assert system.role == "system", step.key
            assert "the language of the" in system.text, step.key


@pytest.mark.parametrize("name", OURS)
def test_small_models_read_little_and_no_marks(name: str):
    for step, messages in played(name, small=True).sent:
        if step.kind == "ask":
            newest = messages[-1].text
            assert "[words of" not in newest, step.key
            assert len(newest.split()) < MOST_WORDS, step.key


@pytest.mark.parametrize("name", OURS)
def test_what_is_changed_for_small_models_is_said(name: str):
    format_ = installed()[name]
    assert format_.small
    assert format_.small_note
    assert format_.efforts.keys() == {"quick", "thorough"}


def listing(step: Step) -> Any:
    if step.phase == "options":
        return {"points": ["Option one", "Option two", "Option three"]}
    return simulation(5)(step)


def test_each_small_member_of_a_council_takes_up_another_answer():
    sent = play(script_of("council", small=True), listing).sent
    asked = {step.seat.id: messages[-1].text for step, messages in sent if step.phase == "answer"}
    for seat, option in (("m1", "one"), ("m2", "two"), ("m3", "three")):
        assert f"Your answer to it: “Option {option}”" in asked[seat]


def test_a_small_member_with_a_perspective_goes_by_that():
    members = [{"name": "Ines", "perspective": "You care about cost."}, {"name": "Jonas"}, {"name": "Karin"}]
    played = play(script_of("council", small=True, members=members), simulation(5))
    assert [step.seat.id for step in played.steps if step.phase == "options"] == ["m2"]
    asked = {step.seat.id: messages[-1].text for step, messages in played.sent if step.phase == "answer"}
    assert [seat for seat, text in asked.items() if "Your answer to it:" in text] == ["m2", "m3"]


def test_what_a_small_model_calls_the_best_ranks_first():
    shape = ballot_over(("A", "B", "C"), short=True)
    given = {"reasoning": "B.", "best": "B", "ranking": ["A", "B", "C"], "stands_behind": []}
    assert shape.model_validate(given).ranking == ["B", "A", "C"]
    assert list(shape.model_json_schema()["properties"]) == ["reasoning", "best", "ranking", "stands_behind"]


def test_a_line_that_fills_its_room_ends_after_a_sentence_or_a_word():
    line = TypeAdapter[str](Line)
    assert line.validate_python("Short") == "Short"
    long = f"{'word ' * 30}end. {'word ' * 30}"[:LINE_CHARS]
    assert line.validate_python(long).endswith("word end.")
    assert line.validate_python(("word " * 60)[:LINE_CHARS]).endswith(" word…")


def test_lines_are_joined_as_sentences():
    assert in_sentences("Do it", "It pays!", " It may fail. ") == "Do it. It pays! It may fail."


def test_a_small_duelist_does_not_speak_to_a_point_about_the_other_side():
    def answer(step: Step) -> Any:
        if step.phase == "plan":
            return {"points": ["Tabs are wide.", "Spaces look alike everywhere.", "They are even."]}
        return simulation(5)(step)

    sent = play(script_of("duel", "Tabs or spaces?", small=True, turns=4, sides=("Tabs", "Spaces")), answer).sent
    asked = {step.key: messages[-1].text for step, messages in sent if step.phase == "speak"}
    assert "Your point now: “Tabs are wide.”" in asked["1/speak/a"]
    assert "Your point now: “Spaces look alike everywhere.”" in asked["2/speak/b"]
    assert "Your point now: “They are even.”" in asked["4/speak/b"]
    assert "Begin with the words “Spaces”." in asked["2/speak/b"]


def test_the_perspectives_of_a_small_panel_take_the_answers_that_a_question_offers():
    played = play(script_of("panel", "Build or buy a billing system?", small=True, max_rounds=1), simulation(5))
    asked = {step.key: messages[-1].text for step, messages in played.sent if step.phase in ("argue", "rebut")}
    for phase in ("argue", "rebut"):
        assert "Your answer to it: “Build" in asked[f"1/{phase}/p1"]
        assert "Your answer to it: “Buy a billing system”" in asked[f"1/{phase}/p2"]
    assert "Begin with the words “Buy a billing system”." in asked["1/argue/p2"]


def test_what_a_small_chair_copies_from_a_member_is_left_out():
    written = ShortSynthesis(
        reason="It is read by everyone in the team", exception="Ask a mentor when the guide is old."
    )
    said = ["Write a guide.", "Ask a mentor when the guide is old."]
    assert written.after("Write a guide", said) == "Write a guide. It is read by everyone in the team."


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Short.", "Short."),
        (
            "A four-day week can lead to burnout and decreased productivity, which can harm the whole company.",
            "A four-day week can lead to burnout and decreased productivity, which can harm the whole company.",
        ),
        (
            f"A four-day week can lead to burnout and decreased productivity, which {'in the end ' * 5}harms us all.",
            "A four-day week can lead to burnout and decreased productivity.",
        ),
        ("word " * 40, f"{'word ' * 20}word…"),
    ],
)
def test_a_point_ends_with_a_clause_or_says_that_it_goes_on(given: str, kept: str):
    assert points_shape(1).model_validate({"points": [given]}).points == (kept,)
