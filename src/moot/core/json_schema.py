"""JSON schemas that others give, for answers in a shape of their own: checked before anything is asked, and safe to
validate with. Nothing is fetched, no pattern can take more than linear time, and neither references nor a long answer
can multiply the work."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

from moot.core.patterns import found_in, usable
from moot.core.values import Json

MAX_SCHEMA_CHARS = 20_000
MAX_DEPTH = 40
MAX_REFERENCES = 2_000  # followed in one validation
MAX_CHECKS = 50_000  # of single keywords, in one validation
MAX_PATTERN_CHARS = 500

_REFUSED = (
    *("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary"),
    *("unevaluatedProperties", "unevaluatedItems"),  # what they take can't be counted
)
_NAMES = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")  # of schemas by name
_DATA = ("const", "enum", "default", "examples", "example")  # what stands there is no schema
_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}


class NotASchema(ValueError):
    """The schema can't be used. The message says why."""


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raises NotASchema."""
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise NotASchema("it is not valid JSON, or too deeply nested") from None
    if len(text) > MAX_SCHEMA_CHARS:
        raise NotASchema(f"it has {len(text):,} characters; {MAX_SCHEMA_CHARS:,} are the most")
    if schema.get("type") != "object":
        raise NotASchema('it must describe an object: "type": "object" at its top')
    for part in _parts(schema, 0):
        _check_part(part, schema)
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError as Invalid

    try:
        Draft202012Validator.check_schema(schema)
    except Invalid as invalid:
        where = ".".join(map(str, invalid.absolute_path)) or "its top"
        raise NotASchema(f"at {where} it is not valid JSON Schema (draft 2020-12)") from None


def mistakes(schema: Mapping[str, Any], value: Any) -> list[str]:
    """What is wrong with a value, each in a few words; empty if it fits. The schema must have been checked."""
    try:
        found = sorted(_errors(schema, value), key=lambda error: list(map(str, error.absolute_path)))
    except _TooMuch as reason:
        return [f"it can't be checked: {reason}"]
    except RecursionError:
        return [f"it can't be checked: {_TOO_FAR}"]
    return [_in_words(error) for error in found]


def _parts(schema: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """The schema and all that are in it."""
    if depth > MAX_DEPTH:
        raise NotASchema(f"it is nested deeper than {MAX_DEPTH} levels")
    if not isinstance(schema, dict):
        return
    part = cast(Json, schema)
    yield part
    for name, inner in part.items():
        if name in _NAMES and isinstance(inner, dict):
            for each in cast(Json, inner).values():
                yield from _parts(each, depth + 1)
        elif isinstance(inner, list) and name not in _DATA:
            for each in cast("list[Any]", inner):
                yield from _parts(each, depth + 1)
        elif name not in _DATA:
            yield from _parts(inner, depth + 1)


def _check_part(part: Mapping[str, Any], whole: Mapping[str, Any]) -> None:
    for name in _REFUSED:
        if name in part:
            raise NotASchema(f"{name} can't be used here")
    target = part.get("$ref")
    if target is not None and not (isinstance(target, str) and _resolves(target, whole)):
        raise NotASchema(
            f"the reference {str(target)[:80]!r} leads nowhere in it; only its own parts can be referred to"
        )
    named: object = part.get("patternProperties", {})
    patterns: list[Any] = [part["pattern"]] if "pattern" in part else []
    patterns += list(cast(Json, named)) if isinstance(named, dict) else []
    for pattern in patterns:
        if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN_CHARS or not usable(pattern):
            raise NotASchema(
                f"the pattern {str(pattern)[:80]!r} can't be used: it looks around or back, is too long, or is none"
            )


def _resolves(target: str, whole: Any) -> bool:
    if target == "#":
        return True
    if not target.startswith("#/"):
        return False
    for step in target[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        whole = cast(Json, whole).get(name) if isinstance(whole, dict) else None
    return isinstance(whole, dict | bool)


_TOO_FAR = "its references lead too far"
_TOO_LONG = "it is too long for so large a schema"


class _TooMuch(Exception):
    """A validation takes too much work. The message says why."""


class _Counted:
    """A check of a keyword that can be made so many times."""

    def __init__(self, check: Any, left: list[int], reason: str) -> None:
        """`left`: how many times; may be shared with others."""
        self._check, self._left, self._reason = check, left, reason

    def __call__(self, *given: Any) -> Iterable[Any]:
        self._left[0] -= 1
        if self._left[0] < 0:
            raise _TooMuch(self._reason)
        return self._check(*given) or ()


def _errors(schema: Mapping[str, Any], value: Any) -> list[Any]:
    import jsonschema
    import referencing

    library, registry = cast(Any, jsonschema), cast(Any, referencing).Registry()
    known: Json = library.Draft202012Validator.VALIDATORS
    left = [MAX_CHECKS]
    own = {name: _Counted(check, left, _TOO_LONG) for name, check in {**known, **_OWN}.items()}
    own["$ref"] = _Counted(known["$ref"], [MAX_REFERENCES], _TOO_FAR)
    kind = library.validators.extend(library.Draft202012Validator, own)
    return list(kind(schema, registry=registry).iter_errors(value))


def _check_pattern(validator: Any, pattern: str, instance: Any, part: Any) -> Iterable[Any]:
    from jsonschema import ValidationError as Unfit

    if isinstance(instance, str) and not found_in(pattern, instance):
        yield Unfit("pattern")


def _check_names(validator: Any, patterns: Json, instance: Any, part: Any) -> Iterable[Any]:
    for pattern, inner in patterns.items():
        for name, value in (cast(Json, instance) if isinstance(instance, dict) else {}).items():
            if found_in(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _check_others(validator: Any, wanted: Any, instance: Any, part: Any) -> Iterable[Any]:
    """The library would join the patterns of names, and search with an engine that can take exponential time."""
    from jsonschema import ValidationError as Unfit

    named, patterns = part.get("properties", {}), part.get("patternProperties", {})
    values: Json = cast(Json, instance) if isinstance(instance, dict) else {}
    others = [name for name in values if name not in named and not any(found_in(each, name) for each in patterns)]
    if isinstance(wanted, dict):
        for name in others:
            yield from validator.descend(values[name], wanted, path=name)
    elif others and not wanted:
        yield Unfit("additionalProperties")


def _check_unique(validator: Any, wanted: bool, instance: Any, part: Any) -> Iterable[Any]:
    """The library would compare each item with all others, unless they can be sorted."""
    from jsonschema import ValidationError as Unfit

    if wanted and isinstance(instance, list):
        items = cast("list[Any]", instance)
        if len({_as_key(item) for item in items}) < len(items):
            yield Unfit("uniqueItems")


def _as_key(value: Any) -> Any:
    """The same for values that are the same in JSON, where 1 is 1.0 and not true."""
    if isinstance(value, dict):
        return "{}", frozenset((name, _as_key(each)) for name, each in cast(Json, value).items())
    if isinstance(value, list):
        return "[]", tuple(map(_as_key, cast("list[Any]", value)))
    return ("bool", value) if isinstance(value, bool) else value


def _check_multiple(validator: Any, wanted: float, instance: Any, part: Any) -> Iterable[Any]:
    """Exact, for numbers of any size: the library's division can overflow."""
    from jsonschema import ValidationError as Unfit

    if isinstance(instance, int | float) and not isinstance(instance, bool):
        whole = math.isfinite(instance) if isinstance(instance, float) else True
        if not whole or (Fraction(str(instance)) / Fraction(str(wanted))).denominator != 1:
            yield Unfit("multipleOf")


_OWN: Mapping[str, Any] = {
    "pattern": _check_pattern,
    "patternProperties": _check_names,
    "additionalProperties": _check_others,
    "uniqueItems": _check_unique,
    "multipleOf": _check_multiple,
}


def _in_words(error: Any) -> str:
    where = ".".join(map(str, error.absolute_path)) or "it"
    keyword, wanted = str(error.validator), error.validator_value
    match keyword:
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else list(wanted)
            return f"{where} must be {' or '.join(_KINDS.get(kind, str(kind)) for kind in kinds)}"
        case "required":
            missing = [name for name in wanted if name not in cast("dict[str, Any]", error.instance)]
            return f"{where} lacks {', '.join(map(repr, missing))}"
        case "additionalProperties":
            return f"{where} has names that are not asked for"
        case "enum":
            return f"{where} must be one of {', '.join(json.dumps(each, ensure_ascii=False) for each in wanted)[:300]}"
        case "const":
            return f"{where} must be {json.dumps(wanted, ensure_ascii=False)[:100]}"
        case "pattern":
            return f"{where} must match {str(wanted)[:100]}"
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minLength" | "maxLength":
            return f"{where} does not keep {keyword} {wanted}"
        case "minItems" | "maxItems" | "minProperties" | "maxProperties" | "multipleOf":
            return f"{where} does not keep {keyword} {wanted}"
        case _:
            return f"{where} does not keep {keyword}"
