"""Debates as rows that leave the database and come back: their columns, and the checks on rows from outside.

JSON columns stay the text that they are: a replay of the copy compares the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from moot.core.errors import InputError
from moot.core.lifecycle import LIVE
from moot.core.types import Debate, Gate, Turn
from moot.store import DebateCopy, Values
from moot.store import rows as stored
from moot.store.rows import DEBATE, GATE, TURN, Row, debate_of, event_of, gate_of, picked, turn_of

# What only means something in the database that it is stored in.
_OF_THE_PLACE = {"owner": None, "lease_until": None, "token_id": "", "crashes": 0, "alone": False}
_WHOLE: Any = Annotated[int, Field(ge=0, lt=2**31)]
_LARGE: Any = Annotated[int, Field(ge=0, lt=2**53)]
_RATING: Any = Annotated[int, Field(ge=1, le=5)]
_LARGE_NAMES = ("tokens_in", "tokens_out", "tokens_cached", "duration_ms", "response_time_ms")
_ID = Annotated[str, Field(pattern=r"^[0-9a-f][0-9a-f-]{7,63}$")]

_Types = dict[str, Any]


def _plain(record: type, names: Sequence[str]) -> _Types:
    """The types of columns that hold a field as it is."""
    hints = get_type_hints(record, include_extras=True)
    return {name: _bounded(hints[name], large=name in _LARGE_NAMES) for name in names}


def _bounded(hint: Any, *, large: bool) -> Any:
    """The type, with whole numbers as large as the column's."""
    number: Any = _LARGE if large else _WHOLE
    if hint is int:
        return number
    return number | None if set(get_args(hint)) == {int, type(None)} else hint


_LOST = {"lost_tokens_in": _LARGE, "lost_tokens_out": _LARGE, "lost_cost_usd": float | None}
_SESSION_TYPES: _Types = {
    **_plain(Debate, [name for name in DEBATE if name not in _OF_THE_PLACE]),
    "id": _ID,
    "user_rating": _RATING | None,
    **dict.fromkeys(("config", "cast", "metadata", "open_keys"), str),
    **dict.fromkeys(("outcome", "error"), str | None),
    "next_round": _WHOLE | None,
    "next_actor": str | None,
    **_LOST,
}
_TURN_TYPES: _Types = {**_plain(Turn, TURN), "data": str | None, "failure": str | None, "metadata": str}
_GATE_TYPES: _Types = {**_plain(Gate, GATE), "choices": str, "artifacts": str, "decision": str | None}
_EVENT_TYPES: _Types = {"seq": _WHOLE, "type": str, "key": str, "data": str, "created_at": float}

SESSION_COLUMNS, GATE_COLUMNS = tuple(_SESSION_TYPES), tuple(_GATE_TYPES)
EVENT_COLUMNS, TURN_COLUMNS = tuple(_EVENT_TYPES), tuple(_TURN_TYPES)


def with_columns(statement: str) -> str:
    """Fill in the column lists of a statement, which are written nowhere else."""
    if "/*" not in statement:
        return statement
    for name, columns in (("session", SESSION_COLUMNS), ("turn", stored.TURN_COLUMNS), ("gate", GATE_COLUMNS)):
        listed = ", ".join('"cast"' if column == "cast" else column for column in columns)
        statement = statement.replace(f"/* {name} columns */", listed)
        statement = statement.replace(f"/* {name} values */", ", ".join("?" * len(columns)))
    return statement


def copy_of(session: Row, turns: Sequence[Row], events: Sequence[Row], gates: Sequence[Row]) -> DebateCopy:
    return DebateCopy(
        session=picked(session, SESSION_COLUMNS),
        turns=[picked(row, TURN_COLUMNS) for row in turns],
        events=[picked(row, EVENT_COLUMNS) for row in events],
        gates=[picked(row, GATE_COLUMNS) for row in gates],
    )


def arriving(copy: DebateCopy) -> DebateCopy:
    """The debate as it is stored in another database: where it ran, no process drives it here, so it is stopped."""
    status = copy.session["status"]
    session = {**copy.session, "status": "stopped" if status in LIVE else status}
    return DebateCopy(session=session, turns=copy.turns, events=copy.events, gates=copy.gates)


def checked(copy: DebateCopy) -> Debate:
    """Check rows that came from outside; return the debate. Raises InputError that says what is wrong."""
    session = copy.session
    _check_types("debate", _SESSION_TYPES, [session])
    _check_types("turn", _TURN_TYPES, copy.turns)
    _check_types("event", _EVENT_TYPES, copy.events)
    _check_types("question", _GATE_TYPES, copy.gates)
    debate = _read("debate", debate_of, {**session, **_OF_THE_PLACE})
    for turn in copy.turns:
        _read("turn", turn_of, turn)
    for event in copy.events:
        named = {f"event_{name}": value for name, value in event.items()}
        _read("event", event_of, {**named, "session_id": None})
    for gate in copy.gates:
        _read("question", gate_of, {**gate, "session_id": session["id"]})
    _check_counts(copy)
    return debate


def _check_counts(copy: DebateCopy) -> None:
    turns, events = len(copy.turns), len(copy.events)
    for what, count, named in (("turn", turns, "turn_count"), ("event", events, "last_seq")):
        if copy.session[named] != count:
            raise InputError(f"it has {count} {what}s and says that it has {copy.session[named]}")
    if [event["seq"] for event in copy.events] != list(range(1, events + 1)):
        raise InputError("its events are not in order")
    if [turn["seq"] for turn in copy.turns] != list(range(1, turns + 1)):
        raise InputError("its turns are not in order")
    for what, found in (("turns", copy.turns), ("questions", copy.gates)):
        if len({row["key"] for row in found}) != len(found):
            raise InputError(f"two of its {what} have the same key")


@cache
def _model(what: str, names: tuple[str, ...]) -> type[BaseModel]:
    types = {"debate": _SESSION_TYPES, "turn": _TURN_TYPES, "event": _EVENT_TYPES, "question": _GATE_TYPES}[what]
    strictly = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    fields: dict[str, Any] = {name: (types[name], ...) for name in names}
    return create_model(f"Copied {what}", __config__=strictly, **fields)


def _check_types(what: str, types: Mapping[str, Any], rows: Sequence[Values]) -> None:
    model = _model(what, tuple(types))
    for row in rows:
        try:
            model.model_validate(dict(row))
        except ValidationError as invalid:
            first = invalid.errors(include_url=False, include_input=False)[0]
            name = str(first["loc"][0])[:60] if first["loc"] else what
            raise InputError(f"{name!r} of a {what} is not as it should be") from None
        if any(isinstance(value, str) and not _is_text(value) for value in row.values()):
            raise InputError(f"a {what} has characters that can't be stored")


def _is_text(value: str) -> bool:
    """Whether every database can hold it: no NUL and no half characters."""
    if value.isascii():
        return "\0" not in value
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _read(what: str, make: Callable[[Any], Any], row: Values) -> Any:
    try:
        return make(row)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"a {what} can't be read: it is damaged") from None
