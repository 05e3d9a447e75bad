"""Versions of code, as Markdown for a model to read."""

from __future__ import annotations

from moot.core.artifacts import Version
from moot.core.types import Debate
from moot.reasoning.code.written import fenced
from moot.reasoning.fence import clean, one_line


def version_in_markdown(debate: Debate, version: Version) -> str:
    """A version with how it did, what it changes, and its whole code."""
    author = debate.names.get(version.author, version.author)
    passed = "not run" if version.test_pass_rate is None else f"passes {version.test_pass_rate:.0%} of its tests"
    quality = "not measured" if version.quality_score is None else f"{version.quality_score:.2f} of 1"
    parts = [
        f"## {one_line(version.label, 60) or version.number}, by {one_line(author, 80)}",
        f"{passed}; quality {quality}; sha256 {version.sha256}",
    ]
    if version.diff_from_previous:
        parts.append(f"What it changes:\n\n{fenced('diff', clean(version.diff_from_previous))}")
    return "\n\n".join([*parts, fenced(version.language, clean(version.code))])
