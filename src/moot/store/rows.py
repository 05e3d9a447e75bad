"""Conversion between rows and records. All backends have the same columns, and store JSON as text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol

from moot.core.errors import DebateDeleted, InputError, NoSuchDebate
from moot.core.types import (
    Cursor,
    Debate,
    Event,
    Failure,
    Gate,
    Json,
    Outcome,
    Sampling,
    SeatSpec,
    Shown,
    Turn,
    Usage,
)
from moot.store import AccessToken, Commit, HeartbeatReply, IdempotencyKey, Page, PageQuery, Tombstone


class Row(Protocol):
    def __getitem__(self, name: str, /) -> Any: ...


dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def fields_without(record: type, *names: str) -> tuple[str, ...]:
    """Names of the record's fields, but for these: columns that hold the value as it is."""
    return tuple(each.name for each in fields(record) if each.name not in names)


def picked(row: Row, names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


TURN = fields_without(Turn, "data", "failure", "metadata")
GATE = fields_without(Gate, "debate_id", "choices", "artifacts", "decision")
DEBATE = fields_without(Debate, "config", "cast", "cursor", "alone", "lost", "error", "outcome", "metadata")
_TOKEN = fields_without(AccessToken, "scopes")
_turn_values = attrgetter(*TURN)

TURN_COLUMNS = ("session_id", *TURN, "data", "failure", "metadata")  # in the order of `turn_row`


def turn_row(turn: Turn, debate_id: str) -> tuple[Any, ...]:
    metadata = dumps(turn.metadata) if turn.metadata else "{}"
    return (debate_id, *_turn_values(turn), _optional(turn.data), _failure_json(turn.failure), metadata)


def turn_of(row: Row) -> Turn:
    return Turn(
        data=_loads(row["data"]),
        failure=_failure(row["failure"]),
        metadata=json.loads(row["metadata"]),
        **picked(row, TURN),
    )


def event_row(debate_id: str, seq: int, event: Shown, now: float) -> tuple[str, int, str, str, str, float]:
    return (debate_id, seq, event.type, event.key, dumps(event.data) if event.data else "{}", now)


def event_of(row: Row) -> Event:
    return Event(
        seq=row["event_seq"],
        type=row["event_type"],
        key=row["event_key"],
        data=json.loads(row["event_data"]),
        created_at=row["event_created_at"],
        turn=None if row["session_id"] is None else turn_of(row),
    )


def numbered(first: int, events: Sequence[Shown], now: float) -> list[Event]:
    """The events as they are stored, with sequence numbers from `first` on."""
    return [
        Event(seq=seq, type=event.type, key=event.key, data=event.data, created_at=now, turn=event.turn)
        for seq, event in enumerate(events, first)
    ]


def gate_values(gate: Gate) -> Mapping[str, Any]:
    return {
        "session_id": gate.debate_id,
        "key": gate.key,
        "kind": gate.kind,
        "question": gate.question,
        "choices": dumps(gate.choices),
        "artifacts": dumps(gate.artifacts),
        "expires_at": gate.expires_at,
    }


def gate_of(row: Row) -> Gate:
    return Gate(
        debate_id=row["session_id"],
        choices=tuple(json.loads(row["choices"])),
        artifacts=json.loads(row["artifacts"]),
        decision=_loads(row["decision"]),
        **picked(row, GATE),
    )


def session_values(debate: Debate) -> Mapping[str, Any]:
    return {
        "id": debate.id,
        "topic": debate.topic,
        "format": debate.format,
        "format_version": debate.format_version,
        "status": debate.status,
        "config": dumps(debate.config),
        "cast": dumps([_seat_values(seat) for seat in debate.cast]),
        "initiated_by": debate.initiated_by,
        "token_id": debate.token_id,
        "total_rounds": debate.total_rounds,
        "metadata": dumps(debate.metadata),
        "parent_id": debate.parent_id,
        "forked_at": debate.forked_at,
        "guided": debate.guided,
    }


def creation_values(debate: Debate, turns: Sequence[Turn], events: Sequence[Shown], now: float) -> dict[str, Any]:
    """Values of a new session, with the totals of the turns and events it is created with."""
    return {**session_values(debate), "now": now, "last_seq": len(events), "turn_count": len(turns), **_used(turns)}


def seen_values(seen: Debate | None) -> Mapping[str, Any]:
    """Values for the optimistic check of a change: together they differ after anything that happens to a debate."""
    return {
        "seen_epoch": None if seen is None else seen.epoch,
        "seen_seq": None if seen is None else seen.last_seq,
        "seen_status": None if seen is None else seen.status,
        "seen_at": None if seen is None else seen.updated_at,
    }


def debate_of(row: Row) -> Debate:
    return Debate(
        config=json.loads(row["config"]),
        cast=_cast(row["cast"]),
        cursor=Cursor(open=_keys(row["open_keys"]), next_round=row["next_round"], next_actor=row["next_actor"]),
        alone=bool(row["alone"]),
        lost=Usage(tokens_in=row["lost_tokens_in"], tokens_out=row["lost_tokens_out"], cost_usd=row["lost_cost_usd"]),
        error=_failure(row["error"]),
        outcome=None if row["outcome"] is None else Outcome.model_validate_json(row["outcome"]),
        metadata=json.loads(row["metadata"]),
        **picked(row, DEBATE),
    )


def listed(row: Row) -> Debate:
    """The debate of a row. One that can't be read is listed with the reason, so that it hides no other."""
    try:
        return debate_of(row)
    except (ValueError, TypeError, KeyError, AttributeError):
        damaged = [name for name in ("config", "cast", "error", "outcome", "metadata") if not _is_readable(row, name)]
        problem = f"can't be read: {' and '.join(damaged) or 'its row'} in the database is damaged"
        error = Failure(kind="error", message=f"This debate {problem}. Restore it from a backup.")
        listed = Debate(config={}, cast=(), error=error, **picked(row, DEBATE))
        return replace(listed, topic=f"({problem}) {listed.topic}")


def _is_readable(row: Row, name: str) -> bool:
    try:
        match name:
            case "cast":
                _cast(row[name])
            case "error":
                _failure(row[name])
            case "outcome":
                _ = None if row[name] is None else Outcome.model_validate_json(row[name])
            case _:
                return isinstance(json.loads(row[name]), dict)
    except (ValueError, TypeError, KeyError, AttributeError):
        return False
    return True


@lru_cache(maxsize=256)  # most debates have one of a few casts
def _cast(text: str) -> tuple[SeatSpec, ...]:
    return tuple(_seat_of(values) for values in json.loads(text))


def _seat_of(values: Json) -> SeatSpec:
    return SeatSpec(sampling=Sampling(**values.pop("sampling")), **values)


def _seat_values(seat: SeatSpec) -> dict[str, Any]:
    return {each.name: getattr(seat, each.name) for each in fields(seat)} | {"sampling": seat.sampling.given}


def _keys(text: str) -> tuple[str, ...]:
    """Open keys of a cursor; none when they can't be read, as the cursor is derived from the turns anyway."""
    try:
        keys = json.loads(text)
    except ValueError:
        return ()
    return tuple(str(key) for key in keys) if isinstance(keys, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _loads(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _optional(value: object) -> str | None:
    return None if value is None else dumps(value)


def _failure(text: str | None) -> Failure | None:
    return None if text is None else Failure(**json.loads(text))


def _failure_json(failure: Failure | None) -> str | None:
    return None if failure is None else dumps({"kind": failure.kind, "message": failure.message})


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
        "turns": len(commit.turns),
        **_used(commit.turns),
    }


def ending_values(commit: Commit) -> dict[str, Any]:
    """Values that only some commits change: those that end a debate, release it, or report lost usage."""
    lost = commit.lost
    return {
        "status": commit.status,
        "outcome": None if commit.outcome is None else commit.outcome.model_dump_json(),
        "error": _failure_json(commit.error),
        "lost_tokens_in": 0 if lost is None else lost.tokens_in,
        "lost_tokens_out": 0 if lost is None else lost.tokens_out,
        "lost_cost_usd": 0.0 if lost is None else lost.cost_usd,
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


def page_query(matches: str, query: PageQuery) -> tuple[str, Mapping[str, Any]]:
    """Filters for page.sql, and their values. Only filters in use are named, so that the index made for them is walked.
    `matches`: the backend's expression for `contains`. One row more than `limit` is asked for: see `page_of`."""
    created_at, last_id = _read_page_mark(query.get("after"))
    filters = {
        "status": "status = :status",
        "format": "format = :format",
        "parent": "parent_id = :parent",
        "token": "token_id = :token",
        "contains": matches,
    }
    values: dict[str, Any] = {name: query.get(name) for name in filters}
    used = [text for name, text in filters.items() if values[name] is not None]
    used += ["(created_at, id) < (:created_at, :id)"] if created_at is not None else []
    values |= {"created_at": created_at, "id": last_id, "limit": query.get("limit", 20) + 1}
    return "".join(f" and {each}" for each in used), values


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


def without_driver(live: Iterable[Debate], now: float, is_dead: Callable[[str], bool]) -> list[Debate]:
    return [
        debate for debate in live if debate.owner is None or (debate.lease_until or 0) <= now or is_dead(debate.owner)
    ]


def token_values(token: AccessToken) -> Mapping[str, Any]:
    return {**{name: getattr(token, name) for name in _TOKEN}, "scopes": dumps(token.scopes)}


def token_of(row: Row) -> AccessToken:
    return AccessToken(scopes=tuple(json.loads(row["scopes"])), **picked(row, _TOKEN))


def key_of(row: Row) -> IdempotencyKey:
    return IdempotencyKey(key=row["key"], hash=row["hash"], debate_id=row["session_id"], response=row["response"])


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
