"""Columns derive from the fields of records. A field without a column, or a column without a field, is refused here."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import field, fields, make_dataclass, replace
from importlib.resources import files
from typing import Any

import pytest

from moot.core.types import Cursor, Debate, Event, Failure, Gate, Turn, TurnedOut, Usage
from moot.store import AccessToken, IdempotencyKey, Tombstone
from moot.store.columns import (
    CURSOR,
    DEBATE,
    DEBATE_TEXTS,
    EVENT_COLUMNS,
    GATE_COLUMNS,
    LOST,
    SESSION_COLUMNS,
    TOKEN_COLUMNS,
    TURN_COLUMNS,
    fields_without,
)
from moot.store.copies import with_columns
from moot.store.rows import creation_values, debate_of, gate_of, gate_values, session_values, turn_json, turn_of
from moot.store.sqlite.schema import migrate
from tests.store.samples import OUTCOME, debate, turn

# Columns that hold no field of the record.
ELSEWHERE = {
    "debate_sessions": {"remembered", "imported"},  # memory's own mark, and that of an import
    "debate_turns": {"session_id"},
    "debate_events": {"session_id"},
    "debate_gates": {"id", "session_id"},
    "access_tokens": set[str](),
    "idempotency_keys": {"created_at", "session_id"},
    "deleted_debates": {"scrubbed"},  # SQLite's own mark
}
DERIVED = {
    "debate_sessions": SESSION_COLUMNS,
    "debate_turns": TURN_COLUMNS,
    "debate_events": EVENT_COLUMNS,
    "debate_gates": GATE_COLUMNS,
    "access_tokens": TOKEN_COLUMNS,
    "idempotency_keys": fields_without(IdempotencyKey, "debate_id"),
    "deleted_debates": fields_without(Tombstone),
}


def table_columns(table: str) -> set[str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        return {row[1] for row in connection.execute(f"pragma table_info({table})")}


@pytest.mark.parametrize("table", DERIVED)
def test_a_table_has_a_column_for_each_field_and_no_other(table: str):
    assert table_columns(table) - ELSEWHERE[table] == set(DERIVED[table])  # PostgreSQL's tables are compared with these


def spread(names: Iterable[str]) -> set[str]:
    """The fields of a debate, from its columns."""
    left = set(names) - set(CURSOR.values()) - set(LOST.values())
    return left | {"cursor", "lost"}


def test_every_field_of_a_record_is_in_its_columns():
    def named(record: type) -> set[str]:
        return {each.name for each in fields(record)}

    assert spread(SESSION_COLUMNS) == named(Debate)
    assert set(CURSOR) == named(Cursor)
    assert set(LOST) == named(Usage) - {"tokens_cached", "tokens_stored", "estimated"}
    assert set(TURN_COLUMNS) == named(Turn)
    assert set(EVENT_COLUMNS) == named(Event) - {"turn"}
    assert set(GATE_COLUMNS) == named(Gate) - {"debate_id"}
    assert set(TOKEN_COLUMNS) == named(AccessToken)


def test_a_new_field_is_a_new_column_of_every_statement():
    """What a developer sees who adds a field and forgets the migration."""
    wider: Any = make_dataclass("Debate", [("mood", str, field(default=""))], bases=(Debate,), kw_only=True)
    names = fields_without(wider, "cursor", "lost", *DEBATE_TEXTS)
    assert set(names) - set(DEBATE) == {"mood"}
    statement = f"insert into debate_sessions ({', '.join(names)}) values ({', '.join(':' + name for name in names)})"
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        with pytest.raises(sqlite3.OperationalError, match="no column named mood"):
            connection.execute(statement, session_values(debate(1)) | {"mood": "calm"})


def unlike(record: Any, **special: Any) -> Any:
    """The record, with another value in every field than its default."""
    samples = {"str": "other", "int": 3, "float": 2.5, "bool": True, "tuple": ("x",), "dict": {"x": 1}}
    changed = {
        each.name: special.get(each.name, samples.get(re.split(r"\W", str(each.type))[0], "other"))
        for each in fields(record)
    }
    return replace(record, **changed)


def test_every_field_comes_back_from_its_row():
    given = unlike(
        debate(1),
        status="stopped",
        cast=debate(1).cast,
        config={"a": 1},
        metadata={"b": 2},
        cursor=Cursor(open=("1/a", "1/b"), next_round=2, next_actor="a"),
        lost=Usage(tokens_in=4, tokens_out=5, cost_usd=0.5),
        error=Failure(kind="model", message="gone"),
        outcome=OUTCOME,
        turned_out=TurnedOut(right=0.7, note="n", by="ann", at=3.5),
    )
    assert debate_of(session_values(given)) == given
    said = unlike(turn(), data={"x": 1}, failure=Failure(kind="model", message="gone"), metadata={"k": [1]})
    assert turn_of(turn_json(said, "d")) == said
    gate = unlike(
        Gate(debate_id="d", key="k", kind="checkpoint", question="?"),
        choices=("a", "b"),
        artifacts={},
        decision={"y": 1},
    )
    assert gate_of(gate_values(gate, "g", gate.requested_at)) == gate


def test_a_new_debate_has_a_value_for_every_column():
    values = creation_values(debate(1), [turn()], [], now=7.0)
    assert set(values) == set(SESSION_COLUMNS)
    assert (values["created_at"], values["updated_at"], values["turn_count"], values["tokens_out"]) == (7.0, 7.0, 1, 20)


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_every_list_of_columns_in_a_statement_is_filled_in(backend: str):
    for file in (files(f"moot.store.{backend}") / "sql").iterdir():
        text = with_columns(file.read_text())
        assert set(re.findall(r"/\*.*?\*/", text)) <= {"/* filters */", "/* artifacts */"}, file.name
