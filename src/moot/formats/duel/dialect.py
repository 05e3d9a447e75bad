"""The events of a duel for clients of its own protocol: HEADER, PLAN, THINK, TURN, SCORE, VERDICT. Only shapes change;
the order is that of the rules."""

from __future__ import annotations

from moot.core.stage import HEADER, VERDICT
from moot.core.types import Debate, Event, Json, Outcome, Turn

_WORDS = ("PLAN", "THINK", "TURN")
_FACTS = ("topic", "premise", "turns", "debaters", "judge")


class DuelDialect:
    def event(self, event: Event, debate: Debate, trace: Json | None) -> Json | None:
        turn, names = event.turn, debate.names
        if event.type == HEADER:
            return {"type": "HEADER", **{name: event.data.get(name) for name in _FACTS}}
        if event.type in _WORDS and turn is not None:
            return {"type": event.type, "speaker": names.get(turn.seat, turn.seat), "text": turn.content}
        if event.type == "SCORE" and turn is not None:
            return {"type": "SCORE", "judge": names.get(turn.seat, turn.seat), **_score(turn, names)}
        if event.type == VERDICT:
            return {"type": "VERDICT", **_verdict(Outcome.model_validate(event.data), names)}
        return None

    def chunk(self, phase: str, round: int, text: str) -> Json | None:
        return None


def _score(turn: Turn, names: dict[str, str]) -> Json:
    """The score is None if it was not valid."""
    given = turn.data or {}
    speaker = names.get(str(turn.metadata.get("of")), "")
    return {"speaker": speaker, "score": given.get("score"), "reasoning": given.get("reasoning", turn.content)}


def _verdict(outcome: Outcome, names: dict[str, str]) -> Json:
    verdict: Json = {
        "winner": names.get(outcome.winner, outcome.winner),
        "scores": {names.get(side, side): score for side, score in outcome.scores.items()},
        "reasoning": outcome.statement or outcome.reason,
    }
    if outcome.details["premise"]:
        verdict["premise_upheld"] = outcome.details["premise_upheld"]
    return verdict
