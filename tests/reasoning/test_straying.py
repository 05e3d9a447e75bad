from __future__ import annotations

import pytest

from moot.reasoning.straying import answers_otherwise, concedes, leaks, strays

FOR_REDIS = [
    "Redis keeps everything in memory. That makes it faster than PostgreSQL.",
    "PostgreSQL is slower than Redis, so Redis wins.",
    "It answers in a millisecond. PostgreSQL is more suitable for reports. We write none.",
    "Redis is not the better choice for joins, but we have none.",
    "No one should use PostgreSQL as a cache.",
    "Redis, other than PostgreSQL, forgets by itself.",
]
FOR_POSTGRESQL = [
    "Redis is fast. Still, PostgreSQL is the better choice.",
    "Redis is fast, which makes PostgreSQL a better option.",
    "Redis may be known, but nearly everything is safer than Redis.",
    "I agree with my opponent on the cost of Redis.",
    "Redis is fast. My opponent is right about that.",
    "In the end, we should use PostgreSQL.",
    "Redis is quick, but that does not make it a better store than PostgreSQL.",
    "Redis is quick. PostgreSQL is a rich and mature system with many extensions.",
]


@pytest.mark.parametrize("text", FOR_REDIS)
def test_what_stays_on_its_side(text: str):
    assert not strays(text, "Redis", "PostgreSQL")


@pytest.mark.parametrize("text", FOR_POSTGRESQL)
def test_what_speaks_for_the_other_side(text: str):
    assert strays(text, "Redis", "PostgreSQL")


def test_names_are_whole_words_and_need_no_article():
    assert not strays("Going by bus is slow. A car is not.", "a car", "go")
    assert strays("The bus is cheap.", "a car", "a bus")
    assert strays("It is better to rent, because you may leave.", "buy a house", "rent")
    assert not strays("Rust is safe, and C++ is old.", "Rust", "C++")
    assert strays("C++ is older, and so is its compiler.", "Rust", "C++")


@pytest.mark.parametrize("text", ["Yes, because it is cheap.", "“Yes” is all I say.", "Well, the answer is yes."])
def test_the_other_answer_to_a_question(text: str):
    assert answers_otherwise(text, "Yes")
    assert not answers_otherwise(text, "No")


def test_agreement_with_the_opponent():
    assert concedes("You are right, it is cheap.")
    assert concedes("We fully agree with the opponent.")
    assert not concedes("My opponent is wrong. I agree with the experts.")


def test_instructions_in_a_speakers_mouth():
    assert leaks("This is a strong reason for your side.") == "your side"
    assert leaks("As your opponent said, it is cheap.") == "your opponent"
    assert not leaks("My opponent forgets that your team is small.")
