"""How alike two texts are by their words, and the thresholds from which questions count as alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from moot.reasoning.bm25 import words

# Least cosine of two questions that are alike. Paraphrases are above it, other questions on the same subject below;
# measured with the offline embedder, see docs/memory.md.
ALIKE = 0.76
# Least `overlap` of two questions that are alike, where there is no embedder.
SAME_WORDS = 0.7
# Least cosine of a search result that shares no word with the query.
RELATED = 0.2

Weight = Callable[[str], float]


def weights(having: Mapping[str, int], total: int) -> Weight:
    """Inverse document frequency of words, smoothed as if there were 200 more texts, 2 of them with the word, since few
    texts say little about how rare a word is."""
    return lambda word: math.log((total + 200) / (having.get(word, 0) + 2))


def overlap(one: str, two: str, weight: Weight) -> float:
    """Weight of the words that both texts have, as a share of those that either has."""
    ours, theirs = set(words(one)), set(words(two))
    return _share(ours & theirs, ours | theirs, weight)


def coverage(query: str, text: str, weight: Weight) -> float:
    """Weight of the query's words that the text has, as a share of all of the query's words."""
    asked = set(words(query))
    return _share(asked & set(words(text)), asked, weight)


def _share(part: set[str], whole: set[str], weight: Weight) -> float:
    return sum(map(weight, sorted(part))) / sum(map(weight, sorted(whole))) if whole else 0.0
