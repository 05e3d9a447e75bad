"""Follow-up questions: a question that names the one it was asked after, so that it can be read on its own."""

from __future__ import annotations

from moot.reasoning.fence import one_line

MAX_EARLIER_CHARS = 200
_QUOTES = str.maketrans({"“": "'", "”": "'"})
_AFTER, _END = " (asked after “", "”)"


def following(question: str, earlier: str) -> str:
    """The question with the one before it: "And for two? (asked after “Redis or PostgreSQL?”)". It stays as it is if
    there is none, or the same again."""
    before = one_line(alone(earlier).translate(_QUOTES), MAX_EARLIER_CHARS)
    if not before or before == one_line(question.translate(_QUOTES), MAX_EARLIER_CHARS):
        return question
    return f"{question.rstrip()}{_AFTER}{before}{_END}"


def alone(question: str) -> str:
    """The question without the one that it was asked after."""
    asked, after, earlier = question.rpartition(_AFTER)
    whole = earlier.endswith(_END) and not any(mark in earlier[: -len(_END)] for mark in "“”\n")
    return asked if after and whole else question
