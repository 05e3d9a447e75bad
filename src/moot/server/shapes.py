"""Shapes of documents that other parts of moot define as records: derived from them, so that they can't part."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, create_model

from moot.records import compare, record


def _shape(name: str, kind: str, of: type[Any]) -> type[BaseModel]:
    """`as_json` of such a record gives its fields, and which document of which version it is."""
    assert is_dataclass(of)
    hints = get_type_hints(of)
    told: dict[str, Any] = {field.name: (hints[field.name], ...) for field in fields(of)}
    told |= {"type": (Literal[kind], ...), "version": (int, ...)}
    return create_model(name, **told)


Record = _shape("Record", "moot.record", record.Record)
Diff = _shape("Diff", "moot.diff", compare.Comparison)
