"""Quoting one participant's text to another: cleaned, bounded, and inside a fence that the text cannot forge."""

from __future__ import annotations

import hashlib
import unicodedata

MAX_QUOTE_CHARS = 24_000
_NO_QUOTES = str.maketrans({"“": "'", "”": "'", '"': "'", "„": "'", "«": "'", "»": "'"})
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")


def clean(text: str) -> str:
    """Remove control, invisible and direction-changing characters, which can hide text from a human reader."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # most often
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    invisible = [c for c in set(text) if c not in "\n\t" and unicodedata.category(c) in _INVISIBLE]
    return text.translate(dict.fromkeys(map(ord, invisible))) if invisible else text


def fence(text: str, *, of: str, at: str) -> str:
    """Quote `text` of the participant `of` for the step `at`. The mark is a hash that does not occur in the text."""
    words = shorten(clean(text), MAX_QUOTE_CHARS).strip() or "(said nothing)"
    salt = 0
    while True:
        mark = hashlib.sha256(f"{at}\0{salt}\0{words}".encode()).hexdigest()[:12]
        if mark not in words:
            return f"[words of {of} begin {mark}]\n{words}\n[words of {of} end {mark}]"
        salt += 1


def quote(text: str, most: int) -> str:
    """Quote the beginning of a text on one line, in quotation marks that the text can't contain. For small models: they
    repeat the marks of a fence as if they were words."""
    line = one_line(text, most).translate(_NO_QUOTES)
    return f"“{line}”" if line else "(nothing)"


def one_line(text: str, most: int = 0) -> str:
    """Clean a text, collapse its white space, and cut it to `most` characters if given."""
    line = " ".join(clean(text).split())
    return line if not most or len(line) <= most else f"{line[: max(1, most - 1)].rstrip()}…"


def shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
