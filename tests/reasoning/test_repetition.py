"""The share of a text that repeats earlier ones."""

from __future__ import annotations

from moot.reasoning.repetition import repetition


def test_repetition_is_a_share():
    said = "we should use the database we already have because it is simple"
    assert repetition(said, []) == 0.0
    assert repetition(said, [said]) == 1.0
    assert repetition("entirely new words about a very different matter", [said]) == 0.0
    assert 0 < repetition(said + " and here is one more point that is new", [said]) < 1
    assert repetition("too short", ["too short"]) == 0.0
