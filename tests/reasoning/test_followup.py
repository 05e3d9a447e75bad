"""A follow-up question names what it follows, and is read as if it did not."""

from __future__ import annotations

import pytest

from moot.reasoning.followup import MAX_EARLIER_CHARS, alone, following
from moot.reasoning.question import read_question


@pytest.mark.parametrize(
    ("question", "earlier", "whole"),
    [
        ("And for two?", "Redis or PostgreSQL?", "And for two? (asked after “Redis or PostgreSQL?”)"),
        ("And for two?", "Which  one:\n“a” or b?", "And for two? (asked after “Which one: 'a' or b?”)"),
        ("And for two?", "", "And for two?"),
        ("The same?", "The same?", "The same?"),
        ("C?", "B? (asked after “A?”)", "C? (asked after “B?”)"),
    ],
)
def test_a_question_names_the_one_before_it(question, earlier, whole):
    assert following(question, earlier) == whole
    assert alone(whole) == question


def test_a_long_question_is_shortened():
    whole = following("And then?", "word " * 200)
    assert len(whole) < MAX_EARLIER_CHARS + 40
    assert whole.endswith("…”)")


def test_the_earlier_question_is_not_read_as_alternatives():
    read = read_question(following("Should we hire two people?", "Redis or PostgreSQL?"))
    assert read == read_question("Should we hire two people?")
    assert read_question(following("Tea or coffee?", "Redis or PostgreSQL?")).options == ("Tea", "coffee")


def test_other_parentheses_stay():
    assert alone("Is it so (really)?") == "Is it so (really)?"
    assert alone("Say (asked after “x”) again?") == "Say (asked after “x”) again?"
