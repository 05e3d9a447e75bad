"""Between rows and nouns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from moot.types import Cursor, Debate, Event, Failure, Gate, SeatSpec, Turn, Usage

dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def optional(value: object) -> str | None:
    return None if value is None else dumps(value)


def failure_text(failure: Failure | None) -> str | None:
    return None if failure is None else dumps({"kind": failure.kind, "message": failure.message})


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


def turn_of(row: sqlite3.Row) -> Turn:
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


def event_of(row: sqlite3.Row) -> Event:
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


def gate_of(row: sqlite3.Row) -> Gate:
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
    }


def debate_of(row: sqlite3.Row) -> Debate:
    return Debate(
        id=row["id"],
        topic=row["topic"],
        format=row["format"],
        format_version=row["format_version"],
        status=row["status"],
        config=json.loads(row["config"]),
        cast=tuple(SeatSpec(**seat) for seat in json.loads(row["cast"])),
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
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        cost_usd=row["cost_usd"],
        lost=Usage(tokens_in=row["lost_tokens_in"], tokens_out=row["lost_tokens_out"], cost_usd=row["lost_cost_usd"]),
        error=_failure(row["error"]),
        outcome=_loads(row["outcome"]),
        user_rating=row["user_rating"],
        metadata=json.loads(row["metadata"]),
    )


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
