"""Stemmed words and bigrams, and the scores of texts for a query."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.bm25 import Bm25, bigrams, stem, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Should we use Redis or PostgreSQL for caching?", ["redis", "postgresql", "cach"]),
        ("CACHING, cached; caches & the cache's", ["cach"] * 4),
        ("don't won't O'Reilly’s", ["oreil"]),
        ("foo-bar_baz 3.14 v2", ["foo", "bar", "baz", "3", "14", "v2"]),
        ("Zoë's naïve CAFÉ", ["zoe", "naiv", "caf"]),
        ("Стоит ли кэш", ["стоит", "ли", "кэш"]),
        ("क्या हमें कैश", ["क्या", "हमें", "कैश"]),
        ("用Redis做缓存", ["用", "redis", "做缓", "缓存"]),
        ("한국어", ["한국", "국어"]),
        ("?! … — “”", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "same",
    [
        ["estimate", "estimates", "estimated", "estimating", "estimation", "estimations"],
        ["stop", "stops", "stopped", "stopping"],
        ["policy", "policies"],
        ["fix", "fixes", "fixed", "fixing"],
        ["quick", "quickly"],
    ],
)
def test_forms_of_a_word_are_one(same):
    assert len({stem(word) for word in same}) == 1


@pytest.mark.parametrize("word", ["is", "bus", "status", "analysis", "ring", "bed", "2026s", "кэши", "fall", "less"])
def test_what_is_no_ending_stays(word):
    assert stem(word) == word


@given(st.text(max_size=200))
def test_any_text_has_words_and_none_of_them_is_empty_or_parted(text):
    # Stores keep them in one text with spaces between, and split only at ASCII that is no letter or digit.
    assert all(word and not any((c.isascii() and not c.isalnum()) or c.isspace() for c in word) for word in words(text))


def test_scores_follow_the_formula():
    texts = [Counter(words(text)) for text in ("cache cache store", "store queue", "worker")]
    (score, *_) = Bm25(texts).scores(["cach"])
    expected = math.log(1 + 2.5 / 1.5) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert score == pytest.approx(expected)


def test_nothing_in_common_is_nothing():
    assert Bm25([Counter(["a"]), Counter(["b"])]).scores(["c"]) == [0.0, 0.0]
    assert Bm25([]).scores(["c"]) == []
    assert Bm25([Counter[str]()]).scores(["c"]) == [0.0]


def test_a_field_may_weigh_more():
    light, heavy = {"x": 1.0, "y": 1.0}, {"x": 3.0, "y": 1.0}
    one, two = Bm25([light, heavy]).scores(["x"])
    assert two > one


def test_neighbours_are_kept_small_words_included():
    assert bigrams("How many caches do we need?") == ["how mani", "mani cach", "cach do", "do we", "we need"]
    assert bigrams("Redis") == bigrams("") == []
