"""The columns of each table, derived from the fields of the record that it holds. All backends have the same, and store
JSON as text.

A field is a column of the same name. What differs is said here once: fields that are stored as text, and records that
are spread over several columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, Protocol, cast

from moot.core.types import Debate, Event, Failure, Gate, Json, Outcome, SeatSpec, Turn, TurnedOut, record
from moot.store.values import AccessToken

dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Row(Protocol):
    def __getitem__(self, name: str, /) -> Any: ...


@record
class Text:
    """A field that is stored as text. `optional`: None is stored as null."""

    write: Callable[[Any], str] = dumps
    read: Callable[[str], Any] = json.loads
    optional: bool = False

    def stored(self, value: Any) -> str | None:
        return None if value is None and self.optional else self.write(value)

    def loaded(self, text: str | None) -> Any:
        return None if text is None and self.optional else self.read(cast(str, text))


Texts = Mapping[str, Text]


def _mapping(text: str) -> Json:
    read = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError("not a mapping")
    return cast(Json, read)


def _words(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _tags(text: str) -> tuple[str, ...]:
    read = json.loads(text)
    if not isinstance(read, list) or not all(isinstance(each, str) for each in cast("list[Any]", read)):
        raise ValueError("not a list of words")
    return tuple(cast("list[str]", read))


def _failure_json(failure: Failure) -> str:
    return dumps({"kind": failure.kind, "message": failure.message})


def _failure(text: str) -> Failure:
    return Failure(**json.loads(text))


def _cast_json(cast: Iterable[SeatSpec]) -> str:
    return dumps([seat.as_json for seat in cast])


@lru_cache(maxsize=256)  # most debates have one of a few casts
def _cast(text: str) -> tuple[SeatSpec, ...]:
    return tuple(SeatSpec.of(values) for values in json.loads(text))


_MAPPING, _FAILURE = Text(read=_mapping), Text(write=_failure_json, read=_failure, optional=True)
DEBATE_TEXTS: Texts = {
    "config": _MAPPING,
    "cast": Text(write=_cast_json, read=_cast),
    "error": _FAILURE,
    "outcome": Text(write=Outcome.model_dump_json, read=Outcome.model_validate_json, optional=True),
    "tags": Text(read=_tags),
    "turned_out": Text(write=TurnedOut.model_dump_json, read=TurnedOut.model_validate_json, optional=True),
    "metadata": _MAPPING,
}
_OPTIONAL = Text(optional=True)
TURN_TEXTS: Texts = {
    "data": _OPTIONAL,
    "tool_calls": _OPTIONAL,
    "test_results": _OPTIONAL,
    "reflections": _OPTIONAL,
    "failure": _FAILURE,
    "metadata": _MAPPING,
}
EVENT_TEXTS: Texts = {"data": _MAPPING}
GATE_TEXTS: Texts = {"choices": Text(read=_words), "artifacts": Text(), "decision": Text(optional=True)}
TOKEN_TEXTS: Texts = {"scopes": Text(read=_words)}

CURSOR = {"open": "open_keys", "next_round": "next_round", "next_actor": "next_actor"}  # columns by field
LOST = {name: f"lost_{name}" for name in ("tokens_in", "tokens_out", "cost_usd")}


def fields_without(record: type, *names: str) -> tuple[str, ...]:
    """Names of the record's fields, but for these."""
    return tuple(each.name for each in fields(record) if each.name not in names)


# Columns that hold a field as it is.
DEBATE = fields_without(Debate, "cursor", "lost", *DEBATE_TEXTS)
TURN = fields_without(Turn, *TURN_TEXTS)
GATE = fields_without(Gate, "debate_id", *GATE_TEXTS)
TOKEN = fields_without(AccessToken, *TOKEN_TEXTS)

SESSION_COLUMNS = (*DEBATE, *DEBATE_TEXTS, *CURSOR.values(), *LOST.values())
TURN_COLUMNS = (*TURN, *TURN_TEXTS)
EVENT_COLUMNS = fields_without(Event, "turn")
GATE_COLUMNS = (*GATE, *GATE_TEXTS)
TOKEN_COLUMNS = (*TOKEN, *TOKEN_TEXTS)


def picked(row: Row, names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def stored(record: Any, names: Iterable[str], texts: Texts) -> dict[str, Any]:
    """Values of a record's columns: fields as they are, and those stored as text."""
    plain = {name: getattr(record, name) for name in names}
    return plain | {name: text.stored(getattr(record, name)) for name, text in texts.items()}


def loaded(row: Row, names: Iterable[str], texts: Texts) -> dict[str, Any]:
    """The fields of a record, from its row. Raises one of `rows.UNREADABLE` when a text is damaged."""
    return {**picked(row, names), **{name: text.loaded(row[name]) for name, text in texts.items()}}
