"""Labels: what people put on a debate to find it again. They change nothing of what is debated."""

from __future__ import annotations

from collections.abc import Iterable

from moot.core.errors import InputError
from moot.reasoning.fence import clean

MAX_TITLE = 200
MAX_TAG = 40
MOST_TAGS = 20
_NOT_IN_TAGS = frozenset(',"\\')  # they separate tags where several are written, and where they are stored


def read_title(text: str) -> str:
    """One line, without what can't be shown; may be empty. Raises InputError if it is too long."""
    title = " ".join(clean(text).split())
    if len(title) > MAX_TITLE:
        raise InputError(f"The title has {len(title):,} characters; {MAX_TITLE} is the most. Shorten it.")
    return title


def read_tag(text: str) -> str:
    """A tag as it is stored: in lower case, without `#` in front. Raises InputError."""
    tag = " ".join(clean(text).lower().split()).removeprefix("#").strip()
    if not tag:
        raise InputError("A tag needs a letter or a digit.")
    if len(tag) > MAX_TAG:
        raise InputError(f"The tag {tag[:MAX_TAG]!r}… has {len(tag):,} characters; {MAX_TAG} is the most. Shorten it.")
    if _NOT_IN_TAGS.intersection(tag):
        raise InputError(f"The tag {tag!r} has a comma, a quotation mark or a backslash in it. Leave them out.")
    return tag


def read_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, in order of the alphabet. Raises InputError."""
    tags = tuple(sorted({read_tag(text) for text in texts}))
    if len(tags) > MOST_TAGS:
        raise InputError(f"A debate can have {MOST_TAGS} tags; these are {len(tags)}. Leave some out.")
    return tags
