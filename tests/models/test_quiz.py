"""Simulated questions: a majority is worth what theory says, and answers move as `sway` and `repair` say."""

from __future__ import annotations

import asyncio
import json
from typing import Literal

import pytest
from pydantic import Field

from moot.core.types import Answer, Message, Reply
from moot.corpus.quiz import SimulatedQuestion, recognised_question, simulated_questions, truth
from moot.evaluate.voters import error_correlation, majority_theory
from moot.formats.council.shapes import Opinion, Rebuttal, ballot_over
from moot.models.providers.sim import sim_model
from moot.models.quiz import held_in, right, said
from moot.models.spec import parse
from tests.models.calls import Listener, call

ITEMS = 8000
QUESTION = SimulatedQuestion(name="1-1", options=("amber", "birch", "cobalt"))
RIGHT, WRONG = QUESTION.target, QUESTION.mistake
THIRD = next(each for each in QUESTION.options if each not in (RIGHT, WRONG))


class Choice(Answer):
    reasoning: str
    choice: Literal["amber", "birch", "cobalt"]
    confidence: float = Field(ge=0, le=1)


class Number(Answer):
    answer: int


def ask(spec: str, *said: str, returns: type[Answer] | None = None, key: str = "1", seat: str = "a") -> Reply:
    """Ask with a conversation: the model's own words are every other message."""
    roles = ("user", "assistant")
    messages = [Message(role=roles[n % 2], text=text) for n, text in enumerate(said)]
    return asyncio.run(
        sim_model(parse(spec)[0])(
            call(messages=messages, returns=returns, key=key, seat=seat, max_tokens=2000), Listener()
        )
    )


def moved(spec: str, first: str, *read: str) -> float:
    """How often an answer becomes another one after reading others."""
    others = " ".join(map(said, read))
    texts = [ask(spec, QUESTION.text, said(first), others, key=f"{n}").text for n in range(200)]
    return sum(text != said(first) for text in texts) / len(texts)


@pytest.mark.parametrize(("rho", "worth"), [(0.0, 0.837), (0.5, 0.719), (0.8, 0.702)])
def test_a_majority_is_worth_what_theory_says(rho: float, worth: float):
    assert round(majority_theory(0.7, rho, 5), 3) == worth
    votes = [[right(f"q{n}", 0.7, rho, family="f", own=f"{seat}") for seat in range(5)] for n in range(ITEMS)]
    assert abs(sum(sum(each) > 2 for each in votes) / ITEMS - worth) < 0.01
    assert abs(sum(map(sum, votes)) / (5 * ITEMS) - 0.7) < 0.01
    assert abs((error_correlation(votes) or 0.0) - rho) < 0.02


def test_another_family_errs_by_itself():
    votes = [[right(f"q{n}", 0.7, 0.8, family=f"f{seat}", own=f"{seat}") for seat in range(5)] for n in range(ITEMS)]
    assert abs(sum(sum(each) > 2 for each in votes) / ITEMS - majority_theory(0.7, 0, 5)) < 0.01


def test_the_model_itself_is_as_often_right_as_its_skill():
    asked = list(simulated_questions(600, seed=3))
    answers = [ask("sim:?skill=.7&rho=.5", each.text, returns=None).text for each in asked]
    assert abs(sum(text == said(each.target) for text, each in zip(answers, asked, strict=True)) / 600 - 0.7) < 0.04
    assert {text for text, each in zip(answers, asked, strict=True)} <= {
        said(answer) for each in asked for answer in (each.target, each.mistake)
    }


def test_what_is_right_follows_from_the_question_alone():
    assert recognised_question(f"You sit on a council.\n\n{QUESTION.text}\n\nAnswer.") == QUESTION
    assert truth(QUESTION.text, QUESTION.options) == truth(QUESTION.text, QUESTION.options[::-1]) == RIGHT != WRONG
    assert truth("Tea or coffee?", ["tea", "coffee"]) in ("tea", "coffee")
    with pytest.raises(ValueError, match="needs options"):
        truth("What is right?")
    number = next(simulated_questions(1, options=0))
    assert recognised_question(number.text) == number
    assert 1 <= int(number.target) <= 1000
    assert number.target == truth(number.text) != number.mistake
    assert recognised_question("Should we adopt REST or GraphQL?") is None
    with pytest.raises(ValueError, match="2 to 8"):
        next(simulated_questions(1, options=1))


def test_no_place_in_the_list_is_more_often_right():
    asked = list(simulated_questions(2000, options=4))
    first = sum(each.options.index(each.target) == 0 for each in asked) / 2000
    assert abs(first - 0.25) < 0.03
    assert len({each.text for each in asked}) == 2000


def test_it_answers_in_the_shape_that_is_asked_for():
    answer = Choice.model_validate_json(ask("sim:?skill=1", QUESTION.text, returns=Choice).text)
    assert (answer.choice, answer.confidence) == (RIGHT, 1)
    number = next(simulated_questions(1, options=0))
    assert ask("sim:?skill=1", number.text, returns=Number).text == f'{{"answer":{number.target}}}'
    opinion = Opinion.model_validate_json(ask("sim:?skill=0", QUESTION.text, returns=Opinion).text)
    assert (opinion.position, opinion.confidence) == (said(WRONG), 0)


def test_it_ranks_those_who_agree_with_it_first():
    prompt = f"Answer A:\n{said(WRONG)}\n\nAnswer B:\n{said(RIGHT)}\n\nAnswer C:\n{said(WRONG)}"
    opinion = ask("sim:?skill=1", QUESTION.text, returns=Opinion).text
    ballot = json.loads(ask("sim:?skill=1", QUESTION.text, opinion, prompt, returns=ballot_over(("A", "B", "C"))).text)
    assert ballot["ranking"][0] == "B"
    assert ballot["stands_behind"] == ["B"]


def test_repair_corrects_wrong_answers_after_reading_others():
    assert abs(moved("sim:?repair=.4", WRONG, THIRD) - 0.4) < 0.08
    assert moved("sim:?repair=.4", RIGHT, WRONG) == 0
    assert moved("sim:?repair=0", WRONG, RIGHT) == 0
    assert moved("sim:?repair=1", WRONG) == 0  # nothing was read


def test_sway_follows_what_most_others_say():
    assert abs(moved("sim:?repair=0&sway=.3", RIGHT, WRONG, WRONG, RIGHT) - 0.3) < 0.08
    assert moved("sim:?repair=0&sway=1", RIGHT, WRONG, RIGHT, RIGHT) == 0


def test_a_rebuttal_carries_the_corrected_answer():
    opinion = ask("sim:?skill=0", QUESTION.text, returns=Opinion).text
    told = ask("sim:?skill=0&repair=1", QUESTION.text, opinion, said(RIGHT), returns=Rebuttal).text
    revised = Rebuttal.model_validate_json(told).revised
    assert revised is not None
    assert revised.position == said(RIGHT)
    kept = ask("sim:?skill=0&repair=0", QUESTION.text, opinion, said(RIGHT), returns=Rebuttal).text
    assert Rebuttal.model_validate_json(kept).revised is None


def test_without_a_skill_it_writes_nonsense():
    assert held_in(ask("sim:", QUESTION.text).text, QUESTION) == []
