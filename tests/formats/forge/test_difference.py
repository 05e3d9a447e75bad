"""The difference between two versions: exact for code that people write, and quick for whatever a model writes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from moot.formats.forge.state import Forge


def difference(before: str, after: str) -> str:
    earlier: Any = SimpleNamespace(label="v1", code=before)
    later: Any = SimpleNamespace(label="v2", code=after, parent="v1")
    forge: Any = SimpleNamespace(board=SimpleNamespace(draft=lambda label: earlier))
    return Forge.diff(forge, later)


def test_changed_lines_are_marked():
    assert difference("a = 1\nb = 2", "a = 1\nb = 3") == "--- v1\n+++ v2\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n"
    assert difference("a = 1\n", "a = 1") == ""


def test_code_that_would_take_too_long_to_compare_is_replaced_as_a_whole():
    """Every line occurs a hundred times, and no two in the same order: to compare them would take minutes."""
    lines = [f"x{n % 300}" for n in range(30_000)]
    made = difference("\n".join(lines), "\n".join(reversed(lines))).splitlines()
    assert made[2] == "@@ -1,30000 +1,30000 @@"
    assert made[3:30_003] == [f"-{line}" for line in lines]
    assert made[30_003:] == [f"+{line}" for line in reversed(lines)]
