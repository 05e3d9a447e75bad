"""Schemas of documents that other modules define as records, derived from those records."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, create_model

from moot.records import compare, record


def _shape(name: str, kind: str, of: type[Any]) -> type[BaseModel]:
    """The schema of what `as_json` of a record gives: its fields, `type` and `version`."""
    assert is_dataclass(of)
    hints = get_type_hints(of)
    schema: dict[str, Any] = {field.name: (hints[field.name], ...) for field in fields(of)}
    schema |= {"type": (Literal[kind], ...), "version": (int, ...)}
    return create_model(name, **schema)


Record = _shape("Record", "moot.record", record.Record)
Diff = _shape("Diff", "moot.diff", compare.Comparison)
