"""A question for a debate is no task for engineers, and is refused before any model is asked."""

from __future__ import annotations

import pytest

from moot.core.errors import InputError
from moot.formats.forge.settings import ForgeSettings
from moot.formats.forge.task import is_question, settle
from moot.reasoning.code.cases import Case
from moot.reasoning.code.test_files import flaw_in_repository, uses_code
from moot.reasoning.code.written import case_of


@pytest.mark.parametrize(
    "topic",
    [
        "Redis or PostgreSQL?",
        "Should we move the team to Lisbon or to Porto?",
        "Tee oder Kaffee?",
    ],
)
def test_a_question_that_asks_for_a_decision_is_refused(topic: str):
    with pytest.raises(InputError, match=r"asks for a decision, not for code\. Ask it in another format, or say"):
        settle(ForgeSettings(), topic)


@pytest.mark.parametrize(
    "topic",
    [
        "Can you write a function that adds two numbers?",
        "Is a year a leap year? Say so for any year.",
        "Does slug('A b') give a-b?",
        "Is the text a palindrome? Return True or False.",
        "Turn a sentence around. Should marks be kept?",
        "Write a function add(a, b).",
        "What is the biggest of three?",
    ],
)
def test_what_may_ask_for_code_is_taken(topic: str):
    assert settle(ForgeSettings(), topic) == ForgeSettings()


def test_with_a_test_any_words_are_a_task():
    settings = ForgeSettings.model_validate({"cases": ["odd(3) == True"]})
    assert is_question("Is it odd?")
    assert settle(settings, "Is it odd?") == settings


@pytest.mark.parametrize(
    ("line", "task", "uses"),
    [
        ("add(1, 2) == 3", "Write add(a, b).", True),
        ("sum([1]) == 1", "Write a function sum(xs).", True),
        ("s = Stack(); s.push(1); s.pop() == 1", "Write a class Stack.", True),
        ("x = [1]; len(x) == 1", "Write add(a, b).", False),
        ("[n for n in (1, 2)] == [1, 2]", "Write add(a, b).", False),
        ("list(map(add, [1], [2])) == [3]", "Write add(a, b).", True),
    ],
)
def test_a_test_that_can_not_depend_on_the_code_is_known(line, task, uses):
    case = case_of(line)
    assert case is not None
    assert uses_code(case, task) is uses
    assert not uses_code(Case(call=("1",), expected="1"), task)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("def test_a():\n    pass\n", "it asserts nothing"),
        ("def test_a():\n    assert 1 == 1\n", "it asserts nothing"),
        ("def test_a(:\n", "it can't be read as Python"),
        ("x = 1\n", "it has no function whose name begins with test"),
        ("from dates import parse\n\ndef test_a():\n    parse('2024-01-01')\n", ""),
        ("import dates\n\ndef test_a():\n    assert dates.ZERO == 0\n", ""),
    ],
)
def test_a_file_for_a_repository_whose_tests_can_not_fail_is_known(text, flaw):
    assert flaw_in_repository(text).startswith(flaw)
    assert bool(flaw_in_repository(text)) is bool(flaw)
