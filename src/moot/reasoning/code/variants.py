"""Further calls from known ones: other arguments of the same types. What they should lead to is not known, but versions
that do different things on them are different."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, cast

from moot.reasoning.code.cases import MAX_CALL_CHARS
from moot.reasoning.code.evidence import Calls

MOST_CHARS = min(400, MAX_CALL_CHARS)


def variants(calls: Sequence[Calls], most: int) -> tuple[Calls, ...]:
    """So many variants of Python calls with plain arguments, at most, some of each call; none of what can't be read."""
    found = dict[Calls, None]()
    for wave in zip_longest(*(_of(call) for call in calls)):
        found |= dict.fromkeys(each for each in wave if each is not None and each not in calls)
        if len(found) >= most:
            break
    return tuple(found)[:most]


def _of(call: Calls) -> Iterator[Calls]:
    read = _read(call[0]) if len(call) == 1 else None
    if read is None:
        return
    name, arguments = read
    changed = [list(_changed(each)) for each in arguments]
    for wave in zip_longest(*changed, fillvalue=None):
        for at, each in enumerate(wave):
            if each is None:
                continue
            told = ", ".join(repr(each[0] if n == at else argument) for n, argument in enumerate(arguments))
            line = f"{name}({told})"
            if len(line) <= MOST_CHARS and "\n" not in line:
                yield (line,)


def _read(line: str) -> tuple[str, list[Any]] | None:
    """The name and the arguments of a call with literals alone."""
    try:
        call = ast.parse(line, mode="eval").body
        if not isinstance(call, ast.Call) or call.keywords:
            return None
        return ast.unparse(call.func), [ast.literal_eval(each) for each in call.args]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def _changed(value: Any) -> Iterator[tuple[Any]]:
    """Values of the same type, in a tuple each: None may be one."""
    match value:
        case bool():
            yield (not value,)
        case int():
            yield from ((value + 1,), (value * 2,), (max(0, value - 1),), (0,))
        case float():
            yield from ((value + 0.5,), (value * 2,), (0.0,))
        case str():
            yield from ((value[::-1],), (value[: len(value) // 2],), (value * 2,), (value.swapcase(),), ("",))
        case list() | tuple():
            made, items = type(cast("list[Any]", value)), list(cast("Sequence[Any]", value))
            first = [[*each, *items[1:]] for each in _changed(items[0])] if items else []
            for each in (items[::-1], items[:-1], items * 2, items[1:], *first, []):
                yield (made(each),)
        case dict():
            pairs = list(cast("dict[Any, Any]", value).items())
            yield from ((dict(pairs[:-1]),), (dict(pairs[1:]),), ({},))
        case _:
            return
