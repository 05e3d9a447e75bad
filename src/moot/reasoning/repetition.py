"""Verbatim repetition as a number. It is computed without libraries, since rules that read it must replay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

SHINGLE = 4  # words in a row


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


@lru_cache(maxsize=1024)  # rules compare each statement with all that were made before
def shingles(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_sequence(text))


def _sequence(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return [tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)]
