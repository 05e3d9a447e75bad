"""When two questions are alike enough for the decision on one to matter to the other. The thresholds are all here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from moot.reasoning.bm25 import words

# Cosine of two questions. Paraphrases are above it, other questions on the same subject below; measured with the
# offline embedder, see docs/memory.md.
ALIKE = 0.76
# What two questions have in common of their telling words, where there is no embedder: nearly all of them.
SAME_WORDS = 0.7
# Cosine from which a past debate is shown that shares no word with a search.
RELATED = 0.2

Weight = Callable[[str], float]


def weights(having: Mapping[str, int], total: int) -> Weight:
    """What words tell, from how many of all texts have them. A few texts say little of that, so it is as if there were
    two hundred more, of which two have the word."""
    return lambda word: math.log((total + 200) / (having.get(word, 0) + 2))


def overlap(one: str, two: str, weight: Weight) -> float:
    """The telling words that both texts have, against those that either has, by weight; 0 to 1."""
    ours, theirs = set(words(one)), set(words(two))
    return _share(ours & theirs, ours | theirs, weight)


def coverage(query: str, text: str, weight: Weight) -> float:
    """The words of the query that a text has, against all words of the query, by weight; 0 to 1."""
    asked = set(words(query))
    return _share(asked & set(words(text)), asked, weight)


def _share(part: set[str], whole: set[str], weight: Weight) -> float:
    return sum(map(weight, sorted(part))) / sum(map(weight, sorted(whole))) if whole else 0.0
