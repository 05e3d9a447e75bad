"""Whether a statement carries anything of its own: words that are missing, copied, repeated or broken off don't."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from moot.reasoning.fence import clean
from moot.reasoning.repetition import inner_repetition, mirrored, shingles

COPIED = 0.6  # share of four-word sequences that occur in earlier statements
LAST = 4  # statements whose beginnings are compared
LOOPS = 0.5  # share of a statement's four-word sequences that it repeats itself

# Finish reasons of statements that the provider did not let end. "length" is a cap of ours: what came before it counts.
BROKEN_OFF = frozenset({"incomplete", "content_filter", "error"})

SAYS_NOTHING = "says nothing"
LOST = "was broken off by the provider"
CUT_OFF = "was cut off at its limit"  # which leaves words that count
REPEATS_OPPONENT = "repeats its opponent's words"
REPEATS_ITSELF = "repeats its own earlier words"
GOES_ROUND = "repeats the same words over and over"


def has_words(text: str) -> bool:
    return re.search(r"\w", text) is not None


def unfinished(text: str) -> bool:
    """Whether a text ends within a sentence, as one that announces a list or code and stops there."""
    return has_words(text) and re.search(r"[.!?…。！？][\W_]*$", text) is None


class Known:
    """Texts that a new one is compared with. The time does not grow with their number."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: set[str] = set()
        self._shingles: set[tuple[str, ...]] = set()
        self._last: deque[str] = deque(maxlen=LAST)
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        text = clean(text)
        self._texts.add(_plain(text))
        self._shingles |= shingles(text)
        self._last.append(text)

    def copied_by(self, text: str, most: float = COPIED) -> bool:
        """Whether at least the share `most` of a text is in these."""
        own = shingles(text)
        return _plain(text) in self._texts or (bool(own) and len(own & self._shingles) / len(own) >= most)

    def mirrored_by(self, text: str, topic: str) -> bool:
        """Whether a text begins as one of the last of these does, but for words of the topic."""
        return mirrored(clean(text), self._last, topic)


NOTHING = Known()


def flaw_of(
    text: str, finish_reason: str, own: Known = NOTHING, others: Known = NOTHING, *, most: float = COPIED
) -> str:
    """Why a statement can't carry a verdict, to follow its speaker's name; empty if it can. `own` and `others` are the
    speaker's and the opponents' earlier statements, of which it may repeat less than the share `most`."""
    text = clean(text)
    if not has_words(text):
        return SAYS_NOTHING
    if finish_reason in BROKEN_OFF:
        return LOST
    if others.copied_by(text, most):
        return REPEATS_OPPONENT
    if own.copied_by(text, most):
        return REPEATS_ITSELF
    return GOES_ROUND if inner_repetition(text) >= LOOPS else ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
