"""What is wrong with settings and typed answers is said in plain English."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError, field_validator

from moot import formats
from moot.core.errors import InputError
from moot.core.explaining import found_in, in_words
from moot.core.settings import Settings, read
from moot.core.types import Answer
from moot.models.shape import NotInShape, read_answer
from tests.core.test_reading import SCORES

LEAKS = (
    "Input should",
    "Value error",
    "alidation error",
    "{'",
    "pydantic",
    "Field required",
    "Extra inputs",
    "dictionary",
)
MODELS = [Settings, *(formats.get(name).settings for name in formats.installed())]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def plain(message: str) -> None:
    for leak in LEAKS:
        assert leak not in message
    assert "\n" not in message


def texts(value: Any) -> set[str]:
    """Every text in a value, names of mappings included."""
    if isinstance(value, dict):
        return set(value).union(*(texts(inner) for inner in value.values()))
    if isinstance(value, list):
        return set().union(*(texts(inner) for inner in value))
    return {value} if isinstance(value, str) else set()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@settings(max_examples=10)
@given(value=values)
def test_whatever_a_setting_is_set_to_the_refusal_is_plain(model: type[BaseModel], value: Any) -> None:
    for name, strict in product(model.model_fields, (None, True)):
        try:
            made = getattr(read(model, {name: value}, strict=strict), name)
            assert not isinstance(value, bool) or type(made) not in (int, float), "true and false are no numbers"
        except InputError as refused:
            message = str(refused)
            for text in sorted(texts(value), key=len, reverse=True):  # a user's own words are not moot's
                message = message.replace(repr(text), "''")
            plain(message)


def test_a_wrong_name_in_a_mapping_is_called_by_its_name() -> None:
    said = "Setting tool_servers: the name 'my server' may contain only A-Z, a-z, 0-9, _, . or -."
    with pytest.raises(InputError, match=re.escape(said)):
        read(Settings, {"tool_servers": {"my server": {"command": ["x"], "tools": ["t"]}}})


@pytest.mark.parametrize("shape", [shape for shape, _, _ in SCORES], ids=lambda shape: shape.__name__)
@settings(max_examples=25)
@given(value=st.dictionaries(st.sampled_from(["score", "score_a", "summary", "reasoning", "x"]), values))
def test_whatever_a_model_answers_the_correction_is_plain(shape: type[Answer], value: Any) -> None:
    try:
        read_answer(json.dumps(value, allow_nan=False, default=str), shape)
    except (NotInShape, ValueError) as wrong:
        plain(str(wrong).replace("Out of range float values are not JSON compliant", ""))


class Small(BaseModel, extra="forbid"):
    count: int = Field(3, ge=1, le=1000)
    share: float = Field(0.5, gt=0, le=1)
    name: str = Field("x", min_length=1, max_length=5, pattern=r"^[a-z]+$")
    depth: Literal["full", "quick"] = "full"
    either: Literal["auto"] | int = "auto"
    many: list[str] = Field(default_factory=list, max_length=2)
    seed: int = Field(0, ge=0, lt=100)
    on: bool = False
    in_it: dict[str, Inner] = Field(default_factory=dict)
    own: int = 0

    @field_validator("own")
    @classmethod
    def _own(cls, value: int) -> int:
        if value:
            raise ValueError("both debaters are called Ada")
        return value


class Inner(BaseModel, extra="forbid"):
    tokens: int = Field(ge=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"count": "abc"}, "Setting count must be a whole number from 1 to 1000; it is 'abc'."),
        ({"in_it": {"a": {"tokens": True}}}, "Setting in_it.a.tokens must be a whole number, 1 or more; it is true."),
        ({"seed": -1}, "Setting seed must be a whole number, 0 or more and below 100; it is -1."),
        ({"in_it": {"a": {"x": 1}}}, "There is no setting 'x' in in_it.a. Known: tokens."),
        ({"share": 0}, "Setting share must be a number above 0 and up to 1; it is 0."),
        ({"name": ""}, "Setting name must not be empty; it is ''."),
        ({"name": "abcdef"}, "Setting name must have at most 5 characters; it is 'abcdef'."),
        ({"name": {"a": 1}}, "Setting name must be text; it is a mapping."),
        ({"depth": "deep"}, "Setting depth must be full or quick; it is 'deep'."),
        ({"either": "many"}, "Setting either must be auto or a whole number; it is 'many'."),
        ({"many": "x"}, "Setting many must be a list of texts; it is 'x'."),
        ({"many": ["a", "b", "c"]}, "Setting many must have at most 2 items; it is a list."),
        ({"on": "perhaps"}, "Setting on must be true or false; it is 'perhaps'."),
        ({"in_it": {"a": {}}}, "Setting in_it.a.tokens is missing."),
        ({"own": 1}, "Setting own: both debaters are called Ada."),
        ({"on": "x", "own": 1}, "Setting on must be true or false; it is 'x'. 1 more problem follows."),
    ],
    ids=str,
)
def test_what_is_wrong_and_what_is_right_are_said_in_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(Small, given)
    assert str(refused.value) == said


def test_every_kind_of_error_of_the_library_has_words() -> None:
    with pytest.raises(ValidationError) as invalid:
        Small.model_validate({"count": "x"})
    error = invalid.value.errors()[0]
    plain(in_words({**error, "type": "date_from_datetime_inexact", "msg": "Input should be a date"}))
    assert found_in(Small, [dict(error)], values=False)[0].text == "count must be a whole number from 1 to 1000"


@pytest.mark.parametrize("theirs", ["temperatureProposer", "temperature-proposer"])
def test_a_name_in_another_style_leads_to_ours(theirs: str) -> None:
    with pytest.raises(InputError, match=f"There is no setting '{theirs}'. Call it 'temperature_proposer' here."):
        read(formats.get("crucible").settings, {theirs: 3})
