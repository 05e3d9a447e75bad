"""Small repositories with an issue each: what patches are measured by, and what simulated engineers can repair.

One JSON file for each. Texts are lists of lines; a change replaces lines that occur once in a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from moot.reasoning.code.patches import diff_of
from moot.reasoning.code.written import fenced

FOLDER = Path(__file__).parent / "repositories"

ASKED = (
    "Write a patch that resolves the issue: a unified diff against these files, with lines `--- a/path` and "
    "`+++ b/path` before the hunks of each file. Tests that are here are not to be changed; others, which you don't "
    "see, decide."
)


@dataclass(frozen=True, kw_only=True)
class RepositoryTask:
    """A repository and what is wrong with it. `tests` are for scoring alone."""

    id: str
    domain: str
    title: str
    issue: str
    files: Mapping[str, str]  # by path
    tests: str
    solution: str  # a patch
    mistakes: tuple[str, ...]  # patches that apply, and leave some of the hidden tests failing

    @cached_property
    def brief(self) -> str:
        return " ".join(self.issue.split())


@cache
def repository_tasks() -> tuple[RepositoryTask, ...]:
    """All of them, by id."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.json")))


def recognised_repository(text: str) -> RepositoryTask | None:
    """The task whose issue stands in a text, however its lines are broken."""
    line = " ".join(text.split())
    return next((each for each in repository_tasks() if each.brief in line), None)


def shown_with_files(issue: str, files: Mapping[str, str]) -> str:
    """An issue as it is put to a model: with all files, each in a block below its path."""
    shown = "\n\n".join(f"FILE: {path}\n{fenced('', text)}" for path, text in sorted(files.items()))
    return f"{issue}\n\nThe files of the repository:\n\n{shown}\n\n{ASKED}"


def _read(path: Path) -> RepositoryTask:
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    files = {name: _text(lines) for name, lines in stored["files"].items()}
    return RepositoryTask(
        id=stored["id"],
        domain=stored["domain"],
        title=stored["title"],
        issue="\n".join(stored["issue"]),
        files=files,
        tests=_text(stored["tests"]),
        solution=_patch(files, stored["solution"]),
        mistakes=tuple(_patch(files, each) for each in stored["mistakes"]),
    )


def _patch(files: Mapping[str, str], edits: Sequence[Mapping[str, Any]]) -> str:
    now = dict(files)
    for each in edits:
        old, new = _text(each["replace"]), _text(each["by"])
        assert now[each["path"]].count(old) == 1, (each["path"], old)
        now[each["path"]] = now[each["path"]].replace(old, new)
    return diff_of(files, now)


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"
