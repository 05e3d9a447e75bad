"""Reasoning problems made by code: seeded, so that they can be made again, and new, so that no model has learnt them.

The package reasoning-gym would have many more kinds; it brings sympy, a SAT solver and nine other packages."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from moot.corpus import repository_tasks, tasks
from moot.corpus.quiz import simulated_questions
from moot.reasoning.code.written import written_case

Made = tuple[str, int]
_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jo")
_THINGS = ("apples", "stamps", "marbles", "coins", "books", "shells")
_WORDS = ("strawberry", "assessment", "committee", "balloon", "tennessee", "bookkeeper", "mississippi", "parallel")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _expression(rng: Random) -> Made:
    a, b, c, d = (rng.randint(2, 19) for _ in range(4))
    return f"What is ({a} + {b}) * {c} - {d}?", (a + b) * c - d


def _shares(rng: Random) -> Made:
    one, two, three = rng.sample(_NAMES, 3)
    thing, start, given, factor = rng.choice(_THINGS), rng.randint(3, 20), rng.randint(2, 9), rng.randint(2, 4)
    text = (
        f"{one} has {start} {thing}. {two} has {factor} times as many as {one}. {two} gives {given} {thing} to "
        f"{three}. How many {thing} do {one} and {two} have together now?"
    )
    return text, start + start * factor - given


def _letters(rng: Random) -> Made:
    word = rng.choice(_WORDS)
    letter = rng.choice(sorted(set(word)))
    return f'How often does the letter "{letter}" occur in the word "{word}"?', word.count(letter)


def _sequence(rng: Random) -> Made:
    first, step, growth = rng.randint(1, 9), rng.randint(2, 7), rng.randint(1, 3)
    numbers, gap = [first], step
    for _ in range(5):
        numbers.append(numbers[-1] + gap)
        gap += growth
    shown = ", ".join(str(each) for each in numbers[:5])
    return f"What is the next number of this sequence: {shown}?", numbers[5]


def _divisible(rng: Random) -> Made:
    most, one, two = rng.randint(30, 99), rng.randint(2, 5), rng.randint(6, 9)
    count = sum(n % one == 0 and n % two != 0 for n in range(1, most + 1))
    return f"How many whole numbers from 1 to {most} are divisible by {one} but not by {two}?", count


def _days(rng: Random) -> Made:
    day, later = rng.randrange(7), rng.randint(15, 99)
    text = (
        f"Today is {_DAYS[day]}. Days of the week are numbered from 1 (Monday) to 7 (Sunday). "
        f"Which number has the day that comes {later} days from today?"
    )
    return text, (day + later) % 7 + 1


def _queue(rng: Random) -> Made:
    people = rng.sample(_NAMES, 5)
    order = sorted(people, key=lambda _: rng.random())
    asked = rng.choice(order[1:-1])
    clues = [f"{order[n]} stands directly before {order[n + 1]}" for n in range(4)]
    rng.shuffle(clues)
    text = f"Five people stand in a queue. {'. '.join(clues)}. In which place, counted from the front, stands {asked}?"
    return text, order.index(asked) + 1


def _modulo(rng: Random) -> Made:
    a, b, m = rng.randint(12, 99), rng.randint(12, 99), rng.randint(5, 13)
    return f"What is the remainder when {a} * {b} is divided by {m}?", a * b % m


_MAKERS: tuple[tuple[str, Callable[[Random], Made]], ...] = (
    ("expression", _expression),
    ("shares", _shares),
    ("letters", _letters),
    ("sequence", _sequence),
    ("divisible", _divisible),
    ("days", _days),
    ("queue", _queue),
    ("remainder", _modulo),
)


def reasoning_items(seed: int, count: int) -> list[dict[str, Any]]:
    """Problems with whole numbers as answers, in turn from each kind, none twice."""
    made: list[dict[str, Any]] = []
    asked = set[str]()
    for n in range(count):
        kind, make = _MAKERS[n % len(_MAKERS)]
        attempt = 0
        question, target = make(Random(f"{seed}/{n}/0"))
        while question in asked and attempt < 100:
            attempt += 1
            question, target = make(Random(f"{seed}/{n}/{attempt}"))
        asked.add(question)
        made.append({"id": f"{kind}-{n + 1}", "question": question, "target": str(target)})
    return made


def sim_choice_items(seed: int, count: int) -> list[dict[str, Any]]:
    """Questions that simulated models answer with the skill they are set to; to any other model they mean nothing."""
    return [
        {"id": f"sim-{each.name}", "question": each.text, "options": each.options, "target": each.target}
        for each in simulated_questions(count, seed)
    ]


def sim_code_items(seed: int, limit: int) -> list[dict[str, Any]]:
    """Small programming tasks that simulated models know, with cases that no prompt shows."""
    chosen = Random(seed).sample(tasks(), min(limit, len(tasks())))
    return [
        {"id": each.id, "question": each.text, "tests": "\n".join(map(written_case, each.hidden))} for each in chosen
    ]


def swe_mini_items(seed: int, limit: int) -> list[dict[str, Any]]:
    """Small repositories with an issue each, and tests that no prompt shows."""
    known = repository_tasks()
    chosen = Random(seed).sample(known, min(limit, len(known)))
    return [{"id": each.id, "question": each.issue, "files": each.files, "tests": each.tests} for each in chosen]
