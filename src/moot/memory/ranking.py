"""Which templates fit a question: by its words, and by its meaning where there is an embedder. Pure."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence

from moot.memory.library import Template
from moot.memory.vectors import cosine
from moot.reasoning.bm25 import Bm25, pairs, words

BEST = 3  # so many of a template's lines have to mean something like the question
PAIRS = 0.8  # what two neighbouring words count against single ones
WHEN = 0.3  # what the section on when to use it counts against the front matter


class Ranking:
    def __init__(self, templates: Sequence[Template]) -> None:
        self.templates = templates
        self._bm25 = Bm25([_counted(template) for template in templates])
        self._lines = [{line: _hash(line) for line in _lines(template)} for template in templates]

    @property
    def lines(self) -> Mapping[str, str]:
        """Every text that has to be embedded, by its hash."""
        return {key: line for lines in self._lines for line, key in lines.items()}

    def by_words(self, question: str) -> list[float]:
        # Each once, and in order: sums of the same numbers in another order can differ in their last digit.
        single, paired = (self._bm25.scores(dict.fromkeys(found(question))) for found in (words, pairs))
        return [one + PAIRS * two for one, two in zip(single, paired, strict=True)]

    def by_meaning(self, question: bytes, vectors: Mapping[str, bytes]) -> list[float]:
        """`vectors` has one for each hash of `lines`."""
        scores: list[float] = []
        for lines in self._lines:
            nearest = sorted((cosine(question, vectors[key]) for key in lines.values()), reverse=True)[:BEST]
            scores.append(sum(nearest) / len(nearest))
        return scores


def best(scores: Sequence[float], count: int) -> list[tuple[int, float]]:
    """Places and scores, best first; of equals the one that comes first."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [(place, scores[place]) for place in order[:count]]


def together(one: Sequence[float], two: Sequence[float]) -> list[float]:
    """The sum, after both are brought to the same scale: embedders differ in how near they put unrelated texts."""
    return [first + second for first, second in zip(_standard(one), _standard(two), strict=True)]


def _standard(scores: Sequence[float]) -> list[float]:
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / deviation if deviation else 0.0 for score in scores]


def _counted(template: Template) -> Mapping[str, float]:
    """Of the text only its first section: the examples below are about other things than the question."""
    front = template.front
    counts: dict[str, float] = {}
    fields = [front.name, front.summary, *front.domains, *front.keywords, *front.questions]
    when = next(filter(str.strip, re.split(r"^#+ .*$", template.text, flags=re.MULTILINE)), "")
    for text, weight in [*((field, 1.0) for field in fields), (when, WHEN)]:
        for word in (*words(text), *pairs(text)):
            counts[word] = counts.get(word, 0.0) + weight
    return counts


def _lines(template: Template) -> list[str]:
    front = template.front
    return [f"{front.name}. {front.summary}", *front.keywords, *front.questions]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
