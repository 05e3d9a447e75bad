"""A text that is cleaned in pieces is the text that is cleaned as a whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.clean_stream import CleanStream
from moot.reasoning.fence import clean

# Letters, what is removed, what is kept between some characters only, and what becomes something else.
PIECES = "ab1 \n\r\t\u200b\u200d\u200c\ufe0f❤🔥👩م\u20e3"


def passed_on(parts: list[str]) -> list[str]:
    stream = CleanStream()
    return [stream.feed(part) for part in parts]


@given(st.lists(st.text(st.sampled_from(PIECES), max_size=6), max_size=40))
def test_what_is_passed_on_is_the_beginning_of_the_whole(parts):
    said = "".join(passed_on(parts))
    whole = clean("".join(parts)).strip()
    assert whole.startswith(said)


@given(st.lists(st.sampled_from(["word", " ", "\n", "é", "。", "🔥"]), min_size=1, max_size=60))
def test_only_the_last_characters_are_held_back(parts):
    whole = clean("".join(parts)).strip()
    said = "".join(passed_on(parts))
    assert whole.startswith(said)
    assert len(whole[len(said) :].strip()) <= 1


def test_without_a_place_to_cut_the_rest_is_left_to_the_whole():
    said = passed_on(["Hello. ", "\u200d" * 1000, "More."])
    assert "".join(said) == "Hello."
