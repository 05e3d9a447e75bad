"""Conversion between rows and records. `columns.py` has the columns."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from moot.core.errors import DamagedDebate, DebateDeleted, InputError, NoSuchDebate
from moot.core.types import Cursor, Debate, Event, Failure, Gate, Shown, Turn, Usage
from moot.store import (
    AccessToken,
    CellCounts,
    Commit,
    Grade,
    HeartbeatReply,
    IdempotencyKey,
    Labels,
    Page,
    PageQuery,
    StoredEvaluation,
    Tombstone,
    Vector,
    Viewer,
)
from moot.store.columns import (
    CURSOR,
    DEBATE,
    DEBATE_TEXTS,
    EVENT_TEXTS,
    GATE,
    GATE_TEXTS,
    LOST,
    TOKEN,
    TOKEN_TEXTS,
    TURN,
    TURN_COLUMNS,
    TURN_TEXTS,
    Row,
    dumps,
    fields_without,
    loaded,
    picked,
    stored,
)

FLAGS = ("private", "pinned", "archived")  # stored as 0 or 1 in every backend, so that copies have the same bytes
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError)  # raised for a row that was damaged
_turn_values, _turn_texts = attrgetter(*TURN), tuple(TURN_TEXTS.items())


def turn_row(turn: Turn, debate_id: str) -> tuple[Any, ...]:
    """Values of the columns of a turn, in their order."""
    return (debate_id, *_turn_values(turn), *[text.stored(getattr(turn, name)) for name, text in _turn_texts])


def turn_json(turn: Turn, debate_id: str) -> dict[str, Any]:
    """Values of the columns of a turn, by name."""
    return dict(zip(("session_id", *TURN_COLUMNS), turn_row(turn, debate_id), strict=True))


def turn_of(row: Row) -> Turn:
    """Raises DamagedDebate."""
    try:
        return Turn(**loaded(row, TURN, TURN_TEXTS))
    except UNREADABLE:
        raise DamagedDebate(row["session_id"], f"the turn {row['key']}") from None


def event_row(debate_id: str, seq: int, event: Shown, now: float) -> tuple[str, int, str, str, str, float]:
    return (debate_id, seq, event.type, event.key, dumps(event.data) if event.data else "{}", now)


def event_of(row: Row) -> Event:
    """Raises DamagedDebate."""
    try:
        data = EVENT_TEXTS["data"].loaded(row["event_data"])
    except UNREADABLE:
        raise DamagedDebate(row["event_session_id"], f"the event {row['event_seq']}") from None
    return Event(
        seq=row["event_seq"],
        type=row["event_type"],
        key=row["event_key"],
        data=data,
        created_at=row["event_created_at"],
        turn=None if row["session_id"] is None else turn_of(row),
    )


def numbered(first: int, events: Sequence[Shown], now: float) -> list[Event]:
    """The events as they are stored, with sequence numbers from `first` on."""
    return [
        Event(seq=seq, type=event.type, key=event.key, data=event.data, created_at=now, turn=event.turn)
        for seq, event in enumerate(events, first)
    ]


def gate_values(gate: Gate, gate_id: str, now: float) -> Mapping[str, Any]:
    """Values of a gate that is opened now."""
    return {**stored(gate, GATE, GATE_TEXTS), "id": gate_id, "session_id": gate.debate_id, "requested_at": now}


def gate_of(row: Row) -> Gate:
    """Raises DamagedDebate."""
    try:
        return Gate(debate_id=row["session_id"], **loaded(row, GATE, GATE_TEXTS))
    except UNREADABLE:
        raise DamagedDebate(row["session_id"], f"the question {row['key']}") from None


def session_values(debate: Debate) -> dict[str, Any]:
    cursor = {column: getattr(debate.cursor, name) for name, column in CURSOR.items()}
    lost = {column: getattr(debate.lost, name) for name, column in LOST.items()}
    return {**stored(debate, DEBATE, DEBATE_TEXTS), **cursor, **lost} | {
        "open_keys": dumps(debate.cursor.open),
        **{name: int(getattr(debate, name)) for name in FLAGS},
    }


def creation_values(debate: Debate, turns: Sequence[Turn], events: Sequence[Shown], now: float) -> dict[str, Any]:
    """Values of a new session, with the totals of the turns and events it is created with."""
    times = {"created_at": now, "updated_at": now}
    return {**session_values(debate), **times, "last_seq": len(events), "turn_count": len(turns), **_used(turns)}


def seen_values(seen: Debate | None) -> Mapping[str, Any]:
    """Values for the optimistic check of a change: together they differ after anything that happens to a debate."""
    return {
        "seen_epoch": None if seen is None else seen.epoch,
        "seen_seq": None if seen is None else seen.last_seq,
        "seen_status": None if seen is None else seen.status,
        "seen_at": None if seen is None else seen.updated_at,
    }


def label_values(labels: Labels) -> Mapping[str, Any]:
    """Values of a change of labels; None leaves a column as it is."""
    return {
        "title": labels.title,
        "pinned": None if labels.pinned is None else int(labels.pinned),
        "archived": None if labels.archived is None else int(labels.archived),
        "tags": None if labels.tags is None else DEBATE_TEXTS["tags"].stored(labels.tags),
    }


def debate_of(row: Row) -> Debate:
    """Raises DamagedDebate."""
    try:
        return _debate(row)
    except UNREADABLE:
        damaged = [name for name in DEBATE_TEXTS if not _is_readable(row, name)]
        raise DamagedDebate(row["id"], " and ".join(damaged) or "its row") from None


def intact(row: Row) -> Debate | None:
    """The debate of a row; None if it can't be read, so that it keeps no other from being found."""
    try:
        return debate_of(row)
    except DamagedDebate:
        return None


def _debate(row: Row) -> Debate:
    values = loaded(row, DEBATE, DEBATE_TEXTS)
    values |= {name: bool(values[name]) for name in FLAGS}  # SQLite has no booleans
    cursor = Cursor(open=_keys(row["open_keys"]), next_round=row["next_round"], next_actor=row["next_actor"])
    lost = Usage(**{name: row[column] for name, column in LOST.items()})
    return Debate(cursor=cursor, lost=lost, **values)


def listed(row: Row) -> Debate:
    """The debate of a row. One that can't be read is listed with the reason, so that it hides no other."""
    try:
        return debate_of(row)
    except DamagedDebate as damaged:
        error = Failure(kind="error", message=str(damaged))
        values = picked(row, DEBATE)
        values |= {name: bool(row[name]) for name in FLAGS}
        listed = Debate(config={}, cast=(), error=error, **values)
        return replace(listed, topic=f"({damaged.problem}) {listed.topic}")


def _is_readable(row: Row, name: str) -> bool:
    try:
        DEBATE_TEXTS[name].loaded(row[name])
    except UNREADABLE:
        return False
    return True


def _keys(text: str) -> tuple[str, ...]:
    """Open keys of a cursor; none when they can't be read, as the cursor is derived from the turns anyway."""
    try:
        keys = json.loads(text)
    except ValueError:
        return ()
    return tuple(str(key) for key in keys) if isinstance(keys, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def step_values(commit: Commit, now: float) -> dict[str, Any]:
    """Values of the session that every commit changes."""
    cursor = commit.cursor
    return {
        "id": commit.debate_id,
        "epoch": commit.epoch,
        "now": now,
        "open_keys": None if cursor is None else dumps(cursor.open),
        "next_round": None if cursor is None else cursor.next_round,
        "next_actor": None if cursor is None else cursor.next_actor,
        "total_rounds": commit.total_rounds,
        "events": len(commit.events),
        "shown": commit.shown,
        "artifacts": len(commit.artifacts),
        "turns": len(commit.turns),
        **_used(commit.turns),
    }


def ending_values(commit: Commit) -> dict[str, Any]:
    """Values that only some commits change: those that end a debate, release it, or report lost usage."""
    lost = commit.lost or Usage()
    return {
        "status": commit.status,
        **{name: DEBATE_TEXTS[name].stored(getattr(commit, name)) for name in ("outcome", "error")},
        **{column: getattr(lost, name) for name, column in LOST.items()},
        "release": commit.release,
    }


def _used(turns: Sequence[Turn]) -> dict[str, Any]:
    """Usage of all turns together. The cost is unknown (None) as soon as that of one is."""
    costs = [turn.cost_usd for turn in turns]
    return {
        "tokens_in": sum([turn.tokens_in for turn in turns]),
        "tokens_out": sum([turn.tokens_out for turn in turns]),
        "cost_usd": None if None in costs else sum([cost or 0.0 for cost in costs]),
    }


def new_id(now: float) -> str:
    """A UUID of version 7: later ids sort later, which keeps index pages dense and cached."""
    text = f"{int(now * 1000):012x}7{random.getrandbits(12):03x}{0x8 << 60 | random.getrandbits(62):016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def page_query(matches: str, tagged: str, query: PageQuery) -> tuple[str, Mapping[str, Any]]:
    """Filters for page.sql, and their values. Only filters in use are named, so that the index made for them is walked.
    `matches` and `tagged`: the backend's expressions for `contains` and `tag`. One row more than `limit` is asked for:
    see `page_of`."""
    created_at, last_id = _read_page_mark(query.get("after"))
    filters = {
        "status": "status = :status",
        "format": "format = :format",
        "parent": "parent_id = :parent",
        "follows": "follows = :follows",
        "contains": matches,
        "tag": tagged,
    }
    values: dict[str, Any] = {name: query.get(name) for name in filters}
    if values["tag"] is not None:
        values["tag"] = dumps(values["tag"])  # in its quotation marks, which no tag has in itself
    used = [text for name, text in filters.items() if values[name] is not None]
    flags = {name: query.get(name) for name in ("pinned", "archived")}
    # Not as parameters: an index over those that are pinned is of no use for one.
    used += [f"{name} = {int(value)}" for name, value in flags.items() if value is not None]
    viewer = query.get("viewer")
    if viewer is not None:
        used.append("(token_id = :token or private = 0)" if viewer.shared else "token_id = :token")
        values["token"] = viewer.token
    private = query.get("private")
    if private is not None:
        used.append("private = 1" if private else "private = 0")
    values["evaluation"] = query.get("evaluation")
    if values["evaluation"] is not None:
        used.append("evaluation = :evaluation")
        used += ["evaluation <> ''"] if values["evaluation"] else []  # so that its index is walked
    used += ["(created_at, id) < (:created_at, :id)"] if created_at is not None else []
    values |= {"created_at": created_at, "id": last_id, "limit": query.get("limit", 20) + 1}
    return "".join(f" and {each}" for each in used), values


def evaluation_of(row: Row) -> StoredEvaluation:
    return StoredEvaluation(**picked(row, fields_without(StoredEvaluation)))


def grade_of(row: Row) -> Grade:
    return Grade(item=row["item"], answer=row["answer"], passed=bool(row["passed"]), examples=row["examples"])


def grade_values(grade: Grade) -> dict[str, Any]:
    return {"item": grade.item, "answer": grade.answer, "passed": grade.passed, "examples": grade.examples}


def counts_of(row: Row) -> CellCounts:
    return CellCounts(**picked(row, fields_without(CellCounts)))


def viewer_values(viewer: Viewer | None) -> dict[str, Any]:
    """Values for statements that return only what a viewer sees."""
    return {
        "all": viewer is None,
        "token": None if viewer is None else viewer.token,
        "shared": viewer is None or viewer.shared,
    }


def page_of(rows: Sequence[Row], values: Mapping[str, Any]) -> Page:
    """`values`: those of `page_query`."""
    limit = values["limit"] - 1
    debates = [listed(row) for row in rows[:limit]]
    more = len(rows) > limit
    return Page(debates=debates, next=f"{debates[-1].created_at!r}/{debates[-1].id}" if more else None)


def _read_page_mark(after: str | None) -> tuple[float | None, str | None]:
    if after is None:
        return None, None
    created_at, _, last_id = after.partition("/")
    try:
        return float(created_at), last_id
    except ValueError:
        raise InputError(f"{after!r} is not a page mark. Use the `next` of the page before, unchanged.") from None


def heartbeat_reply(rows: Sequence[Row], epochs: Mapping[str, int]) -> HeartbeatReply:
    """From the sessions an owner holds, and the epochs it believes to hold."""
    statuses = {row["id"]: row["status"] for row in rows if epochs.get(row["id"]) == row["epoch"]}
    guided = {row["id"]: row["guided"] for row in rows if row["guided"]}
    return HeartbeatReply(statuses=statuses, guided=guided, lost=epochs.keys() - statuses.keys())


def without_driver(live: Iterable[Debate | None], now: float, is_dead: Callable[[str], bool]) -> list[Debate]:
    return [
        debate
        for debate in live
        if debate and (debate.owner is None or (debate.lease_until or 0) <= now or is_dead(debate.owner))
    ]


def token_values(token: AccessToken) -> dict[str, Any]:
    return stored(token, TOKEN, TOKEN_TEXTS)


def token_of(row: Row) -> AccessToken:
    return AccessToken(**loaded(row, TOKEN, TOKEN_TEXTS))


def key_of(row: Row) -> IdempotencyKey:
    return IdempotencyKey(debate_id=row["session_id"], **picked(row, fields_without(IdempotencyKey, "debate_id")))


def vector_of(row: Row) -> Vector:
    return Vector(
        place=row["id"],
        debate_id=row["session_id"],
        decided=bool(row["decided"]),
        demonstration=bool(row["demonstration"]),
        embedding=row["embedding"],
    )


def tombstone_of(row: Row) -> Tombstone:
    return Tombstone(**picked(row, fields_without(Tombstone)))


def the_tombstone(found: Sequence[Tombstone], prefix: str) -> Tombstone | None:
    """The one with this id, or the only one whose id starts so."""
    return next((each for each in found if each.id == prefix or (prefix and len(found) == 1)), None)


def missing(debate_id: str, tombstone: Tombstone | None) -> NoSuchDebate:
    """The error for an id, or the beginning of one, that no debate has."""
    if tombstone is None:
        return NoSuchDebate(debate_id)
    return DebateDeleted(tombstone.id, tombstone.deleted_at, tombstone.deleted_by)
