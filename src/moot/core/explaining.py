"""Validation errors in plain English, for people and models. No text of the validation library leaves this module."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast, get_args

from pydantic import BaseModel
from pydantic_core.core_schema import ErrorType

from moot.core.types import Json, record

Details = Mapping[str, Any]  # one of ValidationError.errors()

_LONGEST = 60  # characters of a value that are shown
_LIBRARY: frozenset[str] = frozenset(get_args(ErrorType))  # any other is one of our own, in words already
_OWN_WORDS = {"value_error", "assertion_error"}
# Those that what the field takes explains best: "must be a whole number from 1 to 20".
_WRONG_KIND = frozenset(
    {
        "bool_parsing",
        "bool_type",
        "dict_type",
        "enum",
        "finite_number",
        "float_parsing",
        "float_type",
        "greater_than",
        "greater_than_equal",
        "int_from_float",
        "int_parsing",
        "int_parsing_size",
        "int_type",
        "less_than",
        "less_than_equal",
        "list_type",
        "literal_error",
        "mapping_type",
        "model_attributes_type",
        "model_type",
        "none_required",
        "not_a_number",
        "set_type",
        "string_type",
        "tuple_type",
    }
)
_WORDS = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be a mapping of names to values",
    "extra_forbidden": "is not known here",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number, and a smaller one",
    "int_type": "must be a whole number",
    "invalid_key": "has a name that is not text",
    "json_invalid": "must be valid JSON",
    "json_type": "must be JSON text",
    "list_type": "must be a list",
    "mapping_type": "must be a mapping of names to values",
    "missing": "is missing",
    "missing_argument": "is missing",
    "missing_keyword_only_argument": "is missing",
    "model_attributes_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of names to values",
    "none_required": "must be left out",
    "set_type": "must be a list",
    "string_sub_type": "must be text",
    "string_type": "must be text",
    "string_unicode": "must be text in valid UTF-8",
    "tuple_type": "must be a list",
    "unexpected_keyword_argument": "is not known here",
}


@record
class Mistake:
    """One thing that is wrong with what was given."""

    path: str  # dotted; empty: the whole
    words: str  # "must be a whole number from 1 to 20", or a sentence of a format's own
    value: str = ""  # what was given, for people; empty where that would not help

    @property
    def text(self) -> str:
        return sentence(self.path or "it", self.words)

    def of(self, what: str) -> str:
        """The sentence without its full stop: "Setting max_rounds must be a whole number from 1 to 20; it is 'abc'"."""
        said = sentence(f"{what} {self.path}" if self.path else what, self.words)
        return f"{said}; it is {self.value}" if self.value else said


def in_words(error: Details) -> str:
    """What is wrong, from the kind of error alone."""
    kind, context = str(error["type"]), cast("Mapping[str, Any]", error.get("ctx") or {})
    match kind:
        case _ if kind in _OWN_WORDS or kind not in _LIBRARY:
            said = str(error["msg"])
            return said.removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".") or "is not valid"
        case "greater_than_equal":
            return f"must be {_plain(context['ge'])} or more"
        case "greater_than":
            return f"must be more than {_plain(context['gt'])}"
        case "less_than_equal":
            return f"must be {_plain(context['le'])} or less"
        case "less_than":
            return f"must be less than {_plain(context['lt'])}"
        case "multiple_of":
            return f"must be a multiple of {_plain(context['multiple_of'])}"
        case "literal_error" | "enum":
            return f"must be {str(context['expected']).replace(chr(39), '')}"
        case "string_too_short":
            least = context["min_length"]
            return "must not be empty" if least == 1 else f"must have at least {least:,} characters"
        case "string_too_long":
            return f"must have at most {_counted(context['max_length'], 'character')}"
        case "too_short":
            least = context["min_length"]
            return "must not be empty" if least == 1 else f"must have at least {least:,} items"
        case "too_long":
            return f"must have at most {_counted(context['max_length'], 'item')}"
        case "string_pattern_mismatch":
            return _forbidden(str(context["pattern"]))
        case _:
            return _WORDS.get(kind, "is not valid")


_ONLY = re.compile(r"\^(?:\[[^\]]+\])?\[((?:[a-zA-Z0-9]-[a-zA-Z0-9]|[._-])+)\](?:\{\d+,\d+\}|\+|\*)\$")
_NO_SUCH = re.compile(r"\^\[\^(.+)\]\+\$")  # a pattern that forbids single characters
_CHARACTERS = {"\\n": "line breaks", '"': "quotation marks", "“": "quotation marks", "”": "quotation marks"}


def _forbidden(pattern: str) -> str:
    """What text must not contain, or may contain, where its pattern says just that."""
    allowed = _ONLY.fullmatch(pattern)
    if allowed:
        return f"may contain only {_either(re.findall(r'[a-zA-Z0-9]-[a-zA-Z0-9]|[._-]', allowed[1]))}"
    found = _NO_SUCH.fullmatch(pattern)
    parts: list[str] = re.findall(r"\\?.", found[1]) if found else []
    names = [_CHARACTERS.get(part) or _CHARACTERS.get(part[-1]) or part[-1] for part in parts]
    return f"must not contain {_either(list(dict.fromkeys(names)))}" if names else "has characters that it can't have"


def found_in(model: type[BaseModel], errors: Iterable[Details], *, values: bool = True) -> list[Mistake]:
    """What is wrong, one for each place; what a field takes is read from the model's JSON schema."""
    made: dict[str, Mistake] = {}
    for error in errors:
        loc = cast("tuple[int | str, ...]", error["loc"])
        name = _shown(loc[-2]) if loc[-1:] == ("[key]",) else ""  # a name in a mapping is wrong, not its value
        if name:
            loc = loc[:-2]
        path, nodes = _at(_schema(model), loc)
        if path in made:  # a union has an error for each of its members
            continue
        takes = _takes(nodes, _schema(model)) if error["type"] in _WRONG_KIND else ""
        words = f"must be {takes}" if takes else in_words(error)
        if takes and error["type"] == "not_a_number":
            words += f", not {error['ctx']['given']}"
        if name:
            words = f"the name {name} {words}"
        shown = values and not name and error["type"] not in ("missing", "extra_forbidden", "value_error") and loc != ()
        made[path] = Mistake(path=path, words=words, value=_shown(error.get("input")) if shown else "")
    return list(made.values())


def sentence(subject: str, words: str) -> str:
    """Words about something: "score is missing", or "debaters: both are called Ada"."""
    predicate = words.startswith(("must ", "may ", "is ", "has "))
    return f"{subject} {words}" if predicate else f"{subject}: {words}"


def dotted(path: Iterable[int | str]) -> str:
    """A place in words. The names in it may come from anyone: what can't be shown in one line is left out."""
    shown = (str(part)[:_LONGEST] for part in path)
    return ".".join(part if part.isprintable() and "{'" not in part else "…" for part in shown)


@lru_cache(maxsize=256)
def _schema(model: type[BaseModel]) -> Json:
    return model.model_json_schema()


def _at(schema: Json, loc: Sequence[int | str]) -> tuple[str, list[Json]]:
    """The path without the validator's own marks (members of unions, functions), and the schemas of that place."""
    path: list[str] = []
    nodes = _members(schema, schema)
    for part in loc:
        inner = [found for node in nodes if (found := _step(node, part)) is not None]
        if inner or isinstance(part, int) or not nodes or not path:
            path.append(str(part))
            nodes = [member for node in inner for member in _members(node, schema)]
        elif _is_name(part) and not any(_is_mark(node, part) for node in nodes):
            path.append(part)
            nodes = []
    return dotted(path), nodes


def _step(node: Json, part: int | str) -> Json | None:
    if isinstance(part, int):
        fixed: Sequence[Json] = node.get("prefixItems", ())
        return fixed[part] if part < len(fixed) else node.get("items")
    if part in node.get("properties", {}):
        return node["properties"][part]
    named = cast("Mapping[str, Json]", node.get("patternProperties", {}))  # where names must match a pattern
    more = next(iter(named.values()), node.get("additionalProperties"))
    return cast(Json, more) if isinstance(more, dict) else None


def _is_name(part: str) -> bool:
    return "[" not in part and "(" not in part


def _is_mark(node: Json, part: str) -> bool:
    """Whether the validator could call a member of a union so."""
    return node.get("type") != "object" or part == node.get("title")


def _members(node: Json, schema: Json) -> list[Json]:
    """The schemas that a place can have: references resolved, unions taken apart."""
    if "$ref" in node:
        return _members(schema["$defs"][node["$ref"].rsplit("/", 1)[-1]], schema)
    for union in ("anyOf", "oneOf", "allOf"):
        if union in node:
            return [member for inner in node[union] for member in _members(inner, schema)]
    return [node]


def _takes(nodes: Sequence[Json], schema: Json) -> str:
    """What a place takes: "a whole number from 1 to 20", "text, or a list"; empty if the schema does not say."""
    described = [_described(node, schema) for node in nodes if node.get("type") != "null"]
    if not described or not all(described):
        return ""
    return " or ".join(dict.fromkeys(described))


def _described(node: Json, schema: Json) -> str:
    if "const" in node:
        return _value(node["const"])
    if "enum" in node:
        return _either([_value(each) for each in node["enum"]])
    match node.get("type"):
        case "integer":
            return f"a whole number{_range(node)}"
        case "number":
            return f"a number{_range(node)}"
        case "boolean":
            return "true or false"
        case "string":
            return "text"
        case "array":
            items = _takes(_members(node["items"], schema), schema) if isinstance(node.get("items"), dict) else ""
            return "a list of texts" if items == "text" else "a list"
        case "object":
            return "a mapping of names to values"
        case _:
            return ""


def _range(node: Json) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    least = f"{_plain(low)}" if low is not None else f"above {_plain(above)}" if above is not None else ""
    most = f"{_plain(high)}" if high is not None else f"below {_plain(below)}" if below is not None else ""
    if low is not None and high is not None:
        return f" from {least} to {most}"
    if low is not None and most:
        return f", {least} or more and {most}"
    if least and most:
        return f" {least} {'and up to' if high is not None else 'and'} {most}"
    if least:
        return f", {least} or more" if low is not None else f" {least}"
    if most:
        return f", {most} or less" if high is not None else f" {most}"
    return ""


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _plain(number: Any) -> str:
    if isinstance(number, float) and not number.is_integer():
        return f"{number:g}"
    return str(int(number)) if isinstance(number, int | float) else str(number)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _shown(value: object) -> str:
    """A value for people. The contents of lists and mappings could be anything, and don't help."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)[:_LONGEST]
    if isinstance(value, str):
        short = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
        return repr(short) if "{'" not in short else "text"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    return "something else"
