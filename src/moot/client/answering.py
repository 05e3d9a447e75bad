"""A person's words as the answer to what a debate asks."""

from __future__ import annotations

from moot.core.errors import InputError
from moot.core.types import Gate, record


@record
class Words:
    """An answer: one of the gate's choices, where it has some, and text."""

    choice: str | None = None
    text: str = ""


def read_words(gate: Gate, words: str) -> Words:
    """`guide look at cost` is a choice and its text. Any unambiguous beginning of a choice will do. Raises
    InputError."""
    if not gate.choices:
        return Words(text=words)
    first, _, rest = words.strip().partition(" ")
    fits = [choice for choice in gate.choices if first and choice.startswith(first.casefold())]
    if len(fits) != 1:
        raise InputError(f"{first!r} is not a choice here. Choose one of: {', '.join(gate.choices)}.")
    return Words(choice=fits[0], text=rest.strip())
