"""Tasks as they are stored, and as they are put to a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from moot.reasoning.code.cases import Case

FOLDER = Path(__file__).parent
Difficulty = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A solution with one small mistake, which at least one hidden case notices."""

    code: str
    fails: tuple[int, ...]  # the probes that notice it, counted from 0


@dataclass(frozen=True, kw_only=True)
class CodingTask:
    """One task. `hidden` cases are for scoring alone; `probes` are what a simulated tester may come up with."""

    id: str
    domain: str
    title: str
    difficulty: Difficulty
    entry: str  # the function or class
    signature: str
    spec: str
    solution: str
    given: tuple[Case, ...]
    hidden: tuple[Case, ...]
    probes: tuple[Case, ...]
    mutants: tuple[Mutant, ...]

    @property
    def text(self) -> str:
        """The task as it is put to a model: what to write, the specification, and the given cases as examples."""
        kind = "class" if self.solution.startswith("class ") else "function"
        examples = "\n\n".join(map(_at_prompt, self.given))
        return f"Write a Python {kind} {self.signature}.\n\n{self.spec}\n\n{examples}"

    @cached_property
    def calls(self) -> Mapping[str, Case]:
        """All cases by their call, written on one line."""
        return {"; ".join(case.call): case for case in (*self.given, *self.probes, *self.hidden)}

    def case_of(self, call: str) -> Case | None:
        """The case of a call as a prompt shows it: on one line, maybe with its white space collapsed."""
        return self.calls.get(call) or self._collapsed.get(" ".join(call.split()))

    @cached_property
    def _collapsed(self) -> Mapping[str, Case]:
        return {" ".join(call.split()): case for call, case in self.calls.items()}

    @cached_property
    def brief(self) -> str:
        return " ".join(self.spec.split())


@cache
def tasks() -> tuple[CodingTask, ...]:
    """All tasks, by domain and then as they are stored."""
    return tuple(each for path in sorted(FOLDER.glob("*.json")) for each in _read(path))


def recognised(text: str) -> CodingTask | None:
    """The task whose specification stands in a text, however its lines are broken; of several, the first."""
    line = " ".join(text.split())
    found = [(at, each) for each in tasks() if (at := line.find(each.brief)) >= 0]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _read(path: Path) -> list[CodingTask]:
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return [_task(stored["domain"], each) for each in stored["tasks"]]


def _task(domain: str, stored: dict[str, Any]) -> CodingTask:
    lines: list[str] = stored.pop("solution")
    listed = {name: tuple(map(_case, stored.pop(name))) for name in ("given", "hidden", "probes")}
    mutants = tuple(_mutant(lines, **each) for each in stored.pop("mutants"))
    spec = "\n".join(stored.pop("spec"))
    return CodingTask(domain=domain, spec=spec, solution=_code(lines), mutants=mutants, **listed, **stored)


def _case(stored: list[Any]) -> Case:
    call, expected, *raises = stored
    return Case(call=(call,) if isinstance(call, str) else tuple(call), expected=expected, raises="".join(raises))


def _mutant(lines: list[str], line: int, becomes: str, fails: list[int]) -> Mutant:
    return Mutant(code=_code([*lines[: line - 1], becomes, *lines[line:]]), fails=tuple(fails))


def _code(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _at_prompt(case: Case) -> str:
    """A case as an example at Python's prompt."""
    calls = "\n".join(f">>> {step}" for step in case.call)
    return f"{calls}\n{case.expected or f'Traceback (most recent call last):{chr(10)}{case.raises}'}"
