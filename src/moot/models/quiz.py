"""Answers of a simulated model to simulated questions: as often right as it is set to, with errors that go together.

A question has an ease of its own for each family, drawn from the beta distribution with the mean `skill` and the
correlation `rho`; each answer is right with that probability. So a majority is worth what theory says of it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, cast

from pydantic import ValidationError

from moot.core.types import Answer, Call, Json, TextAnswer
from moot.corpus.quiz import SimulatedQuestion, recognised_question
from moot.models.coding import Skills

Example = Callable[[type[Answer]], Json]  # any valid answer of a shape

_ALMOST = 1e-9
_BARE = ("final", "choice", "option", "value", "number")  # fields for an answer without words around it
_SPOKEN = ("position", "answer", "statement", "rebuttal")  # the first of these that a shape has says the answer


class Answerer:
    """Answers simulated questions in any shape. Equal seeds, steps and questions give equal answers."""

    def __init__(self, skills: Skills, family_seed: int) -> None:
        self._skills, self._family_seed = skills, family_seed

    def answer(self, call: Call, seed: int | str, example: Example) -> str | None:
        """The text of an answer, or None if the prompt has no simulated question or the shape has no room for one."""
        asked = [message.text for message in call.messages if message.role != "assistant"]
        question = next(filter(None, map(recognised_question, asked)), None)
        if question is None:
            return None
        seat = _Seat(
            question=question,
            skills=self._skills,
            family=f"{self._family_seed}/{self._skills.family}",
            own=f"{seed}/{call.key}/{call.seat}",
            before=_last([h for m in call.messages if m.role == "assistant" for h in held_in(m.text, question)]),
            read=tuple(held for text in asked for held in held_in(text, question)),
            prompt=asked[-1],
        )
        if call.returns is None:
            return said(seat.now)
        return _written(call.returns, seat, example)


def right(question: str, skill: float, rho: float, *, family: str, own: str) -> bool:
    """Whether an answer is right. `family` is what answers with correlated errors share, `own` tells them apart."""
    if rho >= 1 - _ALMOST:
        return _uniform(f"{family}/{question}") < skill
    return _uniform(f"{own}/{question}") < _ease(f"{family}/{question}", skill, rho)


@lru_cache(maxsize=4096)
def _ease(shared: str, skill: float, rho: float) -> float:
    if rho <= 0 or not 0 < skill < 1:
        return skill
    spread = (1 - rho) / rho
    return Random(shared).betavariate(skill * spread, (1 - skill) * spread)


def _uniform(seed: str) -> float:
    """A number from 0 to 1 that is always the same for a seed; much cheaper than a generator for one draw."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8]) / 2**64


def said(answer: str) -> str:
    return f"The answer is {answer}."


def held_in(text: str, question: SimulatedQuestion) -> list[str]:
    """The answers that a text states, in order."""
    values = "|".join(map(re.escape, question.options)) or r"\d{1,9}"
    fields = "|".join((*_BARE, "answer"))
    return re.findall(rf'(?:[Tt]he answer is |"(?:{fields})": ?"?)({values})\b', text)


@dataclass(frozen=True, kw_only=True)
class _Seat:
    """One seat at one step."""

    question: SimulatedQuestion
    skills: Skills
    family: str
    own: str
    before: str | None  # what it said last
    read: tuple[str, ...]  # what others said
    prompt: str

    def chance(self, what: str) -> float:
        return _uniform(f"{self.own}/{self.question.name}/{what}")

    @property
    def first(self) -> str:
        """Its answer before it reads anyone's."""
        if self.before is not None:
            return self.before
        skills = self.skills
        good = right(self.question.name, skills.skill, skills.rho, family=self.family, own=self.own)
        return self.question.target if good else self.question.mistake

    @property
    def now(self) -> str:
        """Its answer after reading the others': a wrong one is corrected with `repair`, any other follows with
        `sway`."""
        first = self.first
        if not self.read:
            return first
        if first != self.question.target and self.chance("repair") < self.skills.repair:
            return self.question.target
        return self.most_said if self.chance("sway") < self.skills.sway else first

    @property
    def most_said(self) -> str:
        return Counter(self.read).most_common(1)[0][0]

    def ranked(self, labels: Sequence[str]) -> list[str]:
        """Labels of answers in its prompt: those that agree with it first."""
        return sorted(labels, key=lambda label: (not self.agrees(label), self.chance(f"rank {label}")))

    def agrees(self, label: str) -> bool:
        """Whether the answer that stands after a label in the prompt is its own."""
        at = [found.end() for found in re.finditer(rf"(?<!\w){re.escape(label)}(?!\w)", self.prompt)]
        return any(held_in(self.prompt[place:], self.question)[:1] == [self.first] for place in at[:1])


def _written(returns: type[Answer], seat: _Seat, example: Example) -> str | None:
    schema = returns.model_json_schema()
    made = _filled(example(returns), schema, schema.get("$defs", {}), seat)
    if made is None:
        return None
    try:
        answer = returns.model_validate(made)
    except ValidationError:
        return None
    return answer.as_text() if isinstance(answer, TextAnswer) else answer.model_dump_json()


def _filled(made: Json, schema: Mapping[str, Any], defs: Mapping[str, Any], seat: _Seat) -> Json | None:
    """An example of a shape with the seat's answer in it; None where the shape has no place for one."""
    fields: Mapping[str, Json] = {name: _resolved(each, defs) for name, each in schema.get("properties", {}).items()}
    if "ranking" in fields:
        return _ballot(made, fields, seat)
    spoken = next((name for name in _SPOKEN if name in fields and _kind(fields[name]) == "string"), None)
    told: Json = {}
    for name, field in fields.items():
        allowed = field.get("enum", ())
        if allowed and set(allowed) <= set(seat.question.options):
            told[name] = seat.now if seat.now in allowed else made.get(name)
        elif name in _BARE or (name == "answer" and _kind(field) != "string"):
            told |= _bare(name, field, seat)
        elif name == spoken:
            told[name] = seat.now if name == "answer" else said(seat.now)
    if not told:
        return None
    told |= {name: _sure(field, seat.skills.skill) for name, field in fields.items() if name == "confidence"}
    if "departs" in fields:
        told |= {"departs": False, "answer": said(seat.read[0] if seat.read else seat.now)}
    if "revised" in fields:
        inner = fields["revised"]
        changed = seat.before is not None and seat.now != seat.before
        opinion = made.get("revised")
        given = cast("Json", opinion) if isinstance(opinion, dict) else {}
        told["revised"] = _filled(given, inner, defs, seat) if changed else None
    return made | told


def _ballot(made: Json, fields: Mapping[str, Json], seat: _Seat) -> Json | None:
    labels: list[str] = fields["ranking"].get("items", {}).get("enum", [])
    if not labels:
        return None
    ranked = seat.ranked(labels)
    told: Json = {"ranking": ranked}
    if "best" in fields:
        told["best"] = ranked[0]
    if "stands_behind" in fields:
        told["stands_behind"] = [label for label in ranked if seat.agrees(label)]
    return made | told


def _bare(name: str, field: Json, seat: _Seat) -> Json:
    kind = _kind(field)
    if kind == "string":
        return {name: seat.now}
    if kind in ("integer", "number") and seat.now.isdigit():
        return {name: int(seat.now)}
    return {}


def _sure(field: Json, skill: float) -> int | float:
    """How sure it says it is: as often right as it is by itself."""
    return round(100 * skill) if _kind(field) == "integer" or field.get("maximum", 1) > 1 else skill


def _resolved(field: Json, defs: Mapping[str, Any]) -> Json:
    """A field's schema without references, and without the null that it may be."""
    members: Sequence[Json] = field.get("anyOf", ())
    if members:
        field = next((each for each in members if each.get("type") != "null"), field)
    if "$ref" in field:
        return cast("Json", defs.get(field["$ref"].rsplit("/", 1)[-1], {}))
    if "const" in field:
        return {**field, "enum": [field["const"]]}
    return field


def _kind(field: Json) -> object:
    return field.get("type")


def _last(held: Sequence[str]) -> str | None:
    return held[-1] if held else None
