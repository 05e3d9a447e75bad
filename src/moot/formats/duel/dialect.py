"""The events of a duel for clients that read it as HEADER, PLAN, THINK, TURN, SCORE, VERDICT, in that order of stages.
Only shapes change; the order is the one in which the rules show them."""

from __future__ import annotations

from typing import Any, cast

from moot.reasoning.verdict import SIDES
from moot.types import Debate, Event, Json, Turn

_WORDS = ("PLAN", "THINK", "TURN")


def spoken(event: Event, debate: Debate) -> Json | None:
    """An event as such a client reads it; None: it knows no such thing."""
    turn, names = event.turn, {seat.id: seat.name for seat in debate.cast}
    if event.type == "HEADER":
        told = {name: event.data.get(name) for name in ("topic", "premise", "turns", "debaters", "judge")}
        return {"type": "HEADER", **told}
    if event.type in _WORDS and turn is not None:
        return {"type": event.type, "speaker": names.get(turn.seat, turn.seat), "text": turn.content}
    if event.type == "SCORE" and turn is not None:
        return {"type": "SCORE", "judge": names.get(turn.seat, turn.seat), **_score(turn, names)}
    if event.type == "VERDICT":
        return {"type": "VERDICT", **_verdict(event.data, names)}
    return None


def _score(turn: Turn, names: dict[str, str]) -> Json:
    """A's statements have odd numbers. A score that was not valid is none."""
    given = turn.data or {}
    speaker = names.get(SIDES[(turn.round + 1) % 2], "")
    return {"speaker": speaker, "score": given.get("score"), "reasoning": given.get("reasoning", turn.content)}


def _verdict(outcome: Json, names: dict[str, str]) -> Json:
    winner = str(outcome.get("winner", ""))
    scores = cast("dict[str, Any]", outcome.get("scores") or {})
    details = cast("dict[str, Any]", outcome.get("details") or {})
    told: Json = {
        "winner": names.get(winner, winner),
        "scores": {names.get(side, side): score for side, score in scores.items()},
        "reasoning": outcome.get("statement") or outcome.get("reason") or "",
    }
    if details.get("premise"):
        told["premise_upheld"] = details.get("premise_upheld")
    return told
