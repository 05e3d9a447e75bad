"""What the live view is made of: tables of marks, code that comes in, and how far a debate is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from moot.cli.blocks import drawn
from moot.cli.screen import LiveView, code_in_flight
from moot.formats.format import Grid, GridRow


def test_a_table_of_marks_names_its_columns_once():
    rows = (
        GridRow(name="f(1) == 2", cells=("✓", "✗", "·"), note="given"),
        GridRow(name="f(2)", cells=("·", "·", "✓")),
    )
    assert drawn(Grid(columns=("V1", "V2", "V10"), rows=rows, more=1200)) == [
        "V1  V2  V10",
        "✓   ✗   ·    f(1) == 2 (given)",
        "·   ·   ✓    f(2)",
        "and 1,200 more",
    ]


@pytest.mark.parametrize(("width", "line"), [(50, "✓ Proposal  ▸ Rounds  · Review"), (30, "✓ ▸ ·")])
def test_the_parts_are_named_where_there_is_room(width: int, line: str):
    wording = SimpleNamespace(parts=["Proposal", "Rounds", "Review"], part=2, parts_off=["Critique"])
    console = SimpleNamespace(width=width)
    screen: Any = SimpleNamespace(context=SimpleNamespace(wording=wording), printer=SimpleNamespace(console=console))
    assert [each.plain for each in LiveView._rail(screen)] == [line, "off: Critique"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Here it is:\n```python\ndef f(x):\n\treturn x\n\n  # so", ["def f(x):", "    return x", "  # so"]),
        ("```python\ndef f(x): ...\n```\nThat is all", []),
        ("```python\na = 1\n```\nand\n```\nb = 2", ["b = 2"]),
        ("```pyth", []),
        ("Words only", []),
        ("```\n\x1b[31mred", ["[31mred"]),
    ],
)
def test_code_in_flight_keeps_its_lines(text: str, lines: list[str]):
    assert code_in_flight(text) == lines
