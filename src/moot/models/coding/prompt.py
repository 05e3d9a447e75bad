"""What a prompt of a code debate shows: the task, versions of its code with their labels, numbered lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from moot.core.types import Call
from moot.corpus import CodingTask, Mutant, recognised

_NUMBERED = re.compile(r"^\W{0,3}(\d+)[:.)] (.+)$")


@dataclass(frozen=True, kw_only=True)
class Version:
    """Code that a prompt shows and that the corpus knows."""

    at: int
    code: str
    mutant: Mutant | None = None  # None: the solution

    @property
    def right(self) -> bool:
        return self.mutant is None


@dataclass(frozen=True)
class CodingPrompt:
    task: CodingTask
    text: str

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The versions that are shown, in order."""
        known = [(self.task.solution, None), *((each.code, each) for each in self.task.mutants)]
        found = [Version(at=at, code=code, mutant=mutant) for code, mutant in known for at in _places(self.text, code)]
        return tuple(sorted(found, key=lambda version: version.at))

    @property
    def version(self) -> Version | None:
        """The version that a prompt is about: the first."""
        return next(iter(self.versions), None)

    def labelled(self, labels: Sequence[str]) -> dict[str, Version]:
        """The versions by the labels that stand last before them. Labels of unknown code are left out."""
        places = sorted(
            (found.end(), label)
            for label in labels
            for found in re.finditer(rf"(?<!\w){re.escape(label)}(?!\w)", self.text)
        )
        made: dict[str, Version] = {}
        for version in self.versions:
            before = [label for at, label in places if at <= version.at]
            if before:
                made.setdefault(before[-1], version)
        return made

    @property
    def shows_code(self) -> bool:
        """Whether code is shown, known or not."""
        return bool(self.versions) or re.search(rf"^(def|class) {self.task.entry}\b", self.text, re.M) is not None

    @cached_property
    def numbered(self) -> dict[int, str]:
        """The first list of lines that are numbered from 1 on."""
        found: dict[int, str] = {}
        for line in self.text.split("\n"):
            match = _NUMBERED.match(line)
            if match and int(match[1]) == len(found) + 1:
                found[len(found) + 1] = match[2].strip()
            elif found:
                break
        return found

    def count_of(self, what: str, otherwise: int) -> int:
        """The number before a word, such as 3 of "3 engineers"."""
        match = re.search(rf"\b(\d{{1,3}}) {what}\b", self.text)
        return int(match[1]) if match else otherwise


def prompt_of(call: Call) -> CodingPrompt | None:
    """The last message to the model that has a task of the corpus in it."""
    for message in reversed(call.messages):
        task = recognised(message.text) if message.role != "assistant" else None
        if task is not None:
            return CodingPrompt(task, message.text)
    return None


def _places(text: str, code: str) -> Iterator[int]:
    """Where some code stands in a text, as whole lines."""
    code = code.strip()
    at = text.find(code)
    while at >= 0:
        end = at + len(code)
        if text[at - 1 : at] in ("", "\n") and text[end : end + 1] in ("", "\n"):
            yield at
        at = text.find(code, end)
