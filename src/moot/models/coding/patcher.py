"""Patches of a simulated engineer for the repositories of the corpus, and its choice among those of others.

What it knows of a repository is data: a patch that resolves the issue, and others that don't."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from pydantic import ValidationError

from moot.core.types import Answer, Call, Json, TextAnswer
from moot.corpus import RepositoryTask, recognised_repository
from moot.models.coding.coder import choices
from moot.models.coding.skills import Draws, Skills
from moot.reasoning.code.written import fenced

# A block with a patch of git's: no line of a patch begins with a backtick.
_BY_GIT = re.compile(r"^(`{3,})\w*\n(diff --git (?:.|\n(?!`))*+\n)\1$", re.MULTILINE)
_DRAWS = 20  # of an example, until it has an opinion
_CHANGE = "FILE: path"  # in a prompt: a change to the files of a repository is asked for, and not a piece of code
Example = Callable[[type[Answer]], Json]  # any valid answer of a shape


class Patcher:
    """Writes patches in any shape that has room for one. Equal seeds, steps and repositories give equal answers."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def answer(self, call: Call, seed: int | str, example: Example) -> str | None:
        """The text of an answer, or None if the prompt has no known issue or the shape has no room for a patch."""
        asked = [message.text for message in call.messages if message.role != "assistant"]
        task = next(filter(None, map(recognised_repository, reversed(asked))), None)
        if task is None:
            return None
        skills = self._skills
        own = [patch for message in call.messages if message.role == "assistant" for patch in held(message.text, task)]
        seat = _Seat(
            task=task,
            skills=skills,
            draws=Draws(
                own=f"{seed}/{call.key}/{call.seat}/{task.id}",
                family=f"{seed}/{skills.family}/{task.id}",
                rho=skills.rho,
            ),
            before=own[-1] if own else None,
            read=tuple(patch for text in asked for patch in held(text, task)),
            prompt=asked[-1],
        )
        if call.returns is None:
            return f"This change resolves the issue.\n\n{fenced('diff', seat.now)}"
        return _written(call.returns, seat, example)


def held(text: str, task: RepositoryTask) -> list[str]:
    """The known patches that stand in a text, in order, as they are, written in JSON, or as git writes them."""
    found: list[tuple[int, int, str]] = []
    blocks = [(each.start(), -len(each[0]), _changed(each[2])) for each in _BY_GIT.finditer(text)]
    for patch in (task.solution, *task.mistakes):
        plain, changed = patch.strip(), _changed(patch)
        found += [(at, less, patch) for at, less, lines in blocks if lines == changed]
        for form in {plain, json.dumps(plain)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1]}:
            found += [(each.start(), -len(form), patch) for each in re.finditer(re.escape(form), text)]
    made: list[str] = []
    end = 0
    for at, less, patch in sorted(found):
        if at >= end:  # a patch may be a part of another
            made.append(patch)
            end = at - less
    return made


def _changed(patch: str) -> Counter[str]:
    """The lines that a patch adds and removes. Where git puts them among equal ones may differ."""
    lines = patch.splitlines()
    return Counter(line for line in lines if line[:1] in ("+", "-") and not line.startswith(("+++ ", "--- ")))


@dataclass(frozen=True, kw_only=True)
class _Seat:
    """One seat at one step."""

    task: RepositoryTask
    skills: Skills
    draws: Draws
    before: str | None  # what it gave last
    read: Sequence[str]  # what others gave
    prompt: str

    @cached_property
    def first(self) -> str:
        """Its patch before it reads anyone's; one that only writes up what it has read takes the last."""
        if self.before is not None:
            return self.before
        if self.read:
            return self.read[-1]
        rng = self.draws.of("patch")
        return self.task.solution if rng.random() < self.skills.skill else rng.choice(self.task.mistakes)

    @cached_property
    def now(self) -> str:
        """Its patch at this step: a wrong one of its own or of others is corrected with `repair`."""
        fresh = self.before is None and not self.read
        if fresh or self.first == self.task.solution:
            return self.first
        repaired = self.draws.of("repair").random() < self.skills.repair
        return self.task.solution if repaired else self.first

    def ranked(self, labels: Sequence[str]) -> list[str]:
        """Labels of patches in its prompt: as often as its skill, right ones first."""
        drawn = sorted(labels)
        self.draws.of("ranking").shuffle(drawn)
        if self.draws.of("ballot").random() < self.skills.skill:
            drawn.sort(key=lambda label: not self.right(label))
        return drawn

    def right(self, label: str) -> bool:
        """Whether the patch that stands after a label in the prompt resolves the issue."""
        place = re.search(rf"(?<!\w){re.escape(label)}(?!\w)", self.prompt)
        return place is not None and held(self.prompt[place.end() :], self.task)[:1] == [self.task.solution]


def _written(returns: type[Answer], seat: _Seat, example: Example) -> str | None:
    fields = returns.model_fields.keys()
    told: Json = {}
    if "final" in fields:
        told["final"] = seat.now.strip()
    elif "revised" in fields:
        told["revised"] = None
        if seat.now != seat.first:
            drawn = (cast("Json | None", example(returns).get("revised")) for _ in range(_DRAWS))
            opinion = next(filter(None, drawn), None)
            told["revised"] = opinion and {**opinion, "final": seat.now.strip()}
    elif "code" in fields and _CHANGE in seat.prompt:
        keeps = "answers" in fields and seat.now == seat.first  # a review that changes nothing
        told = {"code": None if keeps else fenced("diff", seat.now), "cases": ()}
    elif labels := choices(returns, "ranking") or choices(returns, "best"):
        ranked = seat.ranked(labels)
        right = [label for label in ranked if seat.right(label)]
        told = {"ranking": ranked, "best": ranked[0], "stands_behind": right}
    told = {name: value for name, value in told.items() if name in fields}
    if not told:
        return None
    try:
        answer = returns.model_validate(example(returns) | told)
    except ValidationError:
        return None
    return answer.as_text() if isinstance(answer, TextAnswer) else answer.model_dump_json()
