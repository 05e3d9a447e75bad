"""Columns derive from the fields of records. A field without a column, or a column without a field, is refused here."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import fields, replace
from typing import Any

from moot.core.types import Cursor, Failure, Gate, TurnedOut, Usage
from moot.store import IdempotencyKey, Tombstone
from moot.store.columns import (
    EVENT_COLUMNS,
    GATE_COLUMNS,
    SESSION_COLUMNS,
    TOKEN_COLUMNS,
    TURN_COLUMNS,
    fields_without,
)
from moot.store.rows import debate_of, gate_of, gate_values, session_values, turn_json, turn_of
from moot.store.sqlite.schema import migrate
from tests.store.samples import OUTCOME, debate, turn

# The columns of each table: those of the record's fields, then those that hold none.
TABLES = {
    "debate_sessions": {*SESSION_COLUMNS, "remembered", "imported"},  # memory's own mark, and that of an import
    "debate_turns": {*TURN_COLUMNS, "session_id"},
    "debate_events": {*EVENT_COLUMNS, "session_id"},
    "debate_gates": {*GATE_COLUMNS, "id", "session_id"},
    "access_tokens": {*TOKEN_COLUMNS},
    "idempotency_keys": {*fields_without(IdempotencyKey, "debate_id"), "created_at", "session_id"},
    "deleted_debates": {*fields_without(Tombstone), "scrubbed"},  # SQLite's own mark
}


def test_a_table_has_a_column_for_each_field_and_no_other():
    """PostgreSQL's tables are compared with these."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        found = {table: {row[1] for row in connection.execute(f"pragma table_info({table})")} for table in TABLES}
    assert found == TABLES


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
