"""Answers of a simulated engineer, by the shape that is asked for.

A shape is known by its fields, not by its name. What has another shape, or is about no task of the corpus, is left to
the ordinary simulated model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from pydantic import ValidationError

from moot.core.types import Answer, Call, Json, TextAnswer
from moot.corpus import CodingTask
from moot.models.coding.mistakes import cheats, wrong
from moot.models.coding.prompt import CodingPrompt, Version, prompt_of
from moot.models.coding.skills import Draws, Skills
from moot.reasoning.code.cases import Case
from moot.reasoning.code.written import fenced, written_case

TESTS = 6  # of a tester
OWN_TESTS = 3  # of an engineer
ATTACKS = 2
_HARMLESS = 0.5  # of attackers that find nothing, those who say so
_STUCK = 0.5  # of repairs that fail, those that change nothing
_COMPLEXITY = {"easy": "simple", "medium": "moderate", "hard": "complex"}
_APPROACHES = (
    "Go through the input once and keep what is needed.",
    "Sort or index the input first, then read the result off.",
    "Split the work into small functions and combine them.",
    "Handle the edges first, then the usual case.",
    "Build the whole result step by step in a list.",
    "Describe the states and what leads from one to the next.",
    "Solve a smaller input first and extend it.",
    "Use what the standard library offers.",
    "Write the plainest loop that does what the task says.",
)


class Coder:
    """Writes answers to the prompts of a code debate. Equal seeds, steps and tasks give equal answers."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def answer(self, call: Call, seed: int | str) -> str | None:
        """The text of an answer, or None if the prompt or the shape is not one of a code debate."""
        prompt = prompt_of(call)
        if prompt is None:
            return None
        shape = None if call.returns is None else _shape(call.returns)
        task, skills = prompt.task.id, self._skills
        draws = Draws(
            own=f"{seed}/{call.key}/{call.seat}/{task}", family=f"{seed}/{skills.family}/{task}", rho=skills.rho
        )
        engineer = _Engineer(prompt=prompt, skills=skills, draws=draws, returns=call.returns)
        if call.returns is None:
            return fenced("python", engineer.code())
        return None if shape is None else _written(call.returns, shape(engineer))


@dataclass(frozen=True, kw_only=True)
class _Engineer:
    """One seat at one step."""

    prompt: CodingPrompt
    skills: Skills
    draws: Draws
    returns: type[Answer] | None

    @property
    def task(self) -> CodingTask:
        return self.prompt.task

    def chance(self, what: str, probability: float) -> bool:
        return self.draws.of(what).random() < probability

    def code(self) -> str:
        """Code for the task: a cheat, the solution, or one with a mistake in it."""
        if self.chance("cheat", self.skills.cheat):
            return self.draws.of("which cheat").choice(cheats(self.task))
        rng = self.draws.of("code")  # one draw for both: a family shares its mistakes
        if rng.random() < self.skills.skill:
            return self.task.solution
        shown = any(version.right for version in self.prompt.versions)
        if shown and self.chance("take over", self.skills.repair):
            return self.task.solution
        return rng.choice(self.task.mutants).code

    def mistake(self) -> str:
        return self.draws.of("mistake").choice(self.task.mutants).code

    def repaired(self) -> str:
        """What becomes of the code that is shown: a right one is seldom spoilt."""
        version = self.prompt.version
        if version is not None and version.right:
            kept = self.chance("repair", max(self.skills.skill, self.skills.repair))
            return version.code if kept else self.mistake()
        if self.chance("repair", self.skills.repair):
            return self.task.solution
        return version.code if version is not None and self.chance("stuck", _STUCK) else self.mistake()

    def stated(self, case: Case) -> Case:
        """The case with the value that this seat believes in."""
        rng = self.draws.of(f"value {case.call}")
        return case if rng.random() < self.skills.cases else wrong(case, self.task, rng)

    def some(self, cases: Sequence[Case], most: int) -> list[Case]:
        return self.draws.of("which cases").sample(cases, min(most, len(cases)))

    def noticing(self, version: Version | None) -> list[Case]:
        """The probes that tell a version from the solution; of unknown code, all."""
        if version is None:
            return list(self.task.probes)
        return [] if version.mutant is None else [self.task.probes[at] for at in version.mutant.fails]

    def attack(self) -> list[Case]:
        noticing = self.noticing(self.prompt.version)
        if noticing and self.chance("red", self.skills.red):
            return [self.stated(case) for case in self.some(noticing, ATTACKS)]
        harmless = [case for case in self.task.probes if case not in noticing]
        if not harmless or self.chance("harmless", _HARMLESS):
            return []
        return [wrong(case, self.task, self.draws.of("bluff")) for case in self.some(harmless, 1)]


def _solution(engineer: _Engineer) -> Json:
    cases = [engineer.stated(case) for case in engineer.some(engineer.task.probes, OWN_TESTS)]
    return {"code": engineer.code(), "cases": cases}


def _sample(engineer: _Engineer) -> Json:
    """An answer of its own, without tests; what it has written before is read again, and may be spoilt."""
    return {"reasoning": "", "final": _improvement(engineer)["code"]}


def _improvement(engineer: _Engineer) -> Json:
    """Code that is shown, as it is or spoilt; without any, code for the task."""
    version = engineer.prompt.version
    if version is None:
        return {"code": engineer.code()}
    return {"code": version.code if engineer.chance("code", engineer.skills.skill) else engineer.mistake()}


def _tests(engineer: _Engineer) -> Json:
    if engineer.prompt.shows_code:
        return {"cases": engineer.attack()}
    return {"cases": [engineer.stated(case) for case in engineer.some(engineer.task.probes, TESTS)]}


def _predictions(engineer: _Engineer) -> Json:
    made = [_prediction(engineer, n, call) for n, call in engineer.prompt.numbered.items()]
    return {"predictions": made} if made else {}


def _prediction(engineer: _Engineer, number: int, call: str) -> Json:
    case = engineer.task.case_of(call)
    if case is None:
        return {"number": number, "unspecified": True}
    stated = engineer.stated(case)
    return {"number": number, "expected": stated.expected, "raises": stated.raises}


def _repair(engineer: _Engineer) -> Json:
    code = engineer.repaired()
    right = code == engineer.task.solution
    return {
        "root_cause": "A condition or a value at an edge is wrong.",
        "went_wrong": "The result differs from what the task demands.",
        "change_next": "Correct the line that decides it." if right else "Try another reading of the failing test.",
        "confidence": 0.9 if right else 0.5,
        "code": code,
    }


def _review(engineer: _Engineer) -> Json:
    version, code = engineer.prompt.version, engineer.repaired()
    changed = version is None or code != version.code
    reason = "" if changed else "the task does not demand it"
    answers = [{"number": n, "accepted": changed, "reason": reason} for n in engineer.prompt.numbered]
    return {"answers": answers, "code": code if changed else None}


def _critique(engineer: _Engineer) -> Json:
    labels = choices(engineer.returns, "version")
    versions = engineer.prompt.labelled(labels)
    found = [_issue(engineer, label, versions.get(label)) for label in labels]
    return {"issues": [issue for issue in found if issue is not None][:5]}


def _issue(engineer: _Engineer, label: str, version: Version | None) -> Json | None:
    noticing = engineer.noticing(version)
    if noticing:
        case = engineer.stated(engineer.draws.of(f"issue {label}").choice(noticing))
        severity = "high" if len(noticing) * 2 > len(engineer.task.probes) else "medium"
        raised = engineer.chance(f"red {label}", engineer.skills.red)
    else:
        rng = engineer.draws.of(f"bluff {label}")
        case, severity = wrong(rng.choice(engineer.task.probes), engineer.task, rng), "low"
        raised = not engineer.chance(f"cases {label}", engineer.skills.cases)
    claim = f"It does not give what the task demands for {'; '.join(case.call)}."
    return {"version": label, "severity": severity, "claim": claim, "case": written_case(case)} if raised else None


def _ballot(engineer: _Engineer) -> Json:
    labels = list(choices(engineer.returns, "ranking"))
    versions = engineer.prompt.labelled(labels)
    engineer.draws.of("ranking").shuffle(labels)
    if engineer.chance("ballot", engineer.skills.skill):
        labels.sort(key=lambda label: not (label in versions and versions[label].right))
    return {"reasoning": "It follows the task most closely.", "ranking": labels}


def _teaching(engineer: _Engineer) -> Json:
    failed = [n for n, line in engineer.prompt.numbered.items() if "failed" in line]
    lesson = {"lesson": "Try the edges of a specification before the usual case.", "cites": failed[:9]}
    explanation = f"A simulated explanation. The task: {engineer.task.title.lower()}. The figures say what was run."
    return {"explanation": explanation, "lessons": [lesson] if failed else []}


def _questions(engineer: _Engineer) -> Json:
    complexity = _COMPLEXITY[engineer.task.difficulty]
    return {"confidence": 0.95, "complexity": complexity, "ambiguity": 0.05, "questions": []}


def _readings(engineer: _Engineer) -> Json:
    answer = "The usual reading: what the specification says, and nothing beyond it."
    return {"answers": [{"number": n, "answer": answer, "stated": False} for n in engineer.prompt.numbered][:5]}


def _approaches(engineer: _Engineer) -> Json:
    count = min(max(engineer.prompt.count_of("engineers", 3), 1), len(_APPROACHES))
    return {"interface": engineer.task.signature, "approaches": list(_APPROACHES[:count])}


def _own_plan(engineer: _Engineer) -> Json:
    return {"interface": engineer.task.signature, "approach": engineer.draws.of("approach").choice(_APPROACHES)}


_Shape = Callable[[_Engineer], Json]
_SHAPES: tuple[tuple[frozenset[str], _Shape], ...] = (
    (frozenset({"root_cause", "change_next", "code"}), _repair),
    (frozenset({"answers", "code"}), _review),
    (frozenset({"code", "cases"}), _solution),
    (frozenset({"code"}), _improvement),
    (frozenset({"cases"}), _tests),
    (frozenset({"predictions"}), _predictions),
    (frozenset({"issues"}), _critique),
    (frozenset({"reasoning", "ranking"}), _ballot),
    (frozenset({"explanation", "lessons"}), _teaching),
    (frozenset({"confidence", "complexity", "ambiguity", "questions"}), _questions),
    (frozenset({"interface", "approaches"}), _approaches),
    (frozenset({"interface", "approach"}), _own_plan),
    (frozenset({"answers"}), _readings),
    (frozenset({"reasoning", "final"}), _sample),
)


def _shape(returns: type[Answer]) -> _Shape | None:
    fields = returns.model_fields.keys()
    return next((shape for needed, shape in _SHAPES if needed <= fields), None)


def _written(returns: type[Answer], made: Json) -> str | None:
    plain = {name: _plain(value) for name, value in made.items()}
    try:
        answer = returns.model_validate(plain)
    except ValidationError:
        return None
    return answer.as_text() if isinstance(answer, TextAnswer) else answer.model_dump_json()


def _plain(value: Any) -> Any:
    """Cases as the shape that is asked for may have them: its own class or ours."""
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    return value.model_dump() if isinstance(value, Case) else value


@lru_cache(maxsize=256)
def choices(returns: type[Answer] | None, name: str) -> tuple[str, ...]:
    """The texts that a field allows, wherever it is in a shape."""
    schema: Any = {} if returns is None else returns.model_json_schema()
    return next(_allowed(schema, name), ())


def _allowed(schema: Any, name: str) -> Iterator[tuple[str, ...]]:
    if isinstance(schema, Mapping):
        for key, inner in cast("Mapping[str, Any]", schema).items():
            if key == name and isinstance(inner, Mapping):
                field = cast("Mapping[str, Any]", inner)
                field = field.get("items", field)
                texts = field.get("enum", [field["const"]] if "const" in field else [])
                if texts:
                    yield tuple(texts)
            yield from _allowed(inner, name)
    elif isinstance(schema, list):
        for inner in cast("list[Any]", schema):
            yield from _allowed(inner, name)
