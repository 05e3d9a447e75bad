"""Reading YAML that people write: the one loader of moot, with limits that hold while it is parsed.

A file of a few hundred bytes can stand for gigabytes (aliases, merge keys) or for minutes of work (numbers to the base
of 60, nesting), so values are built straight from the parser's events and counted as they come. What is read is what
JSON can hold: texts, numbers, yes or no, nothing, lists, and mappings whose keys are texts as written. Numbers are
those of YAML 1.2. Errors are one line that names the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from moot.core.errors import InputError
from moot.core.types import Json

MAX_BYTES = 1_000_000
MAX_VALUES = 10_000  # with each alias counted as what it stands for
MAX_DEPTH = 50
MAX_TEXT_CHARS = 500_000
MAX_KEY_CHARS = 1_000
MAX_NUMBER_CHARS = 40

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **{spelt: True for word in ("yes", "true", "on") for spelt in (word, word.capitalize(), word.upper())},
    **{spelt: False for word in ("no", "false", "off") for spelt in (word, word.capitalize(), word.upper())},
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_HALF = re.compile("[\ud800-\udfff]")  # of a pair of UTF-16, by an escape
_CORE = "tag:yaml.org,2002:"
_SCALAR_TAGS = tuple(_CORE + name for name in ("str", "int", "float", "bool", "null"))
_HINT = "Is a text with a colon or a brace missing its quotes?"


class Malformed(InputError):
    """The text is not YAML."""


def read_some(path: Path, most: int) -> bytes:
    """Read the first `most` bytes of a file. What files of others name may be a device without an end."""
    with path.open("rb") as file:
        return file.read(most)


def read_mapping(path: Path, what: str, example: str, *, may_be_empty: bool = False) -> Json:
    """Read a YAML mapping. `what` names the kind of file and `example` its content in errors. Raises InputError."""
    try:
        text = read_some(path, MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"There is no {what} {path}. Give the path of a YAML file with {example}.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a {what}. Give the path of a YAML file with {example}.") from None
    except OSError as error:
        raise InputError(f"The {what} {path} can't be read: {error.strerror}. Check its permissions.") from None
    return parse_mapping(text, path, what, example, may_be_empty=may_be_empty)


def parse_mapping(
    text: bytes, path: Path, what: str, example: str, *, may_be_empty: bool = False, first_line: int = 1
) -> Json:
    """Like `read_mapping`, for text that was read already, from `first_line` of the file on."""
    name = f"The {what} {path}"
    if len(text) > MAX_BYTES:
        raise InputError(f"{name} has more than {MAX_BYTES:,} bytes, which is the most. Split it.")
    try:
        loaded = parse(text.decode("utf-8"), name, first_line=first_line)
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text (byte {error.start}).") from None
    if loaded is None and may_be_empty:
        return {}
    if not isinstance(loaded, dict):
        raise InputError(f"{name} should be a mapping with {example}, not {kind(loaded)}.")
    return cast(Json, loaded)


def parse(text: str, name: str, *, first_line: int = 1) -> Any:
    """Return the value that a YAML text stands for. `name` begins its errors.

    Raises Malformed when it is not YAML, and InputError when it exceeds a limit or repeats a key.
    """
    import yaml

    if len(text) > MAX_BYTES:
        raise InputError(f"{name} has {len(text):,} characters; {MAX_BYTES:,} is the most. Shorten it.")
    try:
        # The pure-Python parser on purpose: the same on every machine, and what it takes is known.
        return _Reader(iter(cast(Any, yaml).parse(text, Loader=yaml.SafeLoader))).document()
    except _Refused as refused:
        line, column = refused.mark.line + first_line, refused.mark.column + 1
        raise refused.error(f"{name}, line {line}, column {column}: {refused}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + first_line}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be parsed"
        raise Malformed(f"{name} is not valid YAML{where}: {problem}. {_HINT}") from None
    except (ValueError, OverflowError):  # PyYAML lets `chr` refuse an escape such as "\UFFFFFFFF"
        raise Malformed(f"{name} is not valid YAML: it has an escape of no character. {_HINT}") from None


class _Refused(Exception):
    """A value that is not taken, and where it is."""

    def __init__(self, mark: Any, problem: str, error: type[InputError] = InputError) -> None:
        super().__init__(problem)
        self.mark, self.error = mark, error


@dataclass(kw_only=True, slots=True)
class _Named:
    """A value with an anchor."""

    value: Any
    count: int  # values in it, with aliases counted as what they stand for


@dataclass(slots=True)
class _Reader:
    """Builds one document from the parser's events. Everything is counted before it is built."""

    events: Iterator[Any]
    count: int = 0
    named: dict[str, _Named | None] = field(default_factory=dict[str, "_Named | None"])  # None: still being read

    def document(self) -> Any:
        import yaml

        value: Any = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Refused(event.start_mark, "a second document begins here; write one. Remove the `---`.")
                value = self.value(next(self.events), 0)
        return value

    def value(self, event: Any, depth: int) -> Any:
        import yaml

        if depth > MAX_DEPTH:
            raise _Refused(event.start_mark, f"it is nested too deeply; {MAX_DEPTH} levels are the most.")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self.count
        self._add(1, event)
        if event.anchor is not None:
            self.named[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._list(event, depth)
        else:
            value = self._mapping(event, depth)
        if event.anchor is not None:
            self.named[event.anchor] = _Named(value=value, count=self.count - before)
        return value

    def _list(self, start: Any, depth: int) -> list[Any]:
        import yaml

        _check_tag(start, (_CORE + "seq",))
        values: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            values.append(self.value(event, depth + 1))
        return values

    def _mapping(self, start: Any, depth: int) -> Json:
        import yaml

        _check_tag(start, (_CORE + "map",))
        values: Json = {}
        below: list[Json] = []  # what merge keys bring; the mapping's own keys win, then the earlier ones
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
                below += self._merged(next(self.events), depth)
                continue
            key = _key(event)
            if event.anchor is not None:
                self.named[event.anchor] = _Named(value=key, count=1)
            if key in values:
                raise _Refused(event.start_mark, f"the key {key[:80]!r} is there twice. Remove one of them.")
            values[key] = self.value(next(self.events), depth + 1)
        for each in below:
            for key, value in each.items():
                values.setdefault(key, value)
        return values

    def _merged(self, event: Any, depth: int) -> list[Json]:
        value = self.value(event, depth + 1)
        merged = cast("list[Any]", value) if isinstance(value, list) else [value]
        for each in merged:
            if not isinstance(each, dict):
                raise _Refused(event.start_mark, f"`<<` takes a mapping or a list of them, not {kind(each)}.")
        return merged

    def _alias(self, event: Any) -> Any:
        name = event.anchor[:80]
        if event.anchor not in self.named:
            problem = f"*{name} stands for nothing: no &{name} precedes it. Quote it if a text is meant."
            raise _Refused(event.start_mark, problem, Malformed)
        named = self.named[event.anchor]
        if named is None:
            raise _Refused(event.start_mark, f"*{name} stands inside of what it stands for. Remove it.")
        self._add(named.count, event)
        return named.value

    def _add(self, count: int, event: Any) -> None:
        self.count += count
        if self.count > MAX_VALUES:
            raise _Refused(event.start_mark, f"it holds more than {MAX_VALUES:,} values, with aliases written out.")


def _key(event: Any) -> str:
    import yaml

    if not isinstance(event, yaml.ScalarEvent):
        raise _Refused(event.start_mark, "a key must be a text. If the brace or bracket belongs to a text, quote it.")
    _check_tag(event, _SCALAR_TAGS)
    return _text(event, "key", MAX_KEY_CHARS)


def _text(event: Any, what: str, most: int) -> str:
    text = str(event.value)
    if len(text) > most:
        raise _Refused(event.start_mark, f"a {what} has {len(text):,} characters; {most:,} is the most. Shorten it.")
    try:
        # JSON writes a character beyond \uffff as two escapes.
        return text.encode("utf-16", "surrogatepass").decode("utf-16") if _HALF.search(text) else text
    except UnicodeDecodeError:
        raise _Refused(event.start_mark, f"a {what} has half a character, by an escape. Write the whole.") from None


def _scalar(event: Any) -> Any:
    _check_tag(event, _SCALAR_TAGS)
    text = _text(event, "text", MAX_TEXT_CHARS)
    plain, tag = event.implicit[0], event.tag
    if tag == _CORE + "str" or not (plain or tag in _SCALAR_TAGS):
        return text
    if len(text) > 5 and text[0] not in "+-.0123456789":
        value: Any = text  # most often
    elif text in _WORDS:
        value = _WORDS[text]
    else:
        value = _number(text, event)
    if tag in _SCALAR_TAGS and not isinstance(value, _TYPES[tag]):
        raise _Refused(event.start_mark, f"{text[:80]!r} is not what its tag !!{tag.removeprefix(_CORE)} says.")
    return float(value) if tag == _CORE + "float" else value


_TYPES: dict[str, type | tuple[type, ...]] = {
    _CORE + "int": int,
    _CORE + "float": (int, float),
    _CORE + "bool": bool,
    _CORE + "null": type(None),
}


def _number(text: str, event: Any) -> Any:
    """The number that a text is in YAML 1.2, or the text."""
    made: Callable[[str], Any]
    if _INTEGER.fullmatch(text):
        made = _integer
    elif _FLOAT.fullmatch(text):
        made = float
    else:
        return float(text.replace(".", "", 1)) if _SPECIAL.fullmatch(text) else text
    if len(text) > MAX_NUMBER_CHARS:
        problem = f"a number has {len(text):,} characters; {MAX_NUMBER_CHARS} is the most. Quote it if a text is meant."
        raise _Refused(event.start_mark, problem)
    return made(text)


def _integer(text: str) -> int:
    return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))


def _check_tag(event: Any, known: tuple[str, ...]) -> None:
    if event.tag is not None and event.tag != "!" and event.tag not in known:
        tag = event.tag.replace(_CORE, "!!", 1)[:80]
        problem = f"the tag {tag} is not known here. Remove it, or put the text in quotes."
        raise _Refused(event.start_mark, problem, Malformed)


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
