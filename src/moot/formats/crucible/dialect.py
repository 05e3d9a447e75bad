"""The events of a crucible for clients of its own protocol: rag_complete, round_start, proposer_chunk, …, complete.
Only names and shapes change."""

from __future__ import annotations

from typing import Any, cast

from moot.core.stage import VERDICT
from moot.core.types import Debate, Event, Json, Turn

_WHO = {"propose": "proposer", "defend": "proposer", "critique": "skeptic", "synthesize": "synthesis"}
_COMPLETE = {"TURN": "proposer_complete", "CRITIQUE": "skeptic_complete", "SYNTHESIS": "synthesis_complete"}


class CrucibleDialect:
    def event(self, event: Event, debate: Debate, trace: Json | None) -> Json | None:
        turn = event.turn
        if event.type == "RAG":
            found: Any = turn.data["found"] if turn and turn.data else event.data.get("found", [])
            return {"type": "rag_complete", "templates": [_camel(each) for each in found]}
        if event.type == "ROUND":
            return {"type": "round_start", "round": event.data["round"]}
        if event.type in _COMPLETE and turn is not None:
            words = turn.content if turn.failure is None else turn.written
            return {"type": _COMPLETE[event.type], **_round(turn), "content": words, "durationMs": turn.duration_ms}
        if event.type == "ENDING":
            return {"type": "synthesis_start"}
        if event.type == VERDICT:
            return {"type": "complete", "trace": _camel(trace or {})}
        if event.type == "status" and event.data.get("status") == "failed":
            return {"type": "error", "error": str(event.data.get("error", ""))}
        return None

    def chunk(self, phase: str, round: int, text: str) -> Json | None:
        who = _WHO.get(phase)
        if who is None:
            return None
        return {"type": f"{who}_chunk", **({} if who == "synthesis" else {"round": round}), "content": text}


def _round(turn: Turn) -> Json:
    return {} if turn.phase == "synthesize" else {"round": turn.round}


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {_name(str(name)): _camel(inner) for name, inner in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_camel(inner) for inner in cast("list[Any]", value)]
    return value


def _name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
