"""Verbatim repetition, as a number or a yes. It is computed without libraries: rules that read it must replay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

from moot.reasoning.sentences import first_sentence

SHINGLE = 4  # words in a row
IN_A_ROW = 6  # words that two first sentences have in common, when one follows the other


def repetition(text: str, earlier: Iterable[str]) -> float:
    """The share of the text's four-word shingles that occur in earlier texts; 0 for a text of fewer words."""
    own = new = shingles(text)
    for each in earlier:
        new -= shingles(each)
    return (len(own) - len(new)) / len(own) if own else 0.0


def inner_repetition(text: str) -> float:
    """The share of the text's four-word shingles that have occurred in it before; 0 for a text of fewer words."""
    every = _sequence(text)
    return 1 - len(set(every)) / len(every) if every else 0.0


def mirrored(text: str, earlier: Iterable[str], topic: str) -> bool:
    """Whether the first sentence of a text follows that of an earlier one: it has so many of its words in a row, of
    which at least half are not in the topic, whose words all must use."""
    asked, own = set(_words(topic)), _words(first_sentence(text))
    for each in earlier:
        other = _words(first_sentence(each))
        at, _, length = SequenceMatcher(None, own, other, autojunk=False).find_longest_match()
        shared = own[at : at + length]
        if length >= IN_A_ROW and sum(word not in asked for word in shared) >= IN_A_ROW / 2:
            return True
    return False


@lru_cache(maxsize=1024)  # rules compare each statement with all that were made before
def shingles(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_sequence(text))


def _sequence(text: str) -> list[tuple[str, ...]]:
    words = _words(text)
    return [tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
