"""How much of what someone says they have said before, as a number that never depends on a library's version:
what a debate does with it must replay."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHINGLE = 4  # words in a row


def repetition(text: str, earlier: Iterable[str]) -> float:
    """The share of the text's runs of four words that stand in earlier texts, too; 0 when it is too short to tell."""
    own = _shingles(text)
    known = set[tuple[str, ...]]().union(*(_shingles(each) for each in earlier))
    return len(own & known) / len(own) if own else 0.0


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)}
