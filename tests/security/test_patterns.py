"""Every regular expression of moot takes time in proportion to the text, whatever the text.

Texts are made from each expression itself: one that matches it, with a run of one character put in somewhere, and an
end that it does not expect. A linear expression takes microseconds for them; one that tries every way to divide the run
among its parts, milliseconds to minutes.
"""

from __future__ import annotations

import ast
import importlib
import random
import re
import re._constants as constants
import re._parser as parser
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import moot

FEW, RUN, LONGER = (18, 200), 3_000, 4  # characters in a row
MEASURABLE, GROWTH, ROUNDS = 0.01, 9.0, 3  # seconds of the processor; four times the text: linear is 4, quadratic 16
SAMPLES, MOST_SAMPLES, MOST_PLACES = 3, 25, 24
ELSEWHERE = {"moot.inspect_entry", "moot.library.inspect_model"}  # import a package that is no dependency
ANCHORED = {"match", "fullmatch"}
WAYS = {*ANCHORED, "search", "findall", "finditer", "sub", "subn", "split"}


class Found(NamedTuple):
    where: str
    pattern: re.Pattern[str]
    anchored: bool  # it is only tried at the beginning of a text


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
    """Writes texts that an expression matches, or nearly: what it looks ahead for is left out."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def text(self, tokens: Iterable[Any], groups: dict[int, str]) -> str:
        return "".join(self._one(op, value, groups) for op, value in tokens)

    def _one(self, op: Any, value: Any, groups: dict[int, str]) -> str:
        if op is constants.LITERAL:
            return chr(value)
        if op is constants.NOT_LITERAL:
            return "a" if value != ord("a") else "b"
        if op is constants.ANY:
            return "a"
        if op is constants.IN:
            return self._of_set(value)
        if op is constants.BRANCH:
            return self.text(self._rng.choice(value[1]), groups)
        if op is constants.SUBPATTERN:
            groups[value[0]] = self.text(value[-1], groups)
            return groups[value[0]]
        if op is constants.ATOMIC_GROUP:
            return self.text(value, groups)
        if op is constants.GROUPREF:
            return groups.get(value, "")
        if op in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            least, most, tokens = value
            return "".join(
                self.text(tokens, groups) for _ in range(min(int(most), max(least, 1 + self._rng.randrange(2))))
            )
        return ""

    def _of_set(self, items: Any) -> str:
        if items[0][0] is constants.NEGATE:
            return "a"
        op, value = self._rng.choice(items)
        if op is constants.RANGE:
            return chr(value[0])
        if op is constants.CATEGORY:
            return {constants.CATEGORY_SPACE: " ", constants.CATEGORY_DIGIT: "1"}.get(value, "a")
        return chr(value)


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """What comes before a run, its character, and what comes after it."""
    rng = random.Random(repr(pattern))
    tokens = parser.parse(pattern.pattern, pattern.flags)
    branches = pattern.pattern.count("|")
    samples = dict.fromkeys(Writer(rng).text(tokens, {}) for _ in range(min(MOST_SAMPLES, SAMPLES + 2 * branches)))
    for sample in samples:
        places = range(len(sample) + 1)
        for at in places if len(places) <= MOST_PLACES else sorted(rng.sample(places, MOST_PLACES)):
            for character in dict.fromkeys((" ", *sample[max(0, at - 1) : at + 1], "a", "1", "\n")):
                yield sample[:at], character, "\0"
    for sample in samples:  # and the whole of it again and again, or line by line
        yield "", sample or "a", "\0"
        yield "", f"{sample}\n", "\0"


def seconds(use: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    use(text)
    return time.thread_time() - began


def grows(use: Callable[[str], object], before: str, piece: str, after: str) -> bool:
    """Whether four times the text takes more than in proportion. The least of several tries counts: other work on the
    machine slows down some of them, not all."""

    def of(run: int) -> float:
        return seconds(use, before + (piece * (run // len(piece) + 1))[:run] + after)

    if any(min(of(run) for _ in range(ROUNDS)) > MEASURABLE for run in FEW):  # so few: no need to try more
        return True
    if of(RUN) < MEASURABLE:
        return False
    longer = min(of(RUN) for _ in range(ROUNDS))
    return longer > MEASURABLE and longer > GROWTH * min(of(RUN // LONGER) for _ in range(ROUNDS))


@pytest.mark.slow
def test_every_expression_takes_time_in_proportion_to_the_text():
    every = found()
    assert len(every) > 150
    slow = [
        (each.where, before[-60:], piece[:20])
        for each in every
        for before, piece, after in attacks(each.pattern)
        if grows(each.pattern.match if each.anchored else each.pattern.search, before, piece, after)
    ]
    assert slow == []


@pytest.mark.parametrize("pattern", [r"suggest (\d+\s*-?\s*\d*\s+)?now", r"(a+)+$", r"x\s+\s+y"])
def test_an_expression_that_does_not_is_found(pattern: str):
    compiled = re.compile(pattern, re.DOTALL | re.MULTILINE)
    assert any(grows(compiled.search, *attack) for attack in attacks(compiled))
