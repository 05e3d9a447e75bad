"""The diagrams are Mermaid, and name what there is in the code."""

from __future__ import annotations

import re
import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

from moot.core.types import STATUSES
from moot.formats.forge.settings import PHASES, ForgeSettings
from moot.reasoning.voting import method_for, methods
from moot.store import sqlite
from tests.mermaid import Diagram, NotMermaid, parse

DOCS = Path(__file__).parents[1] / "docs"
NAMES = (
    "full-protocol",
    "reflexion-loop",
    "tree-topology",
    "adversarial-round",
    "voting-methods",
    "database-er",
    "approval-gate-flow",
)


def diagram(name: str) -> Diagram:
    return parse((DOCS / "diagrams" / f"debate-{name}.mmd").read_text())


@pytest.fixture(scope="module")
def tables() -> dict[str, set[str]]:
    """The columns of every table."""
    schema = (Path(sqlite.__file__).parent / "migrations" / "0001_initial.sql").read_text()
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema)
    names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
    return {name: {row[1] for row in connection.execute(f"pragma table_info({name})")} for name in names}


def test_there_are_these_and_each_is_shown_in_the_docs():
    assert {path.stem for path in (DOCS / "diagrams").glob("*")} == {f"debate-{name}" for name in NAMES}
    linked = set(re.findall(r"\(diagrams/(debate-[a-z-]+)\.mmd\)", "".join(p.read_text() for p in DOCS.glob("*.md"))))
    assert linked == {f"debate-{name}" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_everything_in_a_diagram_is_connected(name: str):
    found = diagram(name)
    joined = {end for one, two, _ in found.edges for end in (one, two)}
    assert joined
    assert found.nodes.keys() <= joined
    assert found.columns.keys() <= joined


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "empty"),
        ("pie\n  a", "no kind"),
        ("flowchart TD\n  a[one] -> b[two]", "no node"),
        ("flowchart TD\n  a[one} --> b[two]", "no node"),
        ("flowchart TD\n  a[one (x)] --> b[two]", "no node"),
        ("flowchart TD\n  a[one] --> b", "no text: b"),
        ("flowchart TD\n  end[one] --> b[two]", "no node"),
        ("flowchart TD\n  subgraph x\n  a[one] --> b[two]", "no end"),
        ("flowchart TD\n  a[one] --> b[two]\n  a[three] --> b", "a text already"),
        ("erDiagram\n  a {\n    text\n  }", "no column"),
        ("erDiagram\n  a }--{ b : x", "neither"),
    ],
)
def test_what_is_no_mermaid_is_refused(text: str, wrong: str):
    with pytest.raises(NotMermaid, match=wrong):
        parse(text)


def test_the_protocol_has_every_phase_in_order():
    found = diagram("full-protocol")
    assert [id for id, text in found.nodes.items() if text.startswith(f"{id}:")] == [*PHASES]
    forward = {(one, two) for one, two, _ in found.edges}
    for one, two in pairwise(PHASES[2:-1]):
        assert (one, two) in forward


def test_tables_and_columns_exist(tables: dict[str, set[str]]):
    found = diagram("database-er")
    for one, two, _ in found.edges:
        assert {one, two} <= tables.keys()
    for table, columns in found.columns.items():
        assert set(columns) <= tables[table], table
    stored = set(re.findall(r"\[\((\w+)\)\]", (DOCS / "diagrams/debate-reflexion-loop.mmd").read_text()))
    assert stored <= tables.keys()
    assert stored == {"code_versions", "episodes", "lessons"}


def test_every_voting_method_is_there_and_auto_takes_those_it_says():
    found = diagram("voting-methods")
    assert found.nodes.keys() >= methods().keys()
    taken = {label: two for one, two, label in found.edges if one == "auto"}
    for label, voters in (("fewer than 3 voters", (1, 2)), ("3 to 5 voters", (3, 5)), ("6 voters or more", (6, 40))):
        assert {method_for("auto", n).name for n in voters} == {taken[label]}


def test_statuses_and_timeouts_of_the_gate_exist():
    found = diagram("approval-gate-flow")
    statuses = {id for id, text in found.nodes.items() if id == text and id != "undelivered"}
    assert statuses == {"running", "waiting", "stopped", "completed"}
    assert statuses <= set(STATUSES)
    choices = ForgeSettings.model_fields["on_timeout"].annotation
    assert get_origin(choices) is Literal
    assert {label for one, _, label in found.edges if one == "timeout"} == set(get_args(choices))
