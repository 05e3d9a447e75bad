"""Finds the examples that a task states itself: calls at a prompt with their results, and lines of assertions."""

from __future__ import annotations

import doctest
import re

from moot.reasoning.code.cases import MAX_CALL_CHARS, MAX_STEPS, Case
from moot.reasoning.code.evidence import by_call
from moot.reasoning.code.literals import is_literal
from moot.reasoning.code.stated import stated_in
from moot.reasoning.code.written import apart, case_of, expectation

_PARSER = doctest.DocTestParser()
_QUOTES = re.compile(r"^[ \t]*(?:\"{3}|'{3})[ \t]*$", re.MULTILINE)  # the end of a docstring: no part of a result
_PROMPT = re.compile(r"^\s*>>>\s*")
_ASSERTION = re.compile(r"^\s*(?:assert\s+.+|`?[A-Za-z_][\w.]*\(.*\)`?\s*===?\s*[^=>].*)$")
# What may stand between a call and its result, if the call has literals alone: `f(x) -> int` states a type.
_STATED = re.compile(
    r"^\s*`?(?P<call>[A-Za-z_][\w.]*\((?P<arguments>.*)\))`?\s*+"
    r"(?:[-=]++>|[➞→⇒]|,?\s*+(?:\#\s*+)?(?:=>\s*+)?(?:(?:should|must|will)\s++)?(?:returns?|gives?|be|equals?)\b:?)\s*+(?P<result>.+)$"
)
_KEYWORD = re.compile(r"^[A-Za-z_]\w*\s*=(?!=)\s*")
_ERROR = re.compile(r"^\s*(?:[\w.]+\.)?(\w+(?:Error|Exception|Iteration|Interrupt|Exit))\b")
_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_CALLED = re.compile(r"[A-Za-z_]\w*")


def examples_in(task: str) -> tuple[Case, ...]:
    """The examples of a task as cases: `>>> add(1, 2)` with its result below, `assert add(1, 2) == 3`,
    `add(1, 2) -> 3` on a line of its own, or in the midst of words. What can't be read for certain is left out, and so
    is a call to something else than what the task defines."""
    task = _QUOTES.sub("", task)
    defined = frozenset(_DEFINED.findall(task))
    lines = [_in_line(line) for line in task.splitlines()]
    found = by_call([*_at_prompts(task), *(case for case in lines if case is not None), *stated_in(task)]).values()
    return tuple(case for case in found if not defined or defined & set(_CALLED.findall(" ".join(case.call))))


def _in_line(line: str) -> Case | None:
    text = _PROMPT.sub("", line)
    if _ASSERTION.match(text):
        return case_of(text)
    stated = _STATED.match(text)
    if stated is None or not all(
        is_literal(_KEYWORD.sub("", each.strip())) for each in apart(stated["arguments"], ",")
    ):
        return None
    return case_of(f"{stated['call']} == {stated['result']}")


def _at_prompts(task: str) -> list[Case]:
    try:
        found = _PARSER.get_examples(task)
    except ValueError:  # inconsistent indentation
        return []
    sources = [" ".join(example.source.split("\n")).strip() for example in found]
    has_state = len(set(sources)) < len(sources)  # why else would the same be called twice
    cases: list[Case] = []
    before: list[str] = []  # what the ones below build on
    for example, source in zip(found, sources, strict=True):
        if len(before) >= MAX_STEPS or len(source) > MAX_CALL_CHARS:
            break
        raised = _ERROR.match(example.exc_msg or "")
        expected, _ = ("", "") if raised or not example.want else expectation(example.want)
        printed = source.startswith("print(")  # what is shown is no value
        if "(" in source and (raised or expected) and not printed:
            cases.append(Case(call=(*before, source), expected=expected, raises=raised[1] if raised else ""))
        if not raised and (before or has_state or not example.want):
            before.append(source)
    return cases
