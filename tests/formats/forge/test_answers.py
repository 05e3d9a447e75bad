"""The typed answers of a forge, as models write them."""

from __future__ import annotations

import pytest

from moot.core.types import TextAnswer
from moot.formats.forge.answers import (
    Attack,
    Change,
    ChangedRepair,
    ChangedReview,
    Improvement,
    IssueAnswer,
    Prediction,
    Predictions,
    Repair,
    Review,
    Solution,
    Tests,
    ballot_over,
    critique_of,
)
from moot.models.shape import NotInShape, read_answer
from moot.reasoning.code.cases import Case

CODE = "def f(x):\n    return x\n"
CHANGE = f"FILE: .github/f.py\n```\n{CODE}```\nDELETE: g.py"
ONE = Case(call=("f(1)",), expected="1")

WRITTEN = [
    Solution(code=CODE, cases=(ONE,)),
    Solution(code=CODE),
    Improvement(code=CODE),
    Tests(cases=(ONE, Case(call=("f(-1)",), raises="ValueError"))),
    Attack(cases=()),
    Predictions(
        predictions=(
            Prediction(number=1, expected="-3"),
            Prediction(number=2, raises="ValueError"),
            Prediction(number=3, unspecified=True),
        )
    ),
    Repair(root_cause="Off by one.", went_wrong="The end.", change_next="Add one.", confidence=0.8, code=CODE),
    Review(answers=(IssueAnswer(number=1, accepted=True), IssueAnswer(number=2, accepted=False, reason="It is not."))),
    Review(answers=(IssueAnswer(number=1, accepted=True),), code=CODE),
    Change(code=CHANGE),
    ChangedRepair(root_cause="Off by one.", went_wrong="The end.", change_next="Add one.", confidence=0.8, code=CHANGE),
    ChangedReview(answers=(IssueAnswer(number=1, accepted=True),), code=CHANGE),
]


@pytest.mark.parametrize("answer", WRITTEN, ids=lambda each: type(each).__name__)
def test_what_is_written_is_read_back(answer: TextAnswer):
    assert read_answer(answer.as_text(), type(answer)) == answer


@pytest.mark.parametrize(
    ("text", "shape", "said"),
    [
        ("I can't.", Solution, "no code"),
        ("I can't.", Tests, "no test"),
        ("I can't.", Predictions, "no prediction"),
        ("I can't.", Review, "neither answers"),
        ("Cause: x\n```python\ndef f(", Repair, "not closed"),
    ],
)
def test_a_model_is_told_what_is_missing(text, shape, said):
    with pytest.raises(NotInShape, match=said):
        read_answer(text, shape)


def test_small_models_write_in_their_own_way():
    text = "**Cause:** wrong end\n- Change: `range(n + 1)`\nConfidence: 80%\n```\ndef f(x):\n    return x\n```"
    repair = Repair.from_text(text)
    assert (repair.root_cause, repair.change_next, repair.confidence) == ("wrong end", "`range(n + 1)`", 0.8)
    given = Predictions.from_text("Input 1: `f(2) == 4`\n2) raises ValueError\n- 3: it is not specified")
    assert [each.expected or each.raises for each in given.predictions] == ["4", "ValueError", ""]
    assert given.predictions[2].unspecified


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        ("0.8", 0.8),
        ("0", 0.0),
        ("**85%** (tests pass)", 0.85),
        ("8/10", 0.8),
        ("", None),
        ("high", None),
        ("8", None),
        ("120%", None),
        ("1 out of 10", None),
        ("0/0", None),
    ],
)
def test_no_confidence_is_made_up(said, confidence):
    text = f"Cause: x\nChange: y\nConfidence: {said}\n```\n{CODE}```"
    repair = Repair.from_text(text)
    assert repair.confidence == confidence
    assert Repair.from_text(repair.as_text()) == repair


def test_labels_are_those_that_were_shown():
    issue = {"version": "a", "severity": "high", "claim": "It fails."}
    assert critique_of(("A", "B")).model_validate({"issues": [issue]}).issues[0].version == "A"
    with pytest.raises(ValueError):
        critique_of(("A",)).model_validate({"issues": [{**issue, "version": "C"}]})
    with pytest.raises(ValueError):
        ballot_over(("A", "B")).model_validate({"reasoning": "x", "ranking": []})


def test_an_attack_that_finds_nothing_says_so():
    assert Attack.from_text("I found nothing.").prose() == "No call that breaks it."
