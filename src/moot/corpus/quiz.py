"""Questions whose answer follows from their own words: what simulated models know, and what is scored against.

A simulated model reads the question in its prompt and can work out what is right; a task takes its target from the same
function. The target itself is in no prompt, and to a real model the question means nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from moot.core.types import record

WORDS = ("amber", "birch", "cobalt", "dune", "ember", "fjord", "garnet", "heron")
MOST = 1000  # the largest number that is asked for
_CHOICE = re.compile(r"Simulated question ([\w-]{1,60}): which of these is right, ([^?\n]{3,600})\?")
_NUMBER = re.compile(r"Simulated question ([\w-]{1,60}): which whole number from 1 to (\d{1,9}) is right\?")


@record
class SimulatedQuestion:
    """A question that simulated models know the answer to."""

    name: str
    options: tuple[str, ...] = ()  # empty: a number is asked for
    most: int = MOST  # of a number

    @property
    def text(self) -> str:
        if not self.options:
            return f"Simulated question {self.name}: which whole number from 1 to {self.most} is right?"
        listed = f"{', '.join(self.options[:-1])} or {self.options[-1]}"
        return f"Simulated question {self.name}: which of these is right, {listed}?"

    @property
    def target(self) -> str:
        """What is right."""
        return self._best(0)

    @property
    def mistake(self) -> str:
        """What everyone says who is wrong: a question has one tempting mistake, so that a plurality is a majority."""
        return self._best(1)

    def _best(self, place: int) -> str:
        if self.options:
            return _ordered(self.name, self.options)[place]
        right = int(_hashed(self.name, "number"), 16) % self.most
        return str((right + place * (1 + right % 7)) % self.most + 1)


def truth(question: str, options: Sequence[str] = ()) -> str:
    """The right answer to a simulated question; of any other text, one of the options, always the same. The order of
    the options does not matter. Raises ValueError for a question without options that is no simulated one."""
    known = recognised_question(question)
    if known is not None and (not options or not known.options or set(options) == set(known.options)):
        return known.target
    if not options:
        raise ValueError("A question that is no simulated one needs options.")
    return _ordered(known.name if known else question, options)[0]


def recognised_question(text: str) -> SimulatedQuestion | None:
    """The first simulated question in a text."""
    if (found := _CHOICE.search(text)) is not None:
        options = tuple(re.split(r", | or ", found[2]))
        return SimulatedQuestion(name=found[1], options=options) if len(set(options)) > 1 else None
    if (found := _NUMBER.search(text)) is not None and int(found[2]) > 1:
        return SimulatedQuestion(name=found[1], most=int(found[2]))
    return None


def simulated_questions(count: int, seed: int = 1, options: int = 4) -> Iterator[SimulatedQuestion]:
    """Questions with so many options each, in an order that says nothing about the answer; 0 asks for numbers.
    Raises ValueError for fewer than 2 or more than 8 options."""
    if options != 0 and not 2 <= options <= len(WORDS):
        raise ValueError(f"A simulated question has 2 to {len(WORDS)} options, or none where a number is asked for.")
    for n in range(1, count + 1):
        name = f"{seed}-{n}"
        drawn = sorted(WORDS, key=lambda word: _hashed(f"{name}/order", word))[:options]
        yield SimulatedQuestion(name=name, options=tuple(drawn))


def _ordered(name: str, options: Sequence[str]) -> list[str]:
    return sorted(options, key=lambda option: _hashed(name, option))


def _hashed(name: str, option: str) -> str:
    return hashlib.sha256(f"{name}\0{option}".encode()).hexdigest()
