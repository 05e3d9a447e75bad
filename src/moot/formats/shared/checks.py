"""Checks that code can make about a verdict in every format: own words, nothing cut off, no refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from moot.core.types import Check
from moot.reasoning.sentences import first_sentence

UNSETTLED = "Not settled; recommended:"  # before an answer that the debate has not settled

_REFUSAL = re.compile(
    r"\bas an? (?:ai|artificial|language model)\b|\bi(?:'m| am) (?:sorry|unable|not able)\b"
    r"|\bi can(?:not|'t) (?:judge|decide|choose|pick|take sides|give|provide|make|recommend)\b",
    re.IGNORECASE,
)


def refuses(statement: str) -> bool:
    """Whether a statement says that its author, being a model, won't judge."""
    return _REFUSAL.search(statement.replace("’", "'")) is not None


def answer_in(text: str) -> str:
    """The sentence that answers the question: the first of `text`; empty if it has no words or is a refusal."""
    sentence = first_sentence(text)
    return "" if refuses(sentence) else sentence


def own_words(found: Sequence[str], passed: str = "all spoke in their own words") -> Check:
    """`found`: what is not in its speaker's own words, each as a clause."""
    return Check(name="own words", passed=not found, words="; ".join(found) or passed)


def complete(found: Sequence[str]) -> Check:
    """`found`: what was cut off, each as a clause."""
    return Check(name="complete", passed=not found, words="; ".join(found) or "nothing was cut off")
