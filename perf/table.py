"""The table of results: each measured value, its reference, their ratio and its goal."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from moot.core.types import Json

_SIGNS: dict[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge, ">": operator.gt}
_HEAD = ("measurement", "value", "compared with", "ratio", "goal", "met")


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """A bound on a ratio."""

    sign: str
    bound: float

    def met(self, ratio: float) -> bool:
        return _SIGNS[self.sign](ratio, self.bound)

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:g}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of the table: a value and its reference from the same run, or an `error`."""

    name: str
    value: float = 0.0
    unit: str = ""
    reference: float = 0.0
    against: str = ""  # what the reference is
    goal: Goal | None = None
    least: float = 0.0  # a lower ratio is impossible, so it is noise
    note: str = ""
    error: str = ""
    details: Json = field(default_factory=dict[str, Any])  # single repetitions and the like, for --json

    @property
    def ratio(self) -> float:
        return self.value / self.reference if self.reference else 0.0

    @property
    def noise(self) -> bool:
        """Whether the ratio is an impossible one; it meets no goal then."""
        return not self.error and self.ratio < self.least

    @property
    def met(self) -> bool | None:
        return None if self.goal is None or self.error or self.noise else self.goal.met(self.ratio)

    def as_json(self) -> Json:
        if self.error:
            return {"name": self.name, "error": self.error}
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "reference": self.reference,
            "against": self.against,
            "ratio": self.ratio,
            "goal": None if self.goal is None else str(self.goal),
            "met": self.met,
            "noise": self.noise,
            "note": self.note,
            "details": self.details,
        }


def render(rows: Sequence[Row]) -> str:
    """Render a Markdown table with aligned columns, then notes and errors."""
    lines = [_HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    text = [f"| {' | '.join(line)} |" for line in padded]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = [f"- {row.name}: {row.error or row.note}" for row in rows if row.error or row.note]
    return "\n".join([*text, *([""] if notes else []), *notes])


def _cells(row: Row) -> tuple[str, ...]:
    if row.error:
        return (row.name, "not measured", "see below", "", "", "")
    goal = "" if row.goal is None else str(row.goal)
    met = "noise: measure again" if row.noise else {True: "yes", False: "NO", None: ""}[row.met]
    return (row.name, f"{_number(row.value)} {row.unit}", row.against, f"{row.ratio:.3g}", goal, met)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
