"""A question for a debate is no task for engineers, and is refused before any model is asked."""

from __future__ import annotations

import pytest

from moot.core.errors import InputError
from moot.formats.forge.settings import ForgeSettings
from moot.formats.forge.task import is_question, settle


@pytest.mark.parametrize(
    "topic",
    [
        "Redis or PostgreSQL?",
        "Should we move the team to Lisbon or to Porto?",
        "Is remote work better than the office?",
        "Tee oder Kaffee?",
        "Are tabs better than spaces?",
    ],
)
def test_a_question_that_asks_for_a_decision_is_refused(topic: str):
    with pytest.raises(InputError, match=r"asks for a decision, not for code\. Ask it in another format, or say"):
        settle(ForgeSettings(), topic)


@pytest.mark.parametrize(
    "topic",
    [
        "Can you write a function that adds two numbers?",
        "How would you merge two sorted lists?",
        "Is a year a leap year? Say so for any year.",
        "Does slug('A b') give a-b?",
        "Is the text a palindrome? Return True or False.",
        "Turn a sentence around. Should marks be kept?",
        "Write a function add(a, b).",
        "Sum the digits",
        "What is the biggest of three?",
    ],
)
def test_what_may_ask_for_code_is_taken(topic: str):
    assert settle(ForgeSettings(), topic) == ForgeSettings()


def test_with_a_test_any_words_are_a_task():
    settings = ForgeSettings.model_validate({"cases": ["odd(3) == True"]})
    assert is_question("Is it odd?")
    assert settle(settings, "Is it odd?") == settings


def test_a_long_question_is_shown_in_part():
    with pytest.raises(InputError) as refused:
        settle(ForgeSettings(), f"Tea or {'very ' * 400}strong coffee?")
    assert len(str(refused.value)) < 400
