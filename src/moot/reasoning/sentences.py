"""The first sentence of a text that a model wrote, for headlines."""

from __future__ import annotations

import re

from moot.reasoning.fence import clean

MAX_CHARS = 240

# Marks of Markdown before the words of a line: headings, quotations, bullets, numbers of lists.
_MARK = re.compile(r"^(?:#{1,6}\s+|>\s*|[-*+•]\s+|\d{1,3}[.)]\s+)+")
_HEADING = re.compile(r"^#{1,6}\s")
_LABEL = re.compile(r"^[\w ]{1,40}:$")  # "Recommendation:" alone on its line
# A sentence ends with a terminator and what closes around it, before a space or at the end. In Chinese and Japanese no
# space follows.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]»]*+(?=\s|$)|[。！？｡]+[」』”’）】]*")
# Words before whose dot no sentence ends; not those that are words of their own or often end a sentence ("no", "etc").
ABBREVIATIONS = frozenset(
    ("e.g", "i.e", "cf", "vs", "approx", "fig", "figs", "mr", "mrs", "ms", "dr", "prof", "st", "z.b", "d.h", "bzw")
)


def first_sentence(text: str) -> str:
    """Return the first sentence of `text` in one line, without the marks of Markdown; empty if it has no words.

    A heading or a label above the text is left out. A sentence of more than `MAX_CHARS` characters is cut at a word.
    """
    line = _first_paragraph(clean(text))
    within = line[: MAX_CHARS + 1]  # a longer sentence is cut in any case
    for end in _END.finditer(within):
        sentence = within[: end.end()]
        if sentence == within != line:
            break  # it may go on
        if _has_words(sentence) and not _abbreviates(sentence):
            return sentence
    return _cut(line)


def _first_paragraph(text: str) -> str:
    """The first lines that belong together, in one line. A heading counts only if nothing follows it."""
    found: list[str] = []
    above = ""
    for line in text.splitlines():
        words = " ".join(_MARK.sub("", line.strip()).replace("**", "").split())
        begins = _MARK.match(line.strip()) is not None
        if not _has_words(words):  # nothing, a rule, a fence, the border of a table
            if found:
                break
        elif not found and (_HEADING.match(line.strip()) or _LABEL.match(words)):
            above = above or words
        elif found and begins:
            break
        else:
            found.append(words)
    return " ".join(found) or above


def _has_words(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _abbreviates(text: str) -> bool:
    """Whether `text` ends with the dot of an abbreviation, of an initial or of a number in a list."""
    if not text.endswith(".") or text.endswith(".."):
        return False
    word = text[:-1].rpartition(" ")[2].lstrip("\"'“‘([«")
    if word.casefold() in ABBREVIATIONS:
        return True
    return (len(word) == 1 and word.isalpha() and word.isupper()) or (word.isdigit() and text[:-1] == word)


def _cut(line: str) -> str:
    if len(line) <= MAX_CHARS:
        return line
    cut = line[: MAX_CHARS - 1]
    at_word = cut.rpartition(" ")[0]
    return f"{(at_word if len(at_word) > MAX_CHARS // 2 else cut).rstrip(' ,;:')}…"
