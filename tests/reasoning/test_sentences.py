"""The first sentence of a text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.reasoning.sentences import ABBREVIATIONS, MAX_CHARS, first_sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Use PostgreSQL", "Use PostgreSQL"),
        ("Use a cache, e.g. Redis, in front of it. Then measure.", "Use a cache, e.g. Redis, in front of it."),
        ("Move to v2.0 at once. Then wait.", "Move to v2.0 at once."),
        ("1. Start with PostgreSQL.\n2. Measure.", "Start with PostgreSQL."),
        ("? No.", "? No."),
        ("- Start with PostgreSQL\n- Measure", "Start with PostgreSQL"),
        ("## Recommendation\n\n**Start with PostgreSQL.** Measure.", "Start with PostgreSQL."),
        ("Recommendation:\nStart with\nPostgreSQL. Measure.", "Start with PostgreSQL."),
        ("## Only a heading", "Only a heading"),
        ("---\n\n```\nUse it.\n```", "Use it."),
        ("先用 PostgreSQL。以后再看。", "先用 PostgreSQL。"),
        ("Really? Yes.", "Really?"),
        ('She said "use it." Then she left.', 'She said "use it."'),
        ("Ask J. Smith about it. Then go on.", "Ask J. Smith about it."),
        ("It costs 3. That is cheap.", "It costs 3."),
        ("Wait… then act.", "Wait…"),
        ("\n\n---\n", ""),
    ],
)
def test_the_first_sentence(text, sentence):
    assert first_sentence(text) == sentence


def test_a_long_sentence_is_cut_at_a_word():
    cut = first_sentence("word " * 100)
    assert cut.endswith("word…")
    assert len(cut) <= MAX_CHARS
    assert len(first_sentence("x" * 1000)) == MAX_CHARS


@given(st.text(max_size=600))
@example("## \n#")
@example("1. 2. 3.")
def test_it_is_one_short_line_of_the_text(text):
    found = first_sentence(text)
    assert len(found) <= MAX_CHARS
    assert len(found.splitlines()) <= 1
    assert found == found.strip()
    assert bool(found) <= bool(text.strip())
    if any(c.isalnum() for c in text):
        assert any(c.isalnum() for c in found)


WORD = st.text("abcdefghijklmnopqrstuvwxyzäß", min_size=3, max_size=12).filter(lambda word: word not in ABBREVIATIONS)


@given(st.lists(WORD, min_size=2, max_size=15), st.sampled_from(".!?"), st.text(max_size=100))
def test_what_follows_a_sentence_changes_nothing(words, end, more):
    sentence = " ".join(words) + end
    assert first_sentence(f"{sentence} {more}") == first_sentence(f"{sentence}\n\n{more}") == sentence
