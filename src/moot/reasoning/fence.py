"""How one participant's words reach another: cleaned, bounded, and inside a fence they cannot forge."""

from __future__ import annotations

import hashlib
import unicodedata

MAX_QUOTE_CHARS = 24_000
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn")


def clean(text: str) -> str:
    """Without control, invisible and direction-changing characters, which can hide words from a human reader."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # most often
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    unseen = [c for c in set(text) if c not in "\n\t" and unicodedata.category(c) in _UNSEEN]
    return text.translate(dict.fromkeys(map(ord, unseen))) if unseen else text


def fence(text: str, *, of: str, at: str) -> str:
    """Quote `text` for the step `at`. The mark is derived from the text itself, so no text can contain its own."""
    words = shorten(clean(text), MAX_QUOTE_CHARS).strip() or "(said nothing)"
    salt = 0
    while True:
        mark = hashlib.sha256(f"{at}\0{salt}\0{words}".encode()).hexdigest()[:12]
        if mark not in words:
            return f"[words of {of} begin {mark}]\n{words}\n[words of {of} end {mark}]"
        salt += 1


def shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
