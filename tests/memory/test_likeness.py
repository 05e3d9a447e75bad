"""Which questions count as alike: the thresholds, by example."""

from __future__ import annotations

import asyncio

import pytest

from moot.memory.likeness import ALIKE, SAME_WORDS, coverage, overlap, weights
from moot.memory.vector_index import cosine
from moot.models.embedding import OfflineEmbedder

NEARLY_EQUAL = [
    ("Should we use Redis or PostgreSQL for caching?", "Redis or PostgreSQL as a cache?"),
    ("Should the team work fully remote?", "Should our team be working fully remote?"),
    ("Should schools ban smartphones?", "Should smartphones be banned in schools?"),
    ("Should we adopt Rust for the backend?", "Do we want to adopt Rust in the backend?"),
    ("我们应该用缓存吗？", "我们应该用缓存吗"),
]
PARAPHRASES = [
    ("Should we use Redis or PostgreSQL for caching?", "Redis or Postgres for our cache layer?"),
    ("Should the team work fully remote?", "Should our team go fully remote?"),
    ("Should we adopt Rust for the backend?", "Soll das Backend auf Rust umgestellt werden?"),
    ("Should schools ban smartphones?", "Should smartphones be banned in schools?"),
    ("Which database should we use for analytics?", "What database do we pick for analytics workloads?"),
    ("Should we move the monolith to microservices?", "Is it time to split our monolith into microservices?"),
]
MERELY_RELATED = [
    ("Should we use Redis or PostgreSQL for caching?", "Should we use Redis for session storage?"),
    ("Should we use Redis or PostgreSQL for caching?", "Should we use MongoDB or PostgreSQL for orders?"),
    ("Should we move the monolith to microservices?", "Should we move the monolith to the cloud?"),
    ("Should the team work fully remote?", "Should the team return to the office?"),
    ("Should the team work fully remote?", "Should we hire a remote contractor?"),
    ("Should we adopt Rust for the backend?", "Should we adopt Go for the backend?"),
    ("Is a four-day week good for us?", "Should we pay for overtime?"),
    ("Should schools ban smartphones?", "Should schools require uniforms?"),
]


@pytest.mark.parametrize("total", [1, 20, 100_000])
@pytest.mark.parametrize(("one", "two"), NEARLY_EQUAL)
def test_nearly_equal_questions_share_their_words(one, two, total):
    assert overlap(one, two, weights({}, total)) >= SAME_WORDS


@pytest.mark.parametrize("total", [1, 20, 100_000])
@pytest.mark.parametrize(("one", "two"), MERELY_RELATED)
def test_merely_related_questions_do_not(one, two, total):
    assert overlap(one, two, weights({}, total)) < SAME_WORDS


def test_words_that_many_debates_have_tell_little():
    having = {"adopt": 90_000, "backend": 60_000, "rust": 12, "go": 900}
    rare = weights(having, 100_000)
    alike = overlap("Adopt Rust?", "Adopt Rust for the backend?", rare)
    other = overlap("Adopt Rust for the backend?", "Adopt Elixir for the backend?", rare)
    assert alike > 0.8 > 0.2 > other


@pytest.mark.slow
def test_the_offline_embedder_parts_paraphrases_from_related_questions():
    pairs = [*PARAPHRASES, *MERELY_RELATED]
    vectors, _ = asyncio.run(OfflineEmbedder()([text for pair in pairs for text in pair]))
    scores = [cosine(vectors[at], vectors[at + 1]) for at in range(0, len(vectors), 2)]
    assert min(scores[: len(PARAPHRASES)]) >= ALIKE > max(scores[len(PARAPHRASES) :])


def test_how_much_of_a_query_a_text_has():
    weight = weights({}, 10)
    assert coverage("redis cache", "We chose Redis for caching.", weight) == 1
    assert coverage("redis cache", "We chose Redis.", weight) == pytest.approx(0.5)
    assert coverage("redis", "Nothing.", weight) == 0
    assert coverage("?!", "Anything.", weight) == 0
    assert overlap("?!", "…", weight) == 0
