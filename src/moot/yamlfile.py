"""Reading YAML files that people write, with one-line errors that name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from moot.core.errors import InputError
from moot.core.types import Json

MAX_BYTES = 1_000_000
MAX_VALUES = 10_000
MAX_DEPTH = 200


def read_mapping(path: Path, what: str, example: str, *, may_be_empty: bool = False) -> Json:
    """Read a YAML mapping. `what` names the kind of file and `example` its content in errors. Raises InputError."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no {what} {path}. Give the path of a YAML file with {example}.") from None
    except OSError as error:
        raise InputError(f"The {what} {path} can't be read: {error.strerror}. Check its permissions.") from None
    return parse_mapping(text, path, what, example, may_be_empty=may_be_empty)


def parse_mapping(text: bytes, path: Path, what: str, example: str, *, may_be_empty: bool = False) -> Json:
    """Like `read_mapping`, for text that was read already."""
    import yaml

    if len(text) > MAX_BYTES:
        raise InputError(f"The {what} {path} has {len(text):,} bytes; {MAX_BYTES:,} is the most. Split it.")
    if _too_deep(text):
        raise InputError(f"The {what} {path} is nested too deeply.")
    try:
        loaded: Any = yaml.safe_load(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"The {what} {path} is not UTF-8 text (byte {error.start}).") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it can't be parsed"
        hint = "Is a text with a colon or a brace missing its quotes?"
        raise InputError(f"The {what} {path} is not valid YAML{where}: {problem}. {hint}") from None
    except RecursionError:
        raise InputError(f"The {what} {path} is nested too deeply.") from None
    if loaded is None and may_be_empty:
        return {}
    if not isinstance(loaded, dict):
        raise InputError(f"The {what} {path} should be a mapping with {example}, not {kind(loaded)}.")
    if _too_many(cast(object, loaded)):
        raise InputError(f"The {what} {path} holds more than {MAX_VALUES:,} values.")
    return {str(name): value for name, value in cast("dict[object, Any]", loaded).items()}


def _too_deep(text: bytes) -> bool:
    """Whether brackets are nested so deeply that parsing would take minutes."""
    depth = deepest = 0
    for byte in text:
        depth += (byte in b"[{") - (byte in b"]}")
        deepest = max(deepest, depth)
    return deepest > MAX_DEPTH


def _too_many(value: object) -> bool:
    """Whether there are too many values. Nested aliases can stand for more than fit in memory."""
    waiting, count = [value], 0
    while waiting and count <= MAX_VALUES:
        count += 1
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += cast("dict[object, object]", item).values()
        elif isinstance(item, list):
            waiting += cast("list[object]", item)
    return count > MAX_VALUES


def kind(value: object) -> str:
    """What a value is, in words for error messages."""
    kinds = {
        "dict": "a mapping",
        "list": "a list",
        "str": "a text",
        "int": "a number",
        "float": "a number",
        "bool": "yes or no",
        "NoneType": "nothing",
    }
    name = type(value).__name__
    return kinds.get(name, name)
