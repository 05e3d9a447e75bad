"""How typed answers are read: numbers must be numbers, names match whatever their case."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from moot.core.reading import matched
from moot.core.types import Answer
from moot.formats.classic.rules import Ruling
from moot.formats.council.shapes import Opinion, ballot_over, objection_to
from moot.formats.crucible.shapes import Critique
from moot.formats.duel.rules import Score
from moot.formats.duel.verdict import choice_between, record_for
from moot.formats.panel.shapes import Analysis
from moot.formats.shared.jury import Reading
from moot.models.shape import NotInShape, read_answer

NO_NUMBERS: list[Any] = [True, False, "7", "seven", "", None, [7], float("nan"), float("inf")]
NO_WHOLE_NUMBERS: list[Any] = [*NO_NUMBERS, 7.5, 7.000001]
OPINION: dict[str, Any] = {"position": "P.", "answer": "A.", "reasons": ["R."], "confidence": 70}

ANALYSIS = {
    "framing": "F.",
    "domain": "",
    "constraints": [],
    "debaters": 3,
    "perspectives": [],
    "clarifying_question": "",
}

SCORES: list[tuple[type[Answer], dict[str, Any], str]] = [
    (Ruling, {"summary": "S.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False}, "score_a"),
    (Score, {"reasoning": "R.", "score": 7}, "score"),
    (Reading, {"reasoning": "R.", "score_first": 7, "score_second": 5}, "score_second"),
    (Opinion, OPINION, "confidence"),
    (Critique, {"assessment": "A.", "issues": [], "score": 7, "ready": False}, "score"),
    (Analysis, ANALYSIS, "debaters"),
]


@pytest.mark.parametrize(("shape", "valid", "name"), SCORES, ids=lambda each: getattr(each, "__name__", ""))
def test_only_whole_numbers_are_scores(shape: type[Answer], valid: dict[str, Any], name: str) -> None:
    assert getattr(shape.model_validate(valid), name) == valid[name]
    for value in NO_WHOLE_NUMBERS:
        with pytest.raises(ValidationError):
            shape.model_validate({**valid, name: value})


def test_json_has_one_kind_of_number_so_7_0_is_7() -> None:
    assert read_answer('{"reasoning": "R.", "score": 7.0}', Score) == Score(reasoning="R.", score=7)


@pytest.mark.parametrize("value", ["true", '"7"', "7.5", "NaN", "1e999"])
def test_what_is_no_score_is_an_invalid_answer(value: str) -> None:
    with pytest.raises(NotInShape):
        read_answer(f'{{"reasoning": "R.", "score": {value}}}', Score)


class Inner(Answer):
    type: Literal["Much", "Little"]
    weight: float = Field(ge=0)


class Everywhere(Answer):
    """What a third party's format could ask for."""

    maybe: int | None
    many: list[float]
    named: dict[str, int]
    inner: list[Inner]
    default: int = 3


EVERYWHERE: dict[str, Any] = {"maybe": 1, "many": [1.5], "named": {"a": 1}, "inner": [{"type": "Much", "weight": 1}]}


@pytest.mark.parametrize(
    "path", [("maybe",), ("many", 0), ("named", "a"), ("inner", 0, "weight"), ("default",)], ids=str
)
def test_numbers_are_strict_wherever_they_stand(path: tuple[str | int, ...]) -> None:
    Everywhere.model_validate(EVERYWHERE)
    for value in (True, "1", float("nan"), float("inf")):
        given: Any = deepcopy(EVERYWHERE)
        place = given
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        with pytest.raises(ValidationError):
            Everywhere.model_validate(given)


@pytest.mark.parametrize("said", ["Ada", "ada", "ADA", " Ada\n", '"Ada"', "“ada”", "**Ada**", "Ada."])
def test_names_match_whatever_their_case(said: str) -> None:
    assert choice_between("Ada", "Basil").model_validate({"winner": said}).winner == "Ada"
    verdict = record_for("Ada", "Basil", "Ada").model_validate({"winner": said, "scores": {said: 7, "BASIL": 5}})
    assert (verdict.winner, verdict.points("Ada"), verdict.points("Basil")) == ("Ada", 7, 5)
    assert objection_to(("Ada", "B")).model_validate({"against": said, "objection": "O."}).against == "Ada"


def test_rankings_match_whatever_their_case_and_have_each_label_once() -> None:
    shape = ballot_over(("X", "Y"))
    assert shape.model_validate({"reasoning": "R.", "ranking": ["y", "x"], "stands_behind": []}).ranking == ["Y", "X"]
    with pytest.raises(ValidationError):
        shape.model_validate({"reasoning": "R.", "ranking": ["x", "X"], "stands_behind": []})


def test_scores_that_name_someone_twice_or_someone_else_are_invalid() -> None:
    shape = record_for("Ada", "Basil", "Ada")
    for scores in ({"Ada": 7, "ada": 1, "Basil": 5}, {"Ada": 7, "Cleo": 5}, {"Ada": True, "Basil": 0}):
        with pytest.raises(ValidationError):
            shape.model_validate({"winner": "Ada", "scores": scores})
    with pytest.raises(ValidationError):
        shape.model_validate({"winner": "basil", "scores": {"Ada": 7, "Basil": 5}})


def test_a_name_that_could_be_two_matches_neither() -> None:
    assert matched("ADA", ("Ada", "ada")) == "ADA"
    assert matched("ada", ("Ada", "ada")) == "ada"


@given(st.text(), st.lists(st.text(), max_size=4))
def test_matching_gives_a_name_or_what_was_given(said: str, names: list[str]) -> None:
    assert matched(said, names) in (*names, said)
    if said in names:
        assert matched(said, names) == said
