"""An index that scores templates against a question, by words and by meaning. No I/O."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence

from moot.memory.library import Template
from moot.memory.vector_index import cosine
from moot.reasoning.bm25 import Bm25, bigrams, words

BEST = 3  # lines of a template whose cosines are averaged
BIGRAMS = 0.8  # weight of bigrams against single words
WHEN = 0.3  # weight of the section on when to use it against the front matter


class TemplateIndex:
    def __init__(self, templates: Sequence[Template]) -> None:
        self.templates = templates
        self._bm25 = Bm25([_counted(template) for template in templates])
        self._lines = [{line: _hash(line) for line in _lines(template)} for template in templates]
        self.vectors: dict[str, Mapping[str, bytes]] = {}  # of `lines`, by embedder, once they are known

    @property
    def lines(self) -> Mapping[str, str]:
        """Every text to embed, by its hash."""
        return {key: line for lines in self._lines for line, key in lines.items()}

    def by_words(self, question: str) -> list[float]:
        # Without repetition and in order: the order of a sum can change its last digit.
        single, paired = (self._bm25.scores(dict.fromkeys(found(question))) for found in (words, bigrams))
        return [one + BIGRAMS * two for one, two in zip(single, paired, strict=True)]

    def by_meaning(self, question: bytes, vectors: Mapping[str, bytes]) -> list[float]:
        """`vectors`: one for each hash in `lines`."""
        scores: list[float] = []
        for lines in self._lines:
            nearest = sorted((cosine(question, vectors[key]) for key in lines.values()), reverse=True)[:BEST]
            scores.append(sum(nearest) / len(nearest))
        return scores


def best(scores: Sequence[float], count: int) -> list[tuple[int, float]]:
    """Indices and scores of the `count` highest, best first; ties keep their order."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [(place, scores[place]) for place in order[:count]]


def combined(one: Sequence[float], two: Sequence[float]) -> list[float]:
    """The sum of both, each standardized first: embedders differ in how near they place unrelated texts."""
    return [first + second for first, second in zip(_standard(one), _standard(two), strict=True)]


def _standard(scores: Sequence[float]) -> list[float]:
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / deviation if deviation else 0.0 for score in scores]


def _counted(template: Template) -> Mapping[str, float]:
    """Weighted terms of a template. Only the first section of its text counts: the examples are about other things."""
    front = template.front
    counts: dict[str, float] = {}
    fields = [front.name, front.summary, *front.domains, *front.keywords, *front.questions]
    when = next(filter(str.strip, re.split(r"^#+ .*$", template.text, flags=re.MULTILINE)), "")
    for text, weight in [*((field, 1.0) for field in fields), (when, WHEN)]:
        for word in (*words(text), *bigrams(text)):
            counts[word] = counts.get(word, 0.0) + weight
    return counts


def _lines(template: Template) -> list[str]:
    front = template.front
    return [f"{front.name}. {front.summary}", *front.keywords, *front.questions]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
