"""From nouns to what the API gives. Addresses with passwords are masked wherever a model or a setting is named."""

from __future__ import annotations

import time
from typing import Any, cast

from moot.app import App
from moot.config import masked, shown
from moot.runtime.owner import is_dead
from moot.server import schemas
from moot.server.markdown import html
from moot.types import Debate, Event, Failure, Gate, Json, SeatSpec, Status, Turn

_ACTIONS: dict[Status, tuple[schemas.Action, ...]] = {
    "pending": ("start", "cancel", "guide", "fork"),
    "running": ("stop", "cancel", "guide", "fork"),
    "waiting": ("answer", "stop", "cancel", "guide", "fork"),
    "stopping": ("cancel", "guide", "fork"),
    "stopped": ("resume", "cancel", "guide", "fork"),
    "failed": ("retry", "cancel", "guide", "fork"),
    "completed": ("fork", "rate", "record"),
    "canceled": ("fork",),
}


def is_interrupted(app: App, debate: Debate) -> bool:
    """It should be running, and nobody drives it. Where there are workers, one of them will."""
    if debate.status not in ("running", "stopping") or app.runtime.store.shared:
        return False
    return debate.owner is None or (debate.lease_until or 0.0) <= time.time() or is_dead(debate.owner)


def actions(app: App, debate: Debate) -> list[schemas.Action]:
    return [*(("resume",) if is_interrupted(app, debate) else ()), *_ACTIONS[debate.status]]


def summary(app: App, debate: Debate) -> schemas.DebateSummary:
    return schemas.DebateSummary(**_summary(app, debate))


def debate(app: App, debate: Debate, *, with_html: bool = False) -> schemas.Debate:
    return schemas.Debate(
        **_summary(app, debate),
        format_version=debate.format_version,
        settings=shown(debate.config),
        cast=[seat(each) for each in debate.cast],
        cursor=schemas.Cursor(
            open=list(debate.cursor.open),
            next_round=debate.cursor.next_round,
            next_actor=debate.cursor.next_actor,
        ),
        lost=schemas.Usage(
            tokens_in=debate.lost.tokens_in, tokens_out=debate.lost.tokens_out, cost_usd=debate.lost.cost_usd
        ),
        outcome=_outcome(debate.outcome, with_html=with_html),
    )


def _summary(app: App, debate: Debate) -> Json:
    outcome: Json = debate.outcome or {}
    usage = debate.usage
    return {
        "id": debate.id,
        "topic": debate.topic,
        "format": debate.format,
        "status": debate.status,
        "interrupted": is_interrupted(app, debate),
        "progress": progress(debate),
        "turns": debate.turn_count,
        "last_seq": debate.last_seq,
        "open": list(debate.cursor.open),
        "winner": outcome.get("winner"),
        "winner_name": _winner_name(debate, outcome),
        "headline": outcome.get("headline"),
        "user_rating": debate.user_rating,
        "demonstration": app.is_demonstration(debate),
        "error": failure(debate.error),
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost_usd": usage.cost_usd,
        "parent": debate.parent_id,
        "forked_at": debate.forked_at,
        "initiated_by": debate.initiated_by,
        "created_at": debate.created_at,
        "updated_at": debate.updated_at,
        "started_at": debate.started_at,
        "completed_at": debate.completed_at,
        "actions": actions(app, debate),
    }


def progress(debate: Debate) -> schemas.Progress:
    rounds, turns = debate.config.get("max_rounds"), debate.config.get("turns")
    if isinstance(rounds, int):
        return schemas.Progress(done=debate.total_rounds, of=rounds, unit="round")
    if isinstance(turns, int):
        return schemas.Progress(done=debate.total_rounds, of=turns, unit="turn")
    return schemas.Progress(done=debate.turn_count, of=None, unit="step")


def _winner_name(debate: Debate, outcome: Json) -> str | None:
    winner = str(outcome.get("winner"))
    details = cast(Json, outcome.get("details") or {})
    named = cast(Json, details.get("names") or {})
    if winner in named:
        return str(named[winner])
    return next((each.name for each in debate.cast if each.id == winner), None)


def _outcome(outcome: Json | None, *, with_html: bool) -> schemas.Outcome | None:
    if outcome is None:
        return None
    statement = str(outcome.get("statement") or "")
    told: Json = {**outcome, "html": html(statement) if with_html and statement else None}
    return schemas.Outcome(**told)


def seat(spec: SeatSpec) -> schemas.Seat:
    return schemas.Seat(
        id=spec.id,
        name=spec.name,
        role=spec.role,
        model=masked(spec.model),
        max_tokens=spec.max_tokens,
        temperature=spec.temperature,
    )


def failure(failure: Failure | None) -> schemas.Failure | None:
    return None if failure is None else schemas.Failure(kind=failure.kind, message=masked(failure.message))


def turn(turn: Turn, *, with_html: bool = False) -> schemas.Turn:
    return schemas.Turn(
        key=turn.key,
        seq=turn.seq,
        kind=turn.kind,
        round=turn.round,
        phase=turn.phase,
        seat=turn.seat,
        role=turn.role,
        content=turn.content,
        html=html(turn.content) if with_html else None,
        data=turn.data,
        failure=failure(turn.failure),
        model=masked(turn.model),
        provider=turn.provider,
        tokens_in=turn.tokens_in,
        tokens_out=turn.tokens_out,
        tokens_cached=turn.tokens_cached,
        cost_usd=turn.cost_usd,
        finish_reason=turn.finish_reason,
        duration_ms=turn.duration_ms,
        response_time_ms=turn.response_time_ms,
        prompt=turn.prompt,
        prompt_hash=turn.prompt_hash,
        started_at=turn.started_at,
        created_at=turn.created_at,
        metadata=shown(turn.metadata) if turn.metadata else {},
        confidence=turn.confidence,
        tool_calls=turn.tool_calls,
        test_results=turn.test_results,
        reflections=turn.reflections,
    )


def event(debate_id: str, event: Event, *, with_html: bool = False) -> schemas.Event:
    return schemas.Event(
        debate=debate_id,
        seq=event.seq,
        type=event.type,
        key=event.key,
        # What the runtime says can name models and their addresses; what the rules say is the debate itself.
        data=event.data if event.type.isupper() else shown(event.data),
        created_at=event.created_at,
        turn=None if event.turn is None else turn(event.turn, with_html=with_html),
    )


def gate(gate: Gate) -> schemas.Gate:
    return schemas.Gate(
        debate=gate.debate_id,
        key=gate.key,
        kind=gate.kind,
        question=gate.question,
        choices=list(gate.choices),
        artifacts=gate.artifacts,
        status=gate.status,
        requested_at=gate.requested_at,
        expires_at=gate.expires_at,
        decision=gate.decision,
        reviewer=gate.reviewer,
        decided_at=gate.decided_at,
    )


def json_of(view: Any) -> bytes:
    return view.model_dump_json().encode()
