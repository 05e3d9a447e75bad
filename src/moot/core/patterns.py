"""Regular expressions of others: matched by an engine whose time is linear, whatever the pattern and the text."""

from __future__ import annotations

from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, ValidationError
from pydantic_core.core_schema import str_schema


def usable(pattern: str) -> bool:
    """Whether the engine can do this pattern: it is one, and looks neither around nor back."""
    return _search(pattern) is not None


def found_in(pattern: str, text: str) -> bool:
    """Whether a pattern occurs in a text; never, if it can't be used."""
    search = _search(pattern)
    if search is None:
        return False
    try:
        search.validate_python(text)
    except ValidationError:
        return False
    return True


def whole(pattern: str) -> str:
    """The pattern that a text must match from its beginning to its end."""
    return rf"\A(?:{pattern})\z"


@lru_cache(maxsize=256)
def _search(pattern: str) -> SchemaValidator | None:
    try:
        return SchemaValidator(str_schema(pattern=pattern))
    except SchemaError:
        return None
