"""How many values a JSON body has, found out without parsing it: parsing and validating take time for each."""

from __future__ import annotations

MOST_VALUES = 20_000  # a chat of a thousand messages with parts has about 6,000
_BEFORE_A_VALUE = b",[{"
_MOST_QUOTES = 4 * MOST_VALUES  # of as many fields, whose names and values are texts


def has_too_many_values(body: bytes) -> bool:
    """Whether a body has more than `MOST_VALUES` lists, objects, items and fields. Takes linear time and makes no
    object for each of them. What is no JSON may be counted in any way: it is refused when it is parsed."""
    if _count(body, _BEFORE_A_VALUE) <= MOST_VALUES:
        return False
    bare = body.replace(b"\\\\", b"").replace(b'\\"', b"")  # now every quotation mark begins or ends a text
    if _count(bare, b'"') > _MOST_QUOTES:
        return True
    return _count(b"".join(bare.split(b'"')[::2]), _BEFORE_A_VALUE) > MOST_VALUES


def _count(body: bytes, characters: bytes) -> int:
    return len(body) - len(body.translate(None, characters))
