"""BM25 scores of texts for a query, and the terms that they are computed from. Pure and deterministic."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

K1 = 1.2  # term frequency saturation
B = 0.75  # length normalization

# Words that tell nothing about the subject of a question.
_STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being both but by can cannot could did
    do does doing done dont each either else etc even ever every for from get gets getting go going had has have having
    he her here hers him his how i if in into is isnt it its itself just let lets like may me might mine more most much
    must my need needs neither no nor not of off on once one only or other others ought our ours out over own per
    rather same shall she should shouldnt since so some still such than that the their theirs them themselves then
    there these they thing things this those though through to too under until up upon us use used using very want
    wants was wasnt way we were what whats whatever when where whether which while who whom whose why will with within
    without wont would yes yet you your yours
    """.split()  # noqa: SIM905
)
_PLAIN = re.compile(r"[a-z0-9]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_VOWEL = re.compile(r"[aeiouy]")
# Scripts that put no spaces between words; Korean does, but its endings are part of the word.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Korean
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Japanese syllables
    (0x3130, 0x318F),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Chinese characters
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


class Bm25:
    """Scores texts, given as term counts. A count may be fractional, for terms of a field with another weight."""

    def __init__(self, texts: Sequence[Mapping[str, float]]) -> None:
        self._texts = texts
        self._lengths = [sum(text.values()) for text in texts]
        self._average = sum(self._lengths) / len(texts) if texts else 0.0
        self._document_frequency = Counter(term for text in texts for term in text)

    def scores(self, query: Iterable[str]) -> list[float]:
        """One score per text; 0 where no term of the query occurs."""
        counts = Counter(term for term in query if term in self._document_frequency)
        return [self._score(counts, text, length) for text, length in zip(self._texts, self._lengths, strict=True)]

    def _score(self, query: Mapping[str, int], text: Mapping[str, float], length: float) -> float:
        score = 0.0
        norm = K1 * (1 - B + B * length / self._average) if self._average else 0.0
        for term, times in query.items():
            count = text.get(term, 0.0)
            if count:
                weight = idf(self._document_frequency[term], len(self._texts))
                score += times * weight * count * (K1 + 1) / (count + norm)
        return score


def idf(document_frequency: int, total: int) -> float:
    """Inverse document frequency of a term, never below 0."""
    return math.log(1 + (total - document_frequency + 0.5) / (document_frequency + 0.5))


def words(text: str) -> list[str]:
    """The stemmed words of a text in order, without stop words."""
    found: list[str] = []
    for run in _runs(text):
        if run.isascii():
            if run not in _STOP_WORDS:
                found.append(stem(run))
        else:
            found += _segments(run)
    return found


def bigrams(text: str) -> list[str]:
    """Each two neighbouring words. Stop words are included: "how many" tells what kind of question it is."""
    return [f"{one} {two}" for one, two in pairwise(stem(run) for run in _runs(text))]


def stem(word: str) -> str:
    """Strip the most common English endings; other words are returned unchanged."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    word = _without_plural(word)
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and _VOWEL.search(word[: -len(ending)]):
            word = _single(word[: -len(ending)])
            break
    for ending, least in (("ly", 4), ("ness", 3), ("ment", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            break
    if word.endswith(("sion", "tion")) and len(word) > 5:
        word = word[:-3]
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = f"{word[:-1]}i"
    return word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _single(word: str) -> str:
    """`stopp` becomes `stop`; `fall` is returned unchanged."""
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeioulsz"
    return word[:-1] if doubled else word


def _runs(text: str) -> list[str]:
    """Runs of letters and digits, with case folded and accents removed."""
    text = _POSSESSIVE.sub("", text.casefold()).replace("'", "").replace("’", "")
    if text.isascii():
        return _PLAIN.findall(text)
    parted = unicodedata.normalize("NFKD", text).casefold()
    bare = unicodedata.normalize("NFC", "".join(c for c in parted if not "\u0300" <= c <= "\u036f"))
    # Vowel signs of Indic scripts are marks, which `isalnum` does not count as letters.
    kept = (c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in bare)
    return "".join(kept).split()


def _segments(run: str) -> list[str]:
    """The stemmed run, or character bigrams of the parts in a script without spaces."""
    found: list[str] = []
    part = ""
    unspaced = False
    for character in f"{run} ":
        now = _is_unspaced(character)
        if part and (now != unspaced or character == " "):
            found += _character_bigrams(part) if unspaced else [stem(part)]
            part = ""
        part, unspaced = part + character, now
    return found


def _character_bigrams(part: str) -> list[str]:
    return [part[at : at + 2] for at in range(len(part) - 1)] if len(part) > 1 else [part]


def _is_unspaced(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in _UNSPACED)
