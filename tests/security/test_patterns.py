"""Every regular expression of moot takes steps in proportion to the text, whatever the text.

One whose repeats all have a bound does. For any other, texts are made from its structure: one that it matches, with a
run of what a repeat takes where that repeat stands, and an end that it does not expect. They are matched by
`steps.Expression`, which tries as `re` does and counts: for twice the text a linear expression takes twice as many more
steps, a quadratic one four times as many.
"""

from __future__ import annotations

import ast
import importlib
import random
import re
import re._constants as constants
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import moot
from tests.security.steps import CHARACTERS, REPEATS, WIDE, Expression, TooManySteps, bounds, character, parsed

RUN = 2 * WIDE  # characters in a row, then twice and four times as many
LEAST = 3  # times that even a long piece is in it
MOST_STEPS, GROWTH = 100_000, 2.5
SAMPLES, EACH, BODIES = 40, 6, 3  # texts, of which so many are used for each repeat, and what a group repeats
OTHERS = " \n\taA1_é中\0"  # characters that most expressions tell apart
ELSEWHERE = {"moot.inspect_entry", "moot.library.inspect_model"}  # import a package that is no dependency
ANCHORED = {"match", "fullmatch"}
WAYS = {*ANCHORED, "search", "findall", "finditer", "sub", "subn", "split"}


class Found(NamedTuple):
    where: str
    pattern: re.Pattern[str]
    anchored: bool  # it is only tried at the beginning of a text


@cache
def found() -> list[Found]:
    """Every expression: those that stand in a module, and those that are written where they are used."""
    every: dict[re.Pattern[str], Found] = {}
    trees = {path: ast.parse(path.read_text()) for path in sorted(Path(moot.__file__).parent.rglob("*.py"))}
    uses = {path: _uses(tree) for path, tree in trees.items()}
    for path, tree in trees.items():
        module = ".".join(path.relative_to(Path(moot.__file__).parents[1]).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        for node in ast.walk(tree):
            if _is_of_re(node) and node.func.attr in WAYS and isinstance(node.args[0], ast.Constant):
                flags = [each for each in (*node.args[1:], *(each.value for each in node.keywords)) if _is_flag(each)]
                pattern = re.compile(node.args[0].value, eval(ast.unparse(flags[0]), {"re": re}) if flags else 0)
                if isinstance(pattern.pattern, str):
                    _add(every, f"{module}:{node.lineno}", pattern, node.func.attr in ANCHORED)
        if path.name != "__main__.py" and module not in ELSEWHERE:
            for name, value in vars(importlib.import_module(module)).items():
                ways = uses[path].get(name, set()) if name.startswith("_") else _everywhere(uses, name)
                for pattern in _inside(value):
                    _add(every, f"{module}.{name}", pattern, bool(ways) and ways <= ANCHORED)
    return [*every.values()]


def _add(every: dict[re.Pattern[str], Found], where: str, pattern: re.Pattern[str], anchored: bool) -> None:
    known = every.get(pattern)
    if known is None or known.anchored:  # one that is used in several ways is tried as the worst of them
        every[pattern] = Found(where, pattern, anchored)


def _is_of_re(node: Any) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "re"


def _is_flag(node: ast.AST) -> bool:
    return ast.unparse(node).startswith("re.") and not isinstance(node, ast.Call)


def _uses(tree: ast.AST) -> dict[str, set[str]]:
    """By the name of a variable: with which methods of an expression it is used."""
    ways: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in WAYS and isinstance(node.value, ast.Name):
            ways.setdefault(node.value.id, set()).add(node.attr)
    return ways


def _everywhere(uses: Mapping[Path, Mapping[str, set[str]]], name: str) -> set[str]:
    return {way for each in uses.values() for way in each.get(name, ())}


def _inside(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth < 3 and isinstance(value, Mapping):
        for each in value.values():
            yield from _inside(each, depth + 1)
    elif depth < 3 and isinstance(value, list | tuple | frozenset | set):
        for each in value:
            yield from _inside(each, depth + 1)


class Writer:
    """Writes texts that an expression matches, or nearly: what it looks ahead for is left out. Notes where in the text
    each repeat without an end stands."""

    def __init__(self, rng: random.Random, flags: int) -> None:
        self._rng, self._flags = rng, flags
        self.repeats: list[tuple[int, Sequence[Any]]] = []

    def text(self, tokens: Iterable[Any], at: int = 0, groups: dict[int, str] | None = None) -> str:
        groups, text = {} if groups is None else groups, ""
        for op, value in tokens:
            text += self._one(op, value, at + len(text), groups)
        return text

    def _one(self, op: Any, value: Any, at: int, groups: dict[int, str]) -> str:
        if op in CHARACTERS:
            return self._character(op, value)
        if op is constants.BRANCH:
            return self.text(self._rng.choice(value[1]), at, groups)
        if op is constants.SUBPATTERN:
            groups[value[0]] = self.text(value[-1], at, groups)
            return groups[value[0]]
        if op is constants.ATOMIC_GROUP:
            return self.text(value, at, groups)
        if op is constants.GROUPREF:
            return groups.get(value, "")
        if op in (constants.ASSERT, constants.ASSERT_NOT):
            self.text(value[1], at, groups)
        if op in REPEATS:
            least, most, tokens = bounds(value)
            if most == float("inf"):
                self.repeats.append((at, tokens))
            text = ""
            for _ in range(min(most, max(least, 1 + self._rng.randrange(2)))):
                text += self.text(tokens, at + len(text), groups)
            return text
        return ""

    def _character(self, op: Any, value: Any) -> str:
        if op is constants.IN and value[0][0] is not constants.NEGATE:
            op, value = self._rng.choice(value)
        if op is constants.LITERAL:
            return chr(value)
        if op is constants.RANGE:
            return chr(value[0])
        takes = character(constants.IN, [(op, value)], self._flags) if op is constants.CATEGORY else None
        takes = takes or character(op, value, self._flags)
        return next((each for each in "a 1-.é" if takes(each)), "a")


def inside(tokens: Any) -> Iterator[tuple[Any, Any]]:
    """All parts of an expression that stand for one character."""
    for op, value in tokens:
        if op in CHARACTERS:
            yield op, value
        elif op is constants.BRANCH:
            for way in value[1]:
                yield from inside(way)
        elif op is constants.ATOMIC_GROUP:
            yield from inside(value)
        elif op in REPEATS or op in (constants.SUBPATTERN, constants.ASSERT, constants.ASSERT_NOT):
            yield from inside(value[-1])


def alphabet(tokens: Any, flags: int) -> str:
    """A character of each kind that the expression tells apart."""
    parts = [*inside(tokens)]
    items = [item for op, value in parts for item in (value if op is constants.IN else [(op, value)])]
    literals = [chr(value) for op, value in items if op in (constants.LITERAL, constants.NOT_LITERAL)]
    ends = [chr(end) for op, value in items if op is constants.RANGE for end in value]
    tests = [character(op, value, flags) for op, value in parts]
    kinds: dict[tuple[bool, ...], str] = {}
    for each in (*literals, *ends, *OTHERS):
        kinds.setdefault(tuple(test(each) for test in tests), each)
    return "".join(kinds.values())


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """What comes before a run, what is repeated in it, and what comes after it."""
    rng, tokens = random.Random(repr(pattern)), parsed(pattern)
    kinds = alphabet(tokens, pattern.flags)
    made: dict[tuple[str, str, str], None] = {}
    used: Counter[int] = Counter()
    for _ in range(SAMPLES):
        writer = Writer(rng, pattern.flags)
        sample = writer.text(tokens)
        repeats = [(at, body) for at, body in writer.repeats if used[id(body)] < EACH]
        used.update(id(body) for _, body in repeats)
        for at, body in repeats:
            if len(body) == 1 and body[0][0] in CHARACTERS:
                takes = character(*body[0], pattern.flags)
                pieces = [each for each in kinds if takes(each)]
            else:
                pieces = [Writer(rng, pattern.flags).text(body) for _ in range(BODIES)]
            made |= {(sample[:at], piece, "\0"): None for piece in pieces if piece}
        if repeats:  # and the whole of it again and again, or line by line
            made |= {("", sample or "a", "\0"): None, ("", f"{sample}\n", "\0"): None}
    yield from made


def growing(pattern: re.Pattern[str], *, anchored: bool = False) -> tuple[str, str, str] | None:
    """An attack under which a longer text takes more than in proportion."""
    expression = Expression(pattern, MOST_STEPS)

    def steps(before: str, piece: str, times: int, after: str) -> int:
        (expression.match if anchored else expression.search)(before + piece * times + after)
        return expression.steps

    for before, piece, after in attacks(pattern):
        times = max(LEAST, RUN // len(piece))
        try:
            one, two, four = (steps(before, piece, many * times, after) for many in (1, 2, 4))
        except TooManySteps:
            return before, piece, after
        if four - two > max(2 * RUN, GROWTH * (two - one)):
            return before, piece, after
    return None


@pytest.mark.slow
def test_no_expression_takes_more_than_in_proportion_to_the_text():
    every = found()
    assert len(every) > 150
    slow = [(each.where, attack) for each in every if (attack := growing(each.pattern, anchored=each.anchored))]
    assert slow == []


@pytest.mark.parametrize(
    "pattern", [r"suggest (\d+\s*-?\s*\d*\s+)?now", r"(a+)+$", r"x\s+\s+y", r"\[.*\].*\[", r"(?=a*b)a*c", r"\w+@"]
)
def test_an_expression_that_does_is_found(pattern: str):
    compiled = re.compile(pattern, re.DOTALL | re.MULTILINE)
    assert growing(compiled)


@pytest.mark.slow
def test_steps_are_counted_on_the_way_that_re_goes():
    """Else their number would say nothing about `re`."""
    for each in found():
        if any(int(bound) > WIDE for bound in re.findall(r"\d+(?=[,}])", each.pattern.pattern)):
            continue
        expression = Expression(each.pattern, MOST_STEPS)
        for before, piece, after in attacks(each.pattern):
            text = before + piece * 3 + after
            matched = each.pattern.search(text)
            assert expression.search(text) == (matched.span() if matched else None), each
