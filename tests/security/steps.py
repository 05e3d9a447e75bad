"""Python's regular expressions, matched by trying as `re` does, with every character that is looked at counted."""

from __future__ import annotations

import re
import re._constants as constants
import re._parser as parser
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

WIDE = 16  # a repeat of more counts as one of so many, which a text of moderate length exceeds, too
REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
CHARACTERS = (constants.LITERAL, constants.NOT_LITERAL, constants.ANY, constants.IN)
CATEGORIES: dict[Any, Callable[[str], bool]] = {
    constants.CATEGORY_DIGIT: str.isdecimal,
    constants.CATEGORY_SPACE: str.isspace,
    constants.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
}
NEGATED = {
    constants.CATEGORY_NOT_DIGIT: constants.CATEGORY_DIGIT,
    constants.CATEGORY_NOT_SPACE: constants.CATEGORY_SPACE,
    constants.CATEGORY_NOT_WORD: constants.CATEGORY_WORD,
}

Groups = dict[int, tuple[int, int]]
Matcher = Callable[[int, Groups], Iterator[int]]  # from a place in the text: where a match may end, the best first


class TooManySteps(Exception):
    pass


def parsed(pattern: re.Pattern[str]) -> Sequence[Any]:
    return parser.parse(pattern.pattern, pattern.flags)


def bounds(value: Any) -> tuple[int, float, Sequence[Any]]:
    """The least and the most times of a repeat, and what is repeated."""
    least, most, tokens = value
    return min(least, WIDE), float("inf") if most is constants.MAXREPEAT else min(most, WIDE), tokens


def character(op: Any, value: Any, flags: int) -> Callable[[str], bool]:
    """Whether an expression of one character takes this one."""
    if op is constants.ANY:
        return lambda c: c != "\n" or bool(flags & re.DOTALL)
    items = value if op is constants.IN else [(op, value)]
    negated = items[0][0] is constants.NEGATE
    tests = [_item(each, of, flags) for each, of in items if each is not constants.NEGATE]
    return cache(lambda c: any(test(c) for test in tests) != negated)


def _item(op: Any, value: Any, flags: int) -> Callable[[str], bool]:
    if op is constants.CATEGORY:
        category = CATEGORIES[NEGATED.get(value, value)]
        return lambda c: (category(c) and (c.isascii() or not flags & re.ASCII)) != (value in NEGATED)
    if op is constants.NOT_LITERAL:
        return lambda c: not _item(constants.LITERAL, value, flags)(c)
    low, high = (chr(each) for each in (value if op is constants.RANGE else (value, value)))
    return lambda c: any(low <= each <= high for each in ({c, c.lower(), c.upper()} if flags & re.IGNORECASE else c))


class Expression:
    """An expression whose `steps` on its last text are counted. Raises TooManySteps after `most`."""

    def __init__(self, pattern: re.Pattern[str], most: int) -> None:
        self.text, self.steps, self._most = "", 0, most
        self._flags = pattern.flags
        self._match = self._sequence(parsed(pattern))

    def match(self, text: str) -> tuple[int, int] | None:
        self.text, self.steps = text, 0
        return self._from(0)

    def search(self, text: str) -> tuple[int, int] | None:
        self.text, self.steps = text, 0
        return next((found for start in range(len(text) + 1) if (found := self._from(start))), None)

    def _from(self, start: int) -> tuple[int, int] | None:
        self._count()
        end = next(self._match(start, {}), None)
        return None if end is None else (start, end)

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooManySteps

    def _sequence(self, tokens: Sequence[Any]) -> Matcher:
        parts = [self._part(op, value) for op, value in tokens]

        def match(at: int, groups: Groups, of: int = 0) -> Iterator[int]:
            if of == len(parts):
                yield at
            elif of == len(parts) - 1:
                yield from parts[of](at, groups)
            else:
                for end in parts[of](at, groups):
                    yield from match(end, groups, of + 1)

        return match

    def _part(self, op: Any, value: Any) -> Matcher:
        if op in CHARACTERS:
            return self._one(character(op, value, self._flags))
        if op in REPEATS:
            return self._repeat(op, *bounds(value))
        if op is constants.BRANCH:
            return self._either([self._sequence(each) for each in value[1]])
        if op is constants.SUBPATTERN:
            return self._group(value[0], self._sequence(value[-1]))
        if op is constants.ATOMIC_GROUP:
            return self._once(self._sequence(value))
        if op is constants.ASSERT or op is constants.ASSERT_NOT:
            return self._look(*value, wanted=op is constants.ASSERT)
        if op is constants.GROUPREF:
            return self._again(value)
        assert op is constants.AT, op
        return self._at(value)

    def _one(self, takes: Callable[[str], bool]) -> Matcher:
        def match(at: int, groups: Groups) -> Iterator[int]:
            self._count()
            if at < len(self.text) and takes(self.text[at]):
                yield at + 1

        return match

    def _repeat(self, op: Any, least: int, most: float, tokens: Sequence[Any]) -> Matcher:
        if len(tokens) == 1 and tokens[0][0] in CHARACTERS:
            return self._run(op, least, most, character(*tokens[0], self._flags))
        inner = self._sequence(tokens)

        def greedy(at: int, groups: Groups, done: int = 0) -> Iterator[int]:
            if done < most:
                for end in inner(at, groups):
                    if end > at or done < least:
                        yield from greedy(end, groups, done + 1)
            if done >= least:
                yield at

        def lazy(at: int, groups: Groups, done: int = 0) -> Iterator[int]:
            if done >= least:
                yield at
            if done < most:
                for end in inner(at, groups):
                    if end > at or done < least:
                        yield from lazy(end, groups, done + 1)

        if op is constants.POSSESSIVE_REPEAT:
            return self._once(greedy)
        return lazy if op is constants.MIN_REPEAT else greedy

    def _run(self, op: Any, least: int, most: float, takes: Callable[[str], bool]) -> Matcher:
        """A repeat of one character."""

        def match(at: int, groups: Groups) -> Iterator[int]:
            lazy, end = op is constants.MIN_REPEAT, at
            while True:
                if lazy and end - at >= least:
                    yield end
                if end - at >= most:
                    break
                self._count()
                if end == len(self.text) or not takes(self.text[end]):
                    break
                end += 1
            if not lazy and end - at >= least:
                yield from (end,) if op is constants.POSSESSIVE_REPEAT else range(end, at + least - 1, -1)

        return match

    def _either(self, ways: Sequence[Matcher]) -> Matcher:
        def match(at: int, groups: Groups) -> Iterator[int]:
            for way in ways:
                yield from way(at, groups)

        return match

    def _group(self, number: int | None, inner: Matcher) -> Matcher:
        if number is None:
            return inner

        def match(at: int, groups: Groups) -> Iterator[int]:
            before = groups.get(number)
            for end in inner(at, groups):
                groups[number] = (at, end)
                yield end
            groups.pop(number, None)
            if before:
                groups[number] = before

        return match

    def _once(self, inner: Matcher) -> Matcher:
        def match(at: int, groups: Groups) -> Iterator[int]:
            for end in inner(at, groups):
                yield end
                return

        return match

    def _look(self, direction: int, tokens: Any, *, wanted: bool) -> Matcher:
        inner, width = self._sequence(tokens), tokens.getwidth()[0] if direction < 0 else 0

        def match(at: int, groups: Groups) -> Iterator[int]:
            if (at >= width and next(inner(at - width, groups), None) is not None) == wanted:
                yield at

        return match

    def _again(self, number: int) -> Matcher:
        def match(at: int, groups: Groups) -> Iterator[int]:
            start, end = groups.get(number, (0, -1))
            for place in range(start, end):
                self._count()
                if self.text[at + place - start : at + place - start + 1] != self.text[place]:
                    return
            if end >= start:
                yield at + end - start

        return match

    def _at(self, where: Any) -> Matcher:
        holds: Callable[[int], bool] = {
            constants.AT_BEGINNING_STRING: lambda at: at == 0,
            constants.AT_BEGINNING: lambda at: at == 0 or (bool(self._flags & re.M) and self.text[at - 1] == "\n"),
            constants.AT_END_STRING: lambda at: at == len(self.text),
            constants.AT_END: lambda at: (
                at == len(self.text)
                or (self.text[at] == "\n" and (bool(self._flags & re.M) or at + 1 == len(self.text)))
            ),
            constants.AT_BOUNDARY: lambda at: self._word(at - 1) != self._word(at),
            constants.AT_NON_BOUNDARY: lambda at: self._word(at - 1) == self._word(at),
        }[where]

        def match(at: int, groups: Groups) -> Iterator[int]:
            if holds(at):
                yield at

        return match

    def _word(self, at: int) -> bool:
        return 0 <= at < len(self.text) and (self.text[at].isalnum() or self.text[at] == "_")
