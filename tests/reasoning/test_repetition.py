"""The share of a text that repeats earlier ones."""

from __future__ import annotations

from moot.reasoning.repetition import mirrored, repetition


def test_repetition_is_a_share():
    said = "we should use the database we already have because it is simple"
    assert repetition(said, []) == 0.0
    assert repetition(said, [said]) == 1.0
    assert repetition("entirely new words about a very different matter", [said]) == 0.0
    assert 0 < repetition(said + " and here is one more point that is new", [said]) < 1
    assert repetition("too short", ["too short"]) == 0.0


def test_a_first_sentence_that_follows_another_one_is_noticed():
    topic = "Is it better to work from home or in the office?"
    home = "From home, employees have the flexibility to work at times that suit them. So it is."
    assert mirrored("In the office, employees have the flexibility to work when they like.", [home], topic)
    assert mirrored("More.", ["More."], topic) is False
    assert not mirrored("In the office, people learn from each other every day.", [home], topic)
    # The words of the topic are everyone's.
    friday = "Is it safe to run database migrations on a Friday?"
    yes = "It is safe to run database migrations on a Friday, because tests have passed."
    assert not mirrored("It is not safe to run database migrations on a Friday: help is far away.", [yes], friday)
    assert not mirrored("", [home], topic)
