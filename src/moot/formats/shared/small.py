"""What rules need to get the best out of small models: points to speak to, short quotations, room in words.

A small model copies long texts that it reads, and loses its side in them. It argues well when it speaks to one point of
its own at a time and reads only the beginning of what it answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, create_model

from moot.core.script import Seat
from moot.core.types import Answer, SeatSpec
from moot.reasoning.language import mixes_scripts
from moot.reasoning.repetition import repetition
from moot.reasoning.sentences import first_sentence

POINT_CHARS = 110
REMARK_CHARS, LINE_CHARS, PASSAGE_CHARS, CONCLUSION_CHARS = 140, 220, 600, 500
NEARLY = 12  # characters: a text that ends closer to its limit was probably cut
SAID_AGAIN = 0.5  # share of repeated words
WORDS_PER_TOKEN = 0.6
ONE_PARAGRAPH = ("\n\n",)  # where a small model must stop: it would go on until its cap
CODE_ENDS = ("\n```\n", "\nprint(", "\nassert ", "\n# Example")  # the same for code, which it goes on to show off
CODE_VARIES = 0.7  # temperature of code that is to differ from other code: with less, it is the same words

_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+")  # what lies between two
_DANGLING = re.compile(r"(?:,?(?<!\s)\s++(?:which|that|and|or|but|as|because|while|so|where|who)){1,5}$", re.IGNORECASE)
_ENDS = re.compile(r"[.!?…。！？][”’\"')]*(?=\s|$)|[。！？]")


def _shortened(text: str) -> str:
    """At most `POINT_CHARS`: up to the last clause that fits, or else in whole words. The shape sent to the model has
    no such limit: it would break a sentence off there and go on with it in the next point."""
    return text if len(text) <= POINT_CHARS else _up_to_a_clause(text[:POINT_CHARS])


def _up_to_a_clause(text: str) -> str:
    """A text that breaks off, up to its last comma or else its last word."""
    clause = _DANGLING.sub("", text.rpartition(", ")[0])
    return f"{clause}." if len(clause) > len(text) // 2 else f"{text[:-1].rsplit(' ', 1)[0].rstrip(' ,;:')}…"


Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_shortened)]


def _whole_sentences(text: str, most: int) -> str:
    """A text that fills its room was cut there: end it after its last sentence, or else its last clause or word."""
    if len(text) < most - NEARLY or (len(text) < most and _ENDS.search(text[-2:])):
        return text
    ends = [found.end() for found in _ENDS.finditer(text)]
    return text[: ends[-1]] if ends and ends[-1] > most // 3 else _up_to_a_clause(text)


def said_once(texts: Iterable[str]) -> list[str]:
    """Without the texts that say again what one before them has said: a small model that loops has no more to say. A
    text into which it has mixed words of another script is left out, too, where that leaves others."""
    said: list[str] = []
    given = list(texts)
    for text in [each for each in given if not mixes_scripts(each)] or given:
        if repetition(text, said) < SAID_AGAIN:
            said.append(text)
    return said


def _within(most: int) -> AfterValidator:
    """Whole sentences, each said once, that were given `most` characters."""
    return AfterValidator(lambda text: " ".join(said_once(_SENTENCES.split(_whole_sentences(text, most)))))


# A small model that rambles never closes its JSON: texts in typed answers have little room.
Remark = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=REMARK_CHARS),
    _within(REMARK_CHARS),
]
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LINE_CHARS),
    _within(LINE_CHARS),
]
# A sentence that is cut in the shape goes on in the next field: this one has room, and its first sentence is kept.
Conclusion = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=CONCLUSION_CHARS),
    AfterValidator(first_sentence),
    StringConstraints(min_length=1),
]
Passage = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=PASSAGE_CHARS),
    _within(PASSAGE_CHARS),
]


class Points(Answer):
    """Reasons that a side has, each in a phrase."""

    points: tuple[str, ...]

    def prose(self) -> str:
        return "\n".join(f"- {point}" for point in self.points)


@lru_cache(maxsize=16)
def points_shape(count: int) -> type[Points]:
    listed: Any = tuple[Phrase, ...]
    return create_model("Points", __base__=Points, points=(listed, Field(min_length=count, max_length=count)))


def point_for(points: Sequence[str], number: int) -> str:
    """The point for the statement with that number, of those that differ; empty when there are no more, since a point
    that is given again is answered with the same words."""
    different = said_once(points)
    return different[number - 1] if number <= len(different) else ""


def in_sentences(*lines: str) -> str:
    """Lines as one paragraph, each closed like a sentence; without those that say again what stands before them."""
    own = said_once(filter(None, map(str.strip, lines)))
    return " ".join(line if _ENDS.search(line[-2:]) else f"{line}." for line in own)


def opening_words(text: str, sentences: int = 1) -> str:
    """The first sentences of a statement."""
    return " ".join(_SENTENCES.split(text.strip())[:sentences])


def room_in_words(seat: SeatSpec) -> str:
    """How long a statement may be so that it ends before its token cap, in round words."""
    words = int(seat.max_tokens * WORDS_PER_TOKEN)
    return str(words if words < 20 else words // 10 * 10)


def without_memory(seat: Seat) -> Seat:
    """A small model repeats what it has read and said: it is asked each thing anew."""
    return seat.fresh() if seat.spec.small else seat
