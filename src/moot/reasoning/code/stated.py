"""Finds examples that a task states in the midst of its words: `For example, add(1, 2) should return 3`, and inputs by
their names: `Input: a = 1, b = 2` with its output below, or `For a = 1, b = 2 the result should be 3`.

Only for a function that the task defines (`def add(a, b):`) or asks for (`Write a function add(a, b)`). Each is read
from its place on, over a length that is limited, so the time grows with the length of the task."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from moot.reasoning.code.cases import Case
from moot.reasoning.code.literals import is_literal
from moot.reasoning.code.written import apart, places

_FUNCTION = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*(?=\()", re.MULTILINE)
_ASKED_FOR = re.compile(
    r"\b(?:write|implement|create|define|function|named|called)[ \t]+`?([A-Za-z_]\w*)[ \t]*(?=\()", re.IGNORECASE
)
_LEADS_TO = re.compile(
    r"`?(?:[ \t]*(?:\#[ \t]*)?(?:[-=]+>|===?|[➞→⇒])"
    r"|,?\s+(?:(?:should|must|will)\s+)?(?:returns?|gives?|be|equals?)\b:?)\s*"
)
_EQUALS = re.compile(r"[ \t]*=(?![=>])[ \t]*")
_BEFORE = re.compile(r"(?:\A|\n)[ \t]*(?:[-*•][ \t]+|\d+[.)][ \t]+)?\Z")
_MOST_BEFORE = 40  # characters of a line, before what it states
_MOST_CHARS = 600  # of a call or a value
_MOST_PLACES = 300  # that may begin an example
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w/])|(?:True|False|None|true|false)\b")
_GOES_ON = re.compile(
    r"(?!\"{3}|'{3})[\w\"'(\[]|[ \t]*(?:[-+*/%<>=&|^@\[]|\.\d"
    r"|(?:and|or|if|in|is|not)[ \t]+(?:[\[({\"'\d]|True|False|None))"
)
_INPUT = re.compile(r"\bInput[ \t]*:\s*", re.IGNORECASE)
_OUTPUT = re.compile(r"\bOutput[ \t]*:\s*", re.IGNORECASE)
_FOR = re.compile(r"\bFor\s+(?=[A-Za-z_]\w*\s*=)", re.IGNORECASE)
_RESULT = re.compile(r"\bthe\s+(?:output|result|answer)\s+(?:(?:should|must|will)\s+be|is)\s+", re.IGNORECASE)
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*[=:]\s*")
_NEXT = re.compile(r"\s*(?:,|;|\band\b)?\s*")


@dataclass(frozen=True, kw_only=True)
class _Function:
    name: str
    parameters: tuple[str, ...]


def stated_in(task: str) -> list[Case]:
    """The examples about the last function that a task defines, or the first one that it asks for by name."""
    function = _defined(task)
    if function is None:
        return []
    return [
        *_calls(task, function.name),
        *_inputs(task, function, _INPUT, _OUTPUT),
        *_inputs(task, function, _FOR, _RESULT),
    ]


def _defined(task: str) -> _Function | None:
    last = max(_FUNCTION.finditer(task), key=lambda found: found.start(), default=None)
    if last is not None:
        return _function(task, last)
    asked = (_function(task, found) for found in islice(_ASKED_FOR.finditer(task), _MOST_PLACES))
    return next((each for each in asked if each is not None), None)


def _function(task: str, found: re.Match[str]) -> _Function | None:
    """The function whose name was found; None if what stands behind it are no parameters."""
    end = _closed(task, found.end())
    try:
        tree = None if end is None else ast.parse(f"def f{task[found.end() : end]}: pass").body[0]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(tree, ast.FunctionDef) or tree.args.vararg or tree.args.kwonlyargs:
        return None
    return _Function(name=found[1], parameters=tuple(each.arg for each in (*tree.args.posonlyargs, *tree.args.args)))


def _calls(task: str, name: str) -> list[Case]:
    stated, equal = list[Case](), list[Case]()
    defined = False  # as in mathematics: f(n) = f(n - 1) + 1
    for found in islice(re.finditer(rf"(?<![\w.]){name}(?=\()", task), _MOST_PLACES):
        end = _closed(task, found.end())
        if end is None:
            continue
        equals = _EQUALS.match(task, end)
        if not all(is_literal(each.strip()) for each in apart(task[found.end() + 1 : end - 1], ",")):
            defined = defined or equals is not None
            continue
        leads = equals or _LEADS_TO.match(task, end)
        result = None if leads is None else _literal(task, leads.end())
        if leads is None or result is None:
            continue
        case = Case(call=(task[found.start() : end],), expected=result)
        if equals is None:
            stated.append(case)
        elif _begins_line(task, found.start()) and _ends_line(task, leads.end() + len(result)):
            equal.append(case)
    return stated if defined else [*stated, *equal]


def _inputs(task: str, function: _Function, begins: re.Pattern[str], leads: re.Pattern[str]) -> Iterator[Case]:
    for found in islice(begins.finditer(task), _MOST_PLACES):
        given = _arguments(task, found.end(), function)
        output = None if given is None else leads.match(task, _skipped(task, given[1]))
        result = None if output is None else _literal(task, output.end())
        if given is not None and result:
            yield Case(call=(f"{function.name}({', '.join(given[0])})",), expected=result)


def _arguments(task: str, at: int, function: _Function) -> tuple[list[str], int] | None:
    """The arguments of a call that stand at a place, in the order of the parameters, and where they end."""
    count = len(function.parameters)
    only = _literal(task, at) if count == 1 else None
    if only:
        return [only], at + len(only)
    named: dict[str, str] = {}
    while len(named) < count and (name := _NAMED.match(task, at)):
        value = _literal(task, name.end(), alone=False)
        if value is None or name[1] in named:
            return None
        named[name[1]] = value
        at = _skipped(task, name.end() + len(value))
    if not named or len(named) != count:
        return None
    order = function.parameters if set(named) == set(function.parameters) else tuple(named)
    return [named[each] for each in order], at


def _skipped(task: str, at: int) -> int:
    """The place after what stands between two inputs."""
    between = _NEXT.match(task, at)
    return at if between is None else between.end()


def _literal(task: str, at: int, *, alone: bool = True) -> str | None:
    """The literal that begins at a place. `alone`: and is no part of a longer expression."""
    if task[at : at + 1] in ("[", "(", "{"):
        end = _closed(task, at)
    elif task[at : at + 1] in ("'", '"'):
        end = _unquoted(task, at)
    else:
        plain = _PLAIN.match(task, at)
        end = None if plain is None else plain.end()
    if end is None or (alone and _GOES_ON.match(task, end)):
        return None
    return task[at:end] if is_literal(task[at:end]) else None


def _closed(task: str, at: int) -> int | None:
    """Where the bracket that opens at a place is closed."""
    part = task[at : at + _MOST_CHARS]
    return next((at + place + 1 for place, depth, _ in places(part) if depth == 0 and place < len(part)), None)


def _unquoted(task: str, at: int) -> int | None:
    part = task[at : at + _MOST_CHARS]
    return next((at + place for place, _, quoted in places(part) if place and not quoted), None)


def _begins_line(task: str, at: int) -> bool:
    return _BEFORE.search(task[max(0, at - _MOST_BEFORE) : at]) is not None


def _ends_line(task: str, at: int) -> bool:
    return not task[at : at + _MOST_CHARS].partition("\n")[0].strip(" \t.,;`")
