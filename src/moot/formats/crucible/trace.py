"""The trace of a crucible: what was said, by which models, in what time. It is computed on demand from the stored
debate and its turns, so that it has a later rating, and durations are no part of what replays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from moot.core.limits import Spent
from moot.core.types import Debate, Json, Recollection, Turn, record


@record
class TracedRound:
    round: int
    proposer_response: str
    skeptic_response: str
    proposer_duration_ms: int
    skeptic_duration_ms: int


@record
class TracedModels:
    proposer: str
    skeptic: str
    synthesizer: str
    embedding: str  # how the templates were found


@record
class Timing:
    total_ms: int  # while at least one step was running
    rag_ms: int
    rounds_ms: tuple[int, ...]
    synthesis_ms: int


@record
class Trace:
    id: str
    created_at: str
    query: str
    templates_used: tuple[str, ...]
    rounds: tuple[TracedRound, ...]
    final_answer: str
    total_rounds: int
    early_stopped: bool
    quality_score: int | None  # the skeptic's last valid score, 0 to 10
    user_rating: int | None
    auto_score: int | None  # that score, capped by the open issues
    models: TracedModels
    timing: Timing


def trace_of(debate: Debate, turns: Sequence[Turn]) -> Json:
    """The trace of a debate, finished or not."""
    return asdict(traced(debate, turns))


def traced(debate: Debate, turns: Sequence[Turn]) -> Trace:
    said = [turn for turn in turns if turn.failure is None or turn.failure.kind != "limit"]
    answers = {turn.round: turn for turn in said if turn.seat == "proposer"}
    critiques = {turn.round: turn for turn in said if turn.phase == "critique"}
    recalled = next((turn for turn in said if turn.phase == "rag"), None)
    found = Recollection.model_validate(recalled.data) if recalled and recalled.data else Recollection(by="")
    rounds = tuple(_round(number, answer, critiques.get(number)) for number, answer in sorted(answers.items()))
    outcome = debate.outcome
    details: Json = outcome.details if outcome else {}
    models = {seat.id: seat.model for seat in debate.cast}
    return Trace(
        id=debate.id,
        created_at=datetime.fromtimestamp(debate.created_at, UTC).isoformat(),
        query=debate.topic,
        templates_used=tuple(each.id for each in found.found),
        rounds=rounds,
        final_answer=outcome.statement if outcome else "",
        total_rounds=len(rounds),
        early_stopped=bool(details.get("early_stopped")),
        quality_score=details.get("quality_score"),
        user_rating=debate.user_rating,
        auto_score=details.get("auto_score"),
        models=TracedModels(
            proposer=models.get("proposer", ""),
            skeptic=models.get("skeptic", ""),
            synthesizer=models.get("synthesizer", ""),
            embedding=found.by,
        ),
        timing=Timing(
            total_ms=_running_ms(turns),
            rag_ms=recalled.duration_ms if recalled else 0,
            rounds_ms=tuple(each.proposer_duration_ms + each.skeptic_duration_ms for each in rounds),
            synthesis_ms=sum(turn.duration_ms for turn in said if turn.phase == "synthesize"),
        ),
    )


def _round(number: int, answer: Turn, critique: Turn | None) -> TracedRound:
    return TracedRound(
        round=number,
        proposer_response=answer.content,
        skeptic_response=_critique_text(critique),
        proposer_duration_ms=answer.duration_ms,
        skeptic_duration_ms=critique.duration_ms if critique else 0,
    )


def _critique_text(critique: Turn | None) -> str:
    """What the skeptic wrote, valid or not."""
    if critique is None:
        return ""
    return critique.content if critique.failure is None else critique.written


def _running_ms(turns: Sequence[Turn]) -> int:
    spent = Spent()
    for turn in turns:
        if turn.kind not in ("gate", "guidance"):  # waiting for a person is not running
            spent.add(turn)
    return round(spent.seconds * 1000)
