"""Values that code returns: how they are read, written and compared, outside of the code that made them.

A value is of an exact built-in type of its language. It arrives as tokens (`decoded`), is stored as a literal
(`literal`), and is compared with what was expected by `same`; nothing of a candidate's own has a say in it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

Kind = Literal[
    "none", "undefined", "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "set", "frozenset", "dict"
]
MAX_DEPTH = 50
RELATIVE, ABSOLUTE = 1e-9, 1e-12  # how far from a float, and from 0.0, a number may lie and still be the same
_LONG_INT = 10**4000  # beyond, Python refuses to write a number in decimals


class NotAValue(ValueError):
    """A text or a message that stands for no value; the message says why."""


@dataclass(frozen=True, slots=True)
class Value:
    kind: Kind
    content: Any = None  # a scalar; for collections a tuple of values, for a dict one of pairs
    depth: int = 0

    @property
    def items(self) -> tuple[Value, ...]:
        return cast("tuple[Value, ...]", self.content)

    @property
    def pairs(self) -> tuple[tuple[Value, Value], ...]:
        return cast("tuple[tuple[Value, Value], ...]", self.content)


NONE, UNDEFINED = Value("none"), Value("undefined")

# Tokens: a tag, a 32-bit length, content. Those of a collection follow those of its items; their length counts them.
_HEAD = struct.Struct(">cI")
_COLLECTIONS: dict[bytes, Kind] = {b"l": "list", b"t": "tuple", b"S": "set", b"F": "frozenset", b"d": "dict"}


def decoded(message: bytes) -> Value:
    """The value of a message from inside the sandbox, which can be anything. Raises NotAValue."""
    made: list[Value] = []
    at = 0
    while at < len(message):
        if at + _HEAD.size > len(message):
            raise NotAValue("The message breaks off.")
        tag, size = _HEAD.unpack_from(message, at)
        at += _HEAD.size
        collection = _COLLECTIONS.get(tag)
        if collection is None:
            content = message[at : at + size]
            if len(content) != size:
                raise NotAValue("The message breaks off.")
            at += size
            made.append(_scalar(tag, content))
            continue
        taken = size * 2 if collection == "dict" else size
        if taken > len(made):
            raise NotAValue("The message has too few items.")
        items = made[len(made) - taken :]
        del made[len(made) - taken :]
        made.append(collected(collection, items))
    if len(made) != 1:
        raise NotAValue(f"The message has {len(made)} values instead of one.")
    return made[0]


def _scalar(tag: bytes, content: bytes) -> Value:
    try:
        text = content.decode("utf-8", "surrogatepass") if tag == b"s" else content.decode("ascii")
        match tag:
            case b"n":
                return NONE
            case b"u":
                return UNDEFINED
            case b"b":
                return Value("bool", text == "1")
            case b"i":
                return Value("int", int(text, 16))
            case b"f":
                return Value("float", float(text))
            case b"c":
                real, imaginary = text.split(",")
                return Value("complex", complex(float(real), float(imaginary)))
            case b"s":
                return Value("str", text)
            case b"y":
                return Value("bytes", bytes.fromhex(text))
            case _:
                raise NotAValue(f"The message has an unknown tag {tag!r}.")
    except ValueError as error:
        raise error if isinstance(error, NotAValue) else NotAValue(f"The message has no value at {tag!r}.") from None


def collected(kind: Kind, items: list[Value]) -> Value:
    """A collection; a dict is given as keys and values in turn. Raises NotAValue if it is nested too deeply."""
    depth = 1 + max((item.depth for item in items), default=0)
    if depth > MAX_DEPTH:
        raise NotAValue(f"The value is nested more than {MAX_DEPTH} deep.")
    if kind == "dict":
        return Value(kind, tuple(zip(items[::2], items[1::2], strict=True)), depth)
    return Value(kind, tuple(items), depth)


def literal(value: Value) -> str:
    """The value as a literal of Python. `moot.reasoning.code.literals.parsed` reads it back."""
    return "".join(_parts(value))


def _parts(value: Value) -> Iterator[str]:
    match value.kind:
        case "none":
            yield "None"
        case "undefined":
            yield "undefined"
        case "int":
            yield hex(value.content) if abs(value.content) >= _LONG_INT else str(value.content)
        case "float":
            yield _float(value.content)
        case "complex":
            yield f"complex({_float(value.content.real)}, {_float(value.content.imag)})"
        case "bool" | "str" | "bytes":
            yield repr(value.content)
        case "list":
            yield from _between("[", value, "]")
        case "tuple":
            yield from _between("(", value, ",)" if len(value.items) == 1 else ")")
        case "set" | "frozenset":
            yield "set(" if value.kind == "set" else "frozenset("
            if value.items:
                yield "{"
                yield ", ".join(sorted(map(literal, value.items)))
                yield "}"
            yield ")"
        case "dict":
            yield "{"
            for number, (key, item) in enumerate(value.pairs):
                yield ", " if number else ""
                yield from _parts(key)
                yield ": "
                yield from _parts(item)
            yield "}"


def _between(begin: str, value: Value, end: str) -> Iterator[str]:
    yield begin
    for number, item in enumerate(value.items):
        yield ", " if number else ""
        yield from _parts(item)
    yield end


def _float(number: float) -> str:
    return repr(number) if math.isfinite(number) else f"float('{number}')"


def same(expected: Value, found: Value) -> bool:
    """Whether a value is the one that is expected, as a test means it: an int exactly (2.0 is 2), a float within
    rounding, a NaN like any other NaN, sets and dicts in any order; True is not 1, a list is no tuple."""
    if expected.kind in ("int", "float", "complex") and found.kind in ("int", "float", "complex"):
        return _same_number(expected.content, found.content)
    if _family(expected.kind) != _family(found.kind):
        return False
    match expected.kind:
        case "list" | "tuple":
            return len(expected.items) == len(found.items) and all(map(same, expected.items, found.items))
        case "set" | "frozenset":
            return _keyed(expected.items) == _keyed(found.items)
        case "dict":
            theirs, its = dict(_entries(expected)), dict(_entries(found))
            return theirs.keys() == its.keys() and all(same(theirs[key], its[key]) for key in theirs)
        case _:
            return expected.content == found.content


def _family(kind: Kind) -> str:
    return "set" if kind == "frozenset" else kind


def _same_number(expected: complex, found: complex) -> bool:
    if isinstance(expected, complex) or isinstance(found, complex):
        return _same_number(expected.real, found.real) and _same_number(expected.imag, found.imag)
    if expected == found or (expected != expected and found != found):
        return True
    if isinstance(expected, int):
        return False
    try:
        return math.isclose(expected, found, rel_tol=RELATIVE, abs_tol=0.0 if expected else ABSOLUTE)
    except OverflowError:
        return False


def _keyed(items: tuple[Value, ...]) -> frozenset[str]:
    return frozenset(map(_key, items))


def _entries(value: Value) -> Iterator[tuple[str, Value]]:
    for key, item in value.pairs:
        yield _key(key), item


def _key(value: Value) -> str:
    """What a value is as a key: 1 and 1.0 are the same there, and so are a set and a frozenset."""
    if value.kind == "float" and math.isfinite(value.content) and value.content == int(value.content):
        return str(int(value.content))
    if value.kind in ("list", "tuple"):
        return f"{value.kind}({','.join(map(_key, value.items))})"
    if value.kind in ("set", "frozenset"):
        return f"set({','.join(sorted(map(_key, value.items)))})"
    if value.kind == "dict":
        return f"dict({','.join(sorted(f'{key}:{_key(item)}' for key, item in _entries(value)))})"
    return literal(value)
