"""Reads literals of Python and JavaScript, without running anything: what a test expects is written by a model."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from moot.reasoning.code.values import MAX_DEPTH, NONE, UNDEFINED, Kind, NotAValue, Value, collected

MAX_CHARS = 100_000
_SHORT = 200  # characters of a literal that is kept
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(
    r"(?P<base>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)"
    r"|(?P<digits>(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][+-]?\d+)?)(?P<suffix>[jJn]?)"
)
_STRING = re.compile(
    r"(?P<prefix>[rRbBuU]{0,2})(?P<quote>'''|\"\"\"|'|\")(?P<text>(?:\\.|(?!(?P=quote))[^\\])*+)(?P=quote)", re.DOTALL
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_KEY = re.compile(r"([A-Za-z_$][\w$]*)\s*:")
_ESCAPE = re.compile(
    r"\\(?:(\n)|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_CONSTANTS = {
    "None": NONE,
    "null": NONE,
    "undefined": UNDEFINED,
    "True": Value("bool", True),
    "true": Value("bool", True),
    "False": Value("bool", False),
    "false": Value("bool", False),
    "NaN": Value("float", float("nan")),
    "nan": Value("float", float("nan")),
    "Infinity": Value("float", float("inf")),
    "inf": Value("float", float("inf")),
}


def parsed(text: str) -> Value:
    """The value that a literal stands for. Raises NotAValue, which says where and why."""
    if len(text) > MAX_CHARS:
        raise NotAValue(f"A literal has {len(text):,} characters; {MAX_CHARS:,} is the most.")
    return _parsed_short(text) if len(text) <= _SHORT else _parsed(text)


def is_literal(text: str) -> bool:
    try:
        parsed(text)
    except NotAValue:
        return False
    return True


@lru_cache(maxsize=5000)
def _parsed_short(text: str) -> Value:
    return _parsed(text)  # rules compare the same few results again and again


def _parsed(text: str) -> Value:
    reader = _Reader(text)
    value = reader.value(0)
    reader.skip()
    if reader.at < len(text):
        raise reader.wrong("ends")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def wrong(self, wanted: str) -> NotAValue:
        found = self.text[self.at : self.at + 20]
        place = f"at {found!r}" if found else "at its end"
        return NotAValue(f"This is no literal: {place}, where it should be one that {wanted}.")

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def taken(self, *marks: str) -> str:
        """The first of the marks that comes next, which is then behind us; else nothing."""
        self.skip()
        for mark in marks:
            if self.text.startswith(mark, self.at):
                self.at += len(mark)
                return mark
        return ""

    def need(self, mark: str) -> None:
        if not self.taken(mark):
            raise self.wrong(f"goes on with {mark!r}")

    def value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise NotAValue(f"The value is nested more than {MAX_DEPTH} deep.")
        self.skip()
        mark = self.taken("[", "(", "{")
        if mark == "[":
            return collected("list", self.items("]", depth))
        if mark == "(":
            return self.tuple_or_number(depth)
        if mark == "{":
            return self.dict_or_set(depth)
        string = _STRING.match(self.text, self.at)
        if string is not None:
            self.at = string.end()
            return _string(string["prefix"].lower(), string["text"])
        name = _NAME.match(self.text, self.at)
        if name is not None:
            self.at = name.end()
            return self.named(name[0], depth)
        return self.number(depth)

    def items(self, end: str, depth: int) -> list[Value]:
        found: list[Value] = []
        while not self.taken(end):
            found.append(self.value(depth + 1))
            if not self.taken(","):
                self.need(end)
                break
        return found

    def tuple_or_number(self, depth: int) -> Value:
        if self.taken(")"):
            return collected("tuple", [])
        first = self.value(depth + 1)
        if self.taken(")"):
            return first
        self.need(",")
        return collected("tuple", [first, *self.items(")", depth)])

    def dict_or_set(self, depth: int) -> Value:
        if self.taken("}"):
            return collected("dict", [])
        found = [self.key(depth)]
        pairs = bool(self.taken(":"))
        if pairs:
            found.append(self.value(depth + 1))
        while self.taken(","):
            if self.taken("}"):
                return collected("dict" if pairs else "set", found)
            found.append(self.key(depth))
            if pairs:
                self.need(":")
                found.append(self.value(depth + 1))
        self.need("}")
        return collected("dict" if pairs else "set", found)

    def key(self, depth: int) -> Value:
        """A value, or, as in JavaScript, a bare name before a colon."""
        self.skip()
        name = _KEY.match(self.text, self.at)
        if name is not None and name[1] not in _CONSTANTS:
            self.at = name.end(1)
            return Value("str", name[1])
        return self.value(depth + 1)

    def named(self, name: str, depth: int) -> Value:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name == "new":
            self.skip()
            kind = _NAME.match(self.text, self.at)
            if kind is None or kind[0] not in ("Map", "Set"):
                raise self.wrong("is a Map or a Set")
            self.at = kind.end()
            return self.called(kind[0], depth)
        if name in ("set", "frozenset", "float", "complex"):
            return self.called(name, depth)
        self.at -= len(name)
        raise self.wrong("begins a value")

    def called(self, name: str, depth: int) -> Value:
        self.need("(")
        given = self.items(")", depth)
        made = _CALLS[name](given)
        if made is None:
            raise NotAValue(f"This is no literal: {name} is given {len(given)} values that it does not take.")
        return made

    def number(self, depth: int) -> Value:
        sign = -1 if self.taken("-", "+") == "-" else 1
        self.skip()
        if self.text.startswith(("NaN", "Infinity", "inf", "nan", "float"), self.at):
            return Value("float", sign * self.value(depth + 1).content)
        number = self.plain(sign)
        if number.kind == "complex":
            return number
        mark = self.taken("+", "-")
        if not mark:
            return number
        self.skip()
        imaginary = self.plain(-1 if mark == "-" else 1)
        if imaginary.kind != "complex":
            raise self.wrong("ends after one number")
        return Value("complex", complex(float(number.content), imaginary.content.imag))

    def plain(self, sign: int) -> Value:
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            raise self.wrong("begins a value")
        try:
            value = _number(match, sign)
        except ValueError:
            raise self.wrong("is a number") from None
        self.at = match.end()
        return value


def _number(match: re.Match[str], sign: int) -> Value:
    if match["base"]:
        return Value("int", sign * int(match["base"].replace("_", ""), 0))
    digits = match["digits"].replace("_", "")
    if match["suffix"] in ("j", "J"):
        return Value("complex", complex(0.0, sign * float(digits)))
    if digits.isdigit():
        return Value("int", sign * int(digits))
    if match["suffix"] == "n":
        raise ValueError
    return Value("float", sign * float(digits))


def _string(prefix: str, text: str) -> Value:
    if "r" not in prefix:
        text = _ESCAPE.sub(_unescaped, text)
    if "b" in prefix:
        try:
            return Value("bytes", text.encode("latin-1"))
        except UnicodeEncodeError:
            raise NotAValue("This is no literal: bytes have characters up to \\xff.") from None
    return Value("str", text)


def _unescaped(match: re.Match[str]) -> str:
    newline, braces, two, four, eight, octal, letter = match.groups()
    if newline:
        return ""
    number = braces or two or four or eight
    if number or octal:
        code = int(number, 16) if number else int(octal, 8)
        if code > 0x10FFFF:
            raise NotAValue("This is no literal: there is no such character.")
        return chr(code)
    return _LETTERS.get(letter, letter if letter in "\\'\"`\n/" else f"\\{letter}")


def _of(kind: Kind) -> Callable[[list[Value]], Value | None]:
    def made(given: list[Value]) -> Value | None:
        if not given:
            return collected(kind, [])
        if len(given) > 1 or given[0].kind not in ("set", "list", "tuple"):
            return None
        return collected(kind, list(given[0].items))

    return made


def _map(given: list[Value]) -> Value | None:
    entries = given[0].items if len(given) == 1 and given[0].kind == "list" else ()
    if given and (len(given) > 1 or any(each.kind != "list" or len(each.items) != 2 for each in entries)):
        return None
    return collected("dict", [part for entry in entries for part in entry.items])


def _float(given: list[Value]) -> Value | None:
    try:
        return Value("float", float(given[0].content)) if len(given) == 1 else None
    except (TypeError, ValueError, OverflowError):
        return None


def _complex(given: list[Value]) -> Value | None:
    try:
        return Value("complex", complex(*(each.content for each in given))) if 1 <= len(given) <= 2 else None
    except (TypeError, ValueError, OverflowError):
        return None


_CALLS: dict[str, Callable[[list[Value]], Value | None]] = {
    "set": _of("set"),
    "Set": _of("set"),
    "frozenset": _of("frozenset"),
    "Map": _map,
    "float": _float,
    "complex": _complex,
}
