"""Marks around text in a prompt, which no text that they enclose or stand beside can contain."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def mark_of(at: str, *texts: str) -> str:
    """Return a hash of the step `at` and of all `texts` that occurs in none of them. The same arguments give the same
    mark, so prompts replay."""
    salt = 0
    while True:
        mark = hashlib.sha256("\0".join((at, str(salt), *texts)).encode("utf-8", "surrogatepass")).hexdigest()[:12]
        if not any(mark in text for text in texts):
            return mark
        salt += 1


def guidance(text: str, *, at: str, among: Sequence[str]) -> str:
    """Enclose what the person in charge said in marks that occur in none of `among`, the other texts that the model
    reads. Text of debaters is among those, so none can pass for guidance. Empty text stays empty."""
    if not text:
        return ""
    mark = mark_of(at, text, *among)
    return f"[guidance begins {mark}]\n{text}\n[guidance ends {mark}]"
