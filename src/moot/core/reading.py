"""How strictly typed answers are read: a number must be given as a number; a name matches whatever its case.

Both are rules of `Answer`, so every format has them, and neither changes the JSON schema that a model is asked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import CoreSchema, no_info_before_validator_function

_AROUND = " \t\r\n\"'“”‘’`*."  # what models put around a name
_NOT_SCHEMAS = frozenset({"metadata", "serialization", "function", "cls", "config", "expected", "default", "ref"})


def matched(value: object, names: Iterable[str]) -> object:
    """Return the one name that `value` means, whatever its case and the quotes around it; else `value` itself."""
    known = tuple(names)
    if not isinstance(value, str) or value in known:
        return value
    wanted = _folded(value)
    found = [name for name in known if _folded(name) == wanted]
    return found[0] if len(found) == 1 else value


def with_names_matched(value: object, names: Iterable[str]) -> object:
    """Return an object whose keys are `matched`. Keys that would then occur twice stay as they are."""
    if not isinstance(value, Mapping):
        return value
    known, given = tuple(names), cast("Mapping[str, Any]", value)
    made = {matched(name, known): inner for name, inner in given.items()}
    return made if len(made) == len(given) else given


def strictly(schema: CoreSchema) -> CoreSchema:
    """Return pydantic's schema of an answer with the checks of this module around each number and choice of texts."""
    return cast("CoreSchema", _rewritten(schema))


def _rewritten(node: Any) -> Any:
    if isinstance(node, list | tuple):
        made = [_rewritten(each) for each in cast("Iterable[Any]", node)]
        return made if isinstance(node, list) else tuple(made)
    if not isinstance(node, dict):
        return node
    given = cast("dict[str, Any]", node)
    kind = given.get("type")
    if not isinstance(kind, str):  # a mapping of fields by name
        return {name: _rewritten(inner) for name, inner in given.items()}
    if kind in ("int", "float"):
        return no_info_before_validator_function(_number, cast("CoreSchema", given))
    # A choice of one is left alone: it can be the discriminator of a union, which takes no validators.
    if kind == "literal" and len(given["expected"]) > 1 and all(isinstance(each, str) for each in given["expected"]):
        return no_info_before_validator_function(_matching(given["expected"]), cast("CoreSchema", given))
    return {name: inner if name in _NOT_SCHEMAS else _rewritten(inner) for name, inner in given.items()}


def _matching(names: list[str]) -> Callable[[object], object]:
    return lambda value: matched(value, names)


def _number(value: object) -> object:
    if isinstance(value, bool | str):
        given = f"the text {json.dumps(value)}" if isinstance(value, str) else json.dumps(value)
        raise PydanticCustomError("not_a_number", "must be a number, not {given}", {"given": given[:80]})
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("not_finite", "must be a number; it is too large or no number at all")
    return value


def _folded(name: str) -> str:
    return " ".join(name.strip(_AROUND).casefold().split())
