"""Debates as rows that leave the database and come back, and the checks on rows from outside.

JSON columns stay the text that they are: a replay of the copy compares the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from moot.core.artifacts import ARTIFACTS, Artifact, ArtifactKind, Version, stored_id
from moot.core.errors import DamagedDebate, InputError
from moot.core.lifecycle import LIVE
from moot.core.types import Cursor, Debate, Event, Gate, Turn, Usage
from moot.core.values import sha256_of
from moot.store import DebateCopy, Values
from moot.store.artifacts import TABLES, artifact_of, columns_of
from moot.store.columns import (
    CURSOR,
    DEBATE,
    DEBATE_TEXTS,
    EVENT_COLUMNS,
    EVENT_TEXTS,
    GATE,
    GATE_COLUMNS,
    GATE_TEXTS,
    LOST,
    SESSION_COLUMNS,
    TOKEN_COLUMNS,
    TURN,
    TURN_COLUMNS,
    TURN_TEXTS,
    Row,
    Texts,
    picked,
)
from moot.store.rows import FLAGS, UNREADABLE, debate_of, event_of, gate_of, turn_of

# What only means something in the database that it is stored in.
_OF_THE_PLACE = {"owner": None, "lease_until": None, "token_id": "", "crashes": 0, "alone": 0}
_WHOLE: Any = Annotated[int, Field(ge=0, lt=2**31)]
_LARGE: Any = Annotated[int, Field(ge=0, lt=2**53)]
_FLAG: Any = Annotated[int, Field(ge=0, le=1)]
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


def _texts(texts: Texts) -> _Types:
    return {name: str | None if text.optional else str for name, text in texts.items()}


_SESSION_TYPES: _Types = {
    **_plain(Debate, [name for name in DEBATE if name not in _OF_THE_PLACE]),
    **_texts(DEBATE_TEXTS),
    **{CURSOR[name]: kind for name, kind in _plain(Cursor, tuple(CURSOR)).items()},
    **{LOST[name]: kind for name, kind in _plain(Usage, tuple(LOST)).items()},
    "id": _ID,
    "user_rating": _RATING | None,
    "open_keys": str,
    **dict.fromkeys(FLAGS, _FLAG),
}
_TURN_TYPES: _Types = {**_plain(Turn, TURN), **_texts(TURN_TEXTS)}
_GATE_TYPES: _Types = {**_plain(Gate, GATE), **_texts(GATE_TEXTS)}
_EVENT_TYPES: _Types = {**_plain(Event, EVENT_COLUMNS), **_texts(EVENT_TEXTS)}
_FLAGS = {"passed": _FLAG | None, **dict.fromkeys(("confirmed", "demonstration", "held"), _FLAG)}


def _artifact_types(kind: ArtifactKind) -> _Types:
    table = TABLES[kind]
    names = [name for name in table.columns if name != "debate_id"]
    special = {
        "id": _ID,
        "turn_key": str | None,
        **dict.fromkeys(("metrics", "test_results", "episodes"), str),
        **_FLAGS,
    }
    plain = _plain(table.type, [name for name in names if name not in special])
    return {table.columns[name]: special[name] if name in special else plain[name] for name in names}


_ARTIFACT_TYPES: Mapping[str, _Types] = {kind: _artifact_types(kind) for kind in ARTIFACTS}
ARTIFACT_COLUMNS = {kind: tuple(_ARTIFACT_TYPES[kind]) for kind in ARTIFACTS}
_TABLES = {
    "session": SESSION_COLUMNS,
    "turn": ("session_id", *TURN_COLUMNS),
    "event": ("session_id", *EVENT_COLUMNS),
    "gate": GATE_COLUMNS,
    "token": TOKEN_COLUMNS,
    **{kind: columns_of(kind) for kind in ARTIFACTS},
}


def with_columns(statement: str) -> str:
    """Fill in the column lists of a statement: `/* turn columns */`, and as parameters, `/* turn values */` by name or
    `/* turn places */` in their order. They are written nowhere else."""
    if "/*" not in statement:
        return statement
    for name, columns in _TABLES.items():
        listed = ", ".join('"cast"' if column == "cast" else column for column in columns)
        statement = statement.replace(f"/* {name} columns */", listed)
        statement = statement.replace(f"/* {name} values */", ", ".join(f":{column}" for column in columns))
        statement = statement.replace(f"/* {name} places */", ", ".join("?" * len(columns)))
    return statement


def copy_of(
    session: Row,
    turns: Sequence[Row],
    events: Sequence[Row],
    gates: Sequence[Row],
    artifacts: Mapping[ArtifactKind, Sequence[Row]],
) -> DebateCopy:
    return DebateCopy(
        session=picked(session, _SESSION_TYPES),
        turns=[picked(row, TURN_COLUMNS) for row in turns],
        events=[picked(row, EVENT_COLUMNS) for row in events],
        gates=[picked(row, GATE_COLUMNS) for row in gates],
        artifacts={kind: [picked(row, ARTIFACT_COLUMNS[kind]) for row in rows] for kind, rows in artifacts.items()},
    )


def arriving(copy: DebateCopy) -> DebateCopy:
    """The debate as it is stored in another database: where it ran, no process drives it here, so it is stopped."""
    status = copy.session["status"]
    session = {**copy.session, "status": "stopped" if status in LIVE else status}
    return replace(copy, session=session)


def session_row(copy: DebateCopy) -> dict[str, Any]:
    """Values of all columns of a session that comes from outside."""
    return {**copy.session, **_OF_THE_PLACE}


def checked(copy: DebateCopy) -> Debate:
    """Check rows that came from outside; return the debate. Raises InputError that says what is wrong."""
    session = copy.session
    _check_types("debate", _SESSION_TYPES, [session])
    _check_types("turn", _TURN_TYPES, copy.turns)
    _check_types("event", _EVENT_TYPES, copy.events)
    _check_types("question", _GATE_TYPES, copy.gates)
    debate = _read("debate", debate_of, session_row(copy))
    for turn in copy.turns:
        _read("turn", turn_of, turn)
    for event in copy.events:
        named = {f"event_{name}": value for name, value in event.items()}
        _read("event", event_of, {**named, "session_id": None})
    for gate in copy.gates:
        _read("question", gate_of, {**gate, "session_id": session["id"]})
    _check_counts(copy)
    for kind, found in copy.artifacts.items():
        _check_types(kind, _ARTIFACT_TYPES[kind], found)
        made = [_read(kind, partial(artifact_of, kind), {**row, "session_id": debate.id}) for row in found]
        _check_artifacts(kind, made, debate.id, {turn["key"] for turn in copy.turns})
    return debate


def _check_artifacts(kind: ArtifactKind, found: Sequence[Artifact], debate_id: str, keys: Collection[str]) -> None:
    numbers = [each.number for each in found]
    if numbers != sorted(set(numbers)):
        raise InputError(f"its {kind}s are not in order")
    keys = {"", *keys}  # made before all turns, or after one of them
    for each in found:
        if each.id != stored_id(debate_id, f"{kind}-{each.number}") or each.turn_key not in keys:
            raise InputError(f"a {kind} does not belong to it")
        if isinstance(each, Version) and each.sha256 != sha256_of(each.code):
            raise InputError("a version is not the code that its hash says")


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


_TYPES: Mapping[str, _Types] = {
    "debate": _SESSION_TYPES,
    "turn": _TURN_TYPES,
    "event": _EVENT_TYPES,
    "question": _GATE_TYPES,
    **_ARTIFACT_TYPES,
}


@cache
def _model(what: str, names: tuple[str, ...]) -> type[BaseModel]:
    types = _TYPES[what]
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
    except (*UNREADABLE, DamagedDebate):
        raise InputError(f"a {what} can't be read: it is damaged") from None
