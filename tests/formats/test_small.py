"""Questions to small models: short, one task each, in the language of the question, and without the marks of fences."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from moot.core.script import Step
from moot.core.steps import Ask
from moot.formats import installed
from moot.formats.classic.rules import Case
from moot.formats.council.shapes import ShortOpinion, ShortSynthesis, ballot_over
from moot.formats.shared.small import LINE_CHARS, Line, point_for, points_shape, said_once
from moot.reasoning.statements import REPEATS_OPPONENT, Known, flaw_of
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


def test_each_small_member_of_a_council_takes_up_another_answer_or_goes_by_its_perspective():
    def listing(step: Step) -> Any:
        return {"points": ["Option one", "Option two"]} if step.phase == "options" else simulation(5)(step)

    members = [{"name": "Ines", "perspective": "You care about cost."}, {"name": "Jonas"}, {"name": "Karin"}]
    played = play(script_of("council", small=True, members=members), listing)
    assert [step.seat.id for step in played.steps if step.phase == "options"] == ["m2"]
    asked = {step.seat.id: messages[-1].text for step, messages in played.sent if step.phase == "answer"}
    assert "Your answer to it:" not in asked["m1"]
    for seat, option in (("m2", "one"), ("m3", "two")):
        assert f"Your answer to it: “Option {option}”" in asked[seat]


def test_what_a_small_model_calls_the_best_ranks_first():
    shape = ballot_over(("A", "B", "C"), short=True)
    given = {"reasoning": "B.", "best": "B", "ranking": ["A", "B", "C"], "stands_behind": []}
    assert shape.model_validate(given).ranking == ["B", "A", "C"]
    assert list(shape.model_json_schema()["properties"]) == ["reasoning", "best", "ranking", "stands_behind"]


WORDS = "word " * 60


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ("Short", "Short"),
        (f"{'word ' * 30}end. {WORDS}", "word end."),
        (f"{'word ' * 30}end, {WORDS}", "word end."),
        (f"{'word ' * 40}end, which, {WORDS}", "word end."),
        (WORDS, " word…"),
    ],
    ids=["room left", "sentence", "clause", "no dangling word", "word"],
)
def test_a_line_that_fills_its_room_ends_well(given: str, ends: str):
    assert TypeAdapter[str](Line).validate_python(given[:LINE_CHARS]).endswith(ends)


def test_a_small_member_that_loops_says_each_thing_once():
    again = "If the test fails often, the harness can run it many times and log the results."
    said = ShortOpinion.model_validate(
        {
            "position": "Use a harness.",
            "answer": f"A harness runs a test many times. {again} For example, {again} {again}",
            "reasons": ["It shows what fails, and when it fails.", "It shows what fails, and when it fails."],
            "confidence": 70,
        }
    )
    assert said.answer == f"A harness runs a test many times. {again}"
    assert said.reasons == ["It shows what fails, and when it fails."]


def test_what_a_small_judge_says_of_a_case_is_two_sentences():
    scored = {"logic": 8, "evidence": 7, "relevance": 9}
    case = Case.model_validate({"strength": "It is simple", "weakness": "It is slow", **scored})
    assert case.prose() == "It is simple. It is slow."


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
    assert all("say why that speaks for “Spaces”." in asked[key] for key in ("2/speak/b", "4/speak/b"))


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


LONG = "A four-day week can lead to burnout and decreased productivity"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (f"{LONG}, which can harm the whole company.", f"{LONG}, which can harm the whole company."),
        (f"{LONG}, which {'in the end ' * 5}harms us all.", f"{LONG}."),
        ("word " * 40, f"{'word ' * 20}word…"),
    ],
)
def test_a_point_ends_with_a_clause_or_says_that_it_goes_on(given: str, kept: str):
    assert points_shape(1).model_validate({"points": [given]}).points == (kept,)


BEGINNINGS = {"a": "Tabs", "b": "Spaces"}


def objections(name: str, texts: dict[str, str], **settings: Any) -> dict[str, str]:
    """What was wrong with each statement of small debaters, by its key."""
    found: dict[str, str] = {}

    def answer(step: Step) -> Any:
        if step.phase == "speak":
            assert isinstance(step, Ask)
            assert step.objection is not None
            own = f"{BEGINNINGS[step.seat.id]} {' '.join(f'{step.key}-{n}' for n in range(9))}."
            text = texts.get(step.key, own)
            found[step.key] = step.objection(text)
            return text
        return simulation(5)(step)

    play(script_of(name, "Tabs or spaces?", small=True, sides=("Tabs", "Spaces"), **settings), answer)
    return found


WRONG = {
    "1/speak/a": "Spaces look the same in every editor.",
    "2/speak/a": "Tabs are fine, but in the end spaces are the better choice.",
}


def test_a_small_debater_that_leaves_its_side_is_asked_again():
    found = objections("classic", WRONG, max_rounds=2)
    assert [found[key] for key in WRONG] == ["speaks for the other side"] * 2
    assert found["1/speak/b"] == found["2/speak/b"] == ""
    duel = objections("duel", {"1/speak/a": WRONG["1/speak/a"], "3/speak/a": WRONG["2/speak/a"]}, turns=4)
    assert [key for key, wrong in duel.items() if wrong] == ["1/speak/a", "3/speak/a"]


def test_a_small_debater_that_repeats_is_asked_again_sooner_than_it_is_marked():
    said = "Tabs let every reader choose how wide a step is, and that is a kindness to tired eyes."
    third = "Spaces let every reader choose how wide a step is, but a file looks the same for all who open it."
    found = objections("classic", {"1/speak/a": said, "1/speak/b": third}, max_rounds=1)
    assert found["1/speak/b"] == REPEATS_OPPONENT
    assert flaw_of(third, "stop", others=Known([said])) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Tabs are short. You write them like this:", "does not end"),
        ("Tabs are short and", "does not end"),
        ("Tabs are a reason for your side.", "says “your side”, which stands in your instructions"),
        ("Tabs are short, and that is 好.", "has words of another language"),
    ],
)
def test_what_a_small_debater_can_not_mean_is_asked_for_again(text: str, why: str):
    assert objections("classic", {"1/speak/a": text}, max_rounds=1)["1/speak/a"].startswith(why)


def test_other_models_are_not_asked_again():
    sent = play(script_of("classic", max_rounds=1)).sent
    assert [step.objection for step, _ in sent if isinstance(step, Ask)] == [None] * 3


GERMAN = "Sollten wir Rust oder C++ nehmen?"


@pytest.mark.parametrize("name", OURS)
def test_every_question_to_a_small_model_ends_in_the_language_of_the_debate(name: str):
    more = {"checkpoints": False} if name == "panel" else {}
    sent = play(script_of(name, GERMAN, small=True, **more), simulation(5)).sent
    asked = [messages[-1].text for step, messages in sent if isinstance(step, Ask)]
    assert asked
    assert all(text.endswith("\n\nAntworte auf Deutsch.") for text in asked)
    others = play(script_of(name, GERMAN, **more), simulation(5)).sent
    assert not any("Antworte" in messages[-1].text for _, messages in others)


def asked_to_speak(topic: str, **settings: Any) -> dict[str, Ask]:
    steps = play(script_of("classic", topic, small=True, max_rounds=1, **settings), simulation(5)).steps
    return {step.seat.id: step for step in steps if isinstance(step, Ask) and step.phase == "speak"}


def test_a_small_debater_says_yes_in_the_language_of_the_question_and_keeps_to_it():
    asked = asked_to_speak("Faut-il interdire les téléphones à l'école ?", sides=("Yes", "No"))
    yes, no = "Oui, parce que les enfants jouent.", "Non, parce que les parents appellent."
    for seat, begins, own, other in (("a", "Oui, parce que", yes, no), ("b", "Non, parce que", no, yes)):
        assert f"Begin with the words “{begins}”." in asked[seat].prompt.text
        objection = asked[seat].objection
        assert objection is not None
        tried = (own, other, "Yes, because the children play all the time.")
        assert list(map(objection, tried)) == ["", "speaks for the other side", "is not in French"]


def test_a_small_debater_answers_a_claim_with_yes_or_no():
    asked = asked_to_speak("A four-day week makes teams more productive.")
    assert "Begin with the words “Yes, because”." in asked["a"].prompt.text
    assert "Begin with the words “No, because”." in asked["b"].prompt.text
    objection = asked["b"].objection
    assert objection is not None
    assert objection("Yes, because they rest.") == "speaks for the other side"
    assert objection("No, because they hurry.") == ""


def test_debaters_are_told_what_yes_and_no_say():
    question = "Should cars be banned?"

    def asked_of_all(stance: str) -> dict[str, str]:
        script = script_of("classic", question, small=True, sides=("Yes", "No"), a_stance=stance, max_rounds=1)
        return {step.key: messages[-1].text for step, messages in play(script, simulation(5)).sent}

    asked = asked_of_all("pro")
    assert "reasons why “Cars should not be banned” is right" in asked["1/points/b"]
    told = "You argue that the answer is No: “Cars should not be banned”. Your opponent argues that it is Yes:"
    assert told in asked["1/speak/b"]
    assert "say why it follows that “Cars should not be banned”." in asked["1/speak/b"]
    assert "Someone argues that the answer is Yes: “Cars should be banned”:" in asked["1/case-a/judge"]
    assert "reasons why “Cars should not be banned” is right" in asked_of_all("con")["1/points/a"]


def test_words_of_another_script_are_left_out():
    mixed = "Events bring guests who look for a聚会."
    assert said_once(["It is warm.", mixed]) == ["It is warm."]
    assert said_once([mixed]) == [mixed]
    assert said_once(["用 Redis 做缓存最快。", "它很简单。"]) == ["用 Redis 做缓存最快。", "它很简单。"]


def test_a_point_that_is_listed_twice_is_spoken_to_once():
    again = "Friday is a weekend, and no time to deploy."
    listed = [again, again, "Nobody is there to help on Saturday."]
    assert [point_for(listed, number) for number in (1, 2, 3)] == [again, listed[2], ""]
    assert point_for((), 1) == ""
