"""Between rows and nouns. Every backend has the same columns, and keeps JSON as text: replay compares bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, Protocol

from moot.errors import InputError
from moot.store import AccessToken, Commit, Reservation
from moot.types import Cursor, Debate, Event, Failure, Gate, SeatSpec, Shown, Turn, Usage


class Row(Protocol):
    def __getitem__(self, name: str, /) -> Any: ...


dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def optional(value: object) -> str | None:
    return None if value is None else dumps(value)


def failure_text(failure: Failure | None) -> str | None:
    return None if failure is None else dumps({"kind": failure.kind, "message": failure.message})


# In the order of `turn_row`.
# fmt: off
TURN_COLUMNS = (
    "id", "session_id", "seq", "key", "kind", "round", "phase", "agent_id", "agent_role", "provider", "model",
    "content", "raw", "data", "failure", "confidence", "tool_calls", "test_results", "reflections", "metadata",
    "tokens_in", "tokens_out", "tokens_cached", "cost_usd", "finish_reason", "duration_ms", "response_time_ms",
    "prompt", "prompt_hash", "started_at", "created_at",
)
# fmt: on


def turn_row(turn: Turn, turn_id: str, session_id: str) -> tuple[Any, ...]:
    return (
        turn_id,
        session_id,
        turn.seq,
        turn.key,
        turn.kind,
        turn.round,
        turn.phase,
        turn.seat,
        turn.role,
        turn.provider,
        turn.model,
        turn.content,
        turn.raw,
        optional(turn.data),
        failure_text(turn.failure),
        turn.confidence,
        optional(turn.tool_calls),
        optional(turn.test_results),
        optional(turn.reflections),
        dumps(turn.metadata) if turn.metadata else "{}",
        turn.tokens_in,
        turn.tokens_out,
        turn.tokens_cached,
        turn.cost_usd,
        turn.finish_reason,
        turn.duration_ms,
        turn.response_time_ms,
        turn.prompt,
        turn.prompt_hash,
        turn.started_at,
        turn.created_at,
    )


def turn_of(row: Row) -> Turn:
    return Turn(
        key=row["key"],
        seq=row["seq"],
        kind=row["kind"],
        round=row["round"],
        phase=row["phase"],
        seat=row["agent_id"],
        role=row["agent_role"],
        content=row["content"],
        raw=row["raw"],
        data=_loads(row["data"]),
        failure=_failure(row["failure"]),
        model=row["model"],
        provider=row["provider"],
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        tokens_cached=row["tokens_cached"],
        cost_usd=row["cost_usd"],
        finish_reason=row["finish_reason"],
        duration_ms=row["duration_ms"],
        response_time_ms=row["response_time_ms"],
        prompt=row["prompt"],
        prompt_hash=row["prompt_hash"],
        started_at=row["started_at"],
        created_at=row["created_at"],
        metadata=json.loads(row["metadata"]),
        confidence=row["confidence"],
        tool_calls=_loads(row["tool_calls"]),
        test_results=_loads(row["test_results"]),
        reflections=_loads(row["reflections"]),
    )


def event_of(row: Row) -> Event:
    return Event(
        seq=row["event_seq"],
        type=row["event_type"],
        key=row["event_key"],
        data=json.loads(row["event_data"]),
        created_at=row["event_created_at"],
        turn=None if row["session_id"] is None else turn_of(row),
    )


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
        key=row["key"],
        kind=row["kind"],
        question=row["summary"],
        choices=tuple(json.loads(row["options"])),
        artifacts=json.loads(row["artifacts"]),
        status=row["status"],
        requested_at=row["requested_at"],
        expires_at=row["expires_at"],
        decision=_loads(row["decision"]),
        reviewer=row["reviewer"],
        decided_at=row["decided_at"],
    )


def session_values(debate: Debate) -> Mapping[str, Any]:
    return {
        "id": debate.id,
        "topic": debate.topic,
        "format": debate.format,
        "format_version": debate.format_version,
        "status": debate.status,
        "config": dumps(debate.config),
        "cast": dumps([_seat_json(seat) for seat in debate.cast]),
        "initiated_by": debate.initiated_by,
        "total_rounds": debate.total_rounds,
        "metadata": dumps(debate.metadata),
        "parent_id": debate.parent_id,
        "forked_at": debate.forked_at,
        "guided": debate.guided,
    }


def seen_values(seen: Debate | None) -> Mapping[str, Any]:
    """What changes whenever something happens to a debate."""
    return {
        "seen_epoch": None if seen is None else seen.epoch,
        "seen_seq": None if seen is None else seen.last_seq,
        "seen_status": None if seen is None else seen.status,
        "seen_at": None if seen is None else seen.updated_at,
    }


def debate_of(row: Row) -> Debate:
    return Debate(
        id=row["id"],
        topic=row["topic"],
        format=row["format"],
        format_version=row["format_version"],
        status=row["status"],
        config=json.loads(row["config"]),
        cast=_cast(row["cast"]),
        cursor=Cursor(open=_keys(row["open_keys"]), next_round=row["next_round"], next_actor=row["next_actor"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        started_at=row["started_at"],
        completed_at=row["completed_at"],
        initiated_by=row["initiated_by"],
        parent_id=row["parent_id"],
        forked_at=row["forked_at"],
        epoch=row["epoch"],
        owner=row["owner"],
        lease_until=row["lease_until"],
        turn_count=row["turn_count"],
        shown_count=row["shown_count"],
        last_seq=row["last_seq"],
        total_rounds=row["total_rounds"],
        guided=row["guided"],
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        cost_usd=row["cost_usd"],
        lost=Usage(tokens_in=row["lost_tokens_in"], tokens_out=row["lost_tokens_out"], cost_usd=row["lost_cost_usd"]),
        error=_failure(row["error"]),
        outcome=_loads(row["outcome"]),
        user_rating=row["user_rating"],
        metadata=json.loads(row["metadata"]),
    )


@lru_cache(maxsize=256)  # most debates have one of the same few casts
def _cast(text: str) -> tuple[SeatSpec, ...]:
    return tuple(SeatSpec(**seat) for seat in json.loads(text))


def _seat_json(seat: SeatSpec) -> dict[str, Any]:
    return {each.name: getattr(seat, each.name) for each in fields(seat)}


def _loads(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _failure(text: str | None) -> Failure | None:
    return None if text is None else Failure(**json.loads(text))


def _keys(text: str) -> tuple[str, ...]:
    """A cursor that can't be read is no cursor: it is derived from the turns anyway."""
    try:
        keys = json.loads(text)
    except ValueError:
        return ()
    return tuple(str(key) for key in keys) if isinstance(keys, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def step_values(commit: Commit, now: float) -> dict[str, Any]:
    """What every commit changes of its session."""
    cursor, turns = commit.cursor, commit.turns
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
        "turns": len(turns),
        "tokens_in": sum([turn.tokens_in for turn in turns]),
        "tokens_out": sum([turn.tokens_out for turn in turns]),
        "cost_usd": sum_of([turn.cost_usd for turn in turns]),
    }


def ending_values(commit: Commit) -> dict[str, Any]:
    """What only some commits change."""
    lost = commit.lost
    return {
        "status": commit.status,
        "outcome": optional(commit.outcome),
        "error": failure_text(commit.error),
        "lost_tokens_in": 0 if lost is None else lost.tokens_in,
        "lost_tokens_out": 0 if lost is None else lost.tokens_out,
        "lost_cost_usd": 0.0 if lost is None else lost.cost_usd,
        "release": commit.release,
    }


def sum_of(costs: Sequence[float | None]) -> float | None:
    """Not known as soon as one of them is not."""
    return None if None in costs else sum([cost or 0.0 for cost in costs])


def new_id(now: float) -> str:
    """A UUID of version 7: ids made later sort later, which keeps the index small and warm."""
    text = f"{int(now * 1000):012x}7{random.getrandbits(12):03x}{0x8 << 60 | random.getrandbits(62):016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def event_row(debate_id: str, seq: int, event: Shown, now: float) -> tuple[str, int, str, str, str, float]:
    return (debate_id, seq, event.type, event.key, dumps(event.data) if event.data else "{}", now)


def numbered(seq: int, event: Shown, now: float) -> Event:
    return Event(seq=seq, type=event.type, key=event.key, data=event.data, created_at=now, turn=event.turn)


def page_mark(last: Debate) -> str:
    return f"{last.created_at!r}/{last.id}"


def read_page_mark(after: str | None) -> tuple[float | None, str | None]:
    if after is None:
        return None, None
    created_at, _, last_id = after.partition("/")
    try:
        return float(created_at), last_id
    except ValueError:
        raise InputError(f"{after!r} is not a page mark. Use the `next` of the page before, unchanged.") from None


def token_values(token: AccessToken) -> Mapping[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "hash": token.hash,
        "scopes": dumps(token.scopes),
        "parent": token.parent,
        "expires_at": token.expires_at,
    }


def token_of(row: Row) -> AccessToken:
    return AccessToken(
        id=row["id"],
        name=row["name"],
        hash=row["hash"],
        scopes=tuple(json.loads(row["scopes"])),
        parent=row["parent"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
    )


def reservation_of(row: Row) -> Reservation:
    return Reservation(key=row["key"], hash=row["hash"], debate_id=row["session_id"], response=row["response"])
