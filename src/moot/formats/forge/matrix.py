"""The case matrix in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from moot.core.types import Json
from moot.formats.forge.board import MARKS
from moot.formats.format import Grid, GridRow
from moot.reasoning.fence import one_line

CASE_CHARS = 90
MOST_ROWS = 60


def matrix_lines(matrix: Json) -> list[str]:
    """A line for each case: a mark for each version, what is expected, and how far that is known."""
    versions = cast("Sequence[str]", matrix["versions"])
    rows = cast("Sequence[Mapping[str, Any]]", matrix["rows"])
    lines = [_row(row, versions) for row in rows[:MOST_ROWS]]
    more = len(rows) - MOST_ROWS
    return [*lines, *([f"and {more} more"] if more > 0 else [])]


def matrix_grid(matrix: Json, *, most: int = MOST_ROWS) -> Grid:
    """The matrix as a table: cases by versions, with how far each expectation is known."""
    versions = cast("Sequence[str]", matrix["versions"])
    rows = cast("Sequence[Mapping[str, Any]]", matrix["rows"])
    shown = tuple(_grid_row(row, versions) for row in rows[:most])
    return Grid(columns=tuple(versions), rows=shown, more=len(rows) - len(shown))


def matrix_candidates(matrix: Json) -> dict[str, str]:
    """A line for each version: how many of the cases that were measured it passes, and a mark for each case."""
    versions = cast("Sequence[str]", matrix["versions"])
    rows = cast("Sequence[Mapping[str, Any]]", matrix["rows"])
    return {version: standing([row["passed"].get(version) for row in rows]) for version in versions}


def standing(passed: Sequence[bool | None]) -> str:
    """How many tests pass of those that are known to pass or fail, and a mark for each."""
    known = [each for each in passed if each is not None]
    return f"{sum(known)} of {len(known)}  {''.join(MARKS[each] for each in passed)}"


def _grid_row(row: Mapping[str, Any], versions: Sequence[str]) -> GridRow:
    passed = cast("Mapping[str, bool | None]", row["passed"])
    marks = tuple(MARKS[passed.get(version)] for version in versions)
    return GridRow(name=one_line(str(row["case"]), CASE_CHARS), cells=marks, note=str(row["standing"]))


def _row(row: Mapping[str, Any], versions: Sequence[str]) -> str:
    passed = cast("Mapping[str, bool | None]", row["passed"])
    marks = " ".join(f"{version}{MARKS[passed.get(version)]}" for version in versions)
    return f"{marks}  {one_line(str(row['case']), CASE_CHARS)} ({row['standing']})"
