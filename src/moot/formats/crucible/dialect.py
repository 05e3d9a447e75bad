"""The events of a crucible under other names, for clients that read it as rag_complete, round_start, proposer_chunk, …,
complete. Only names and shapes change; nothing is kept and nothing is decided here."""

from __future__ import annotations

from typing import Any, cast

from moot.types import Event, Json, Turn

_WHO = {"propose": "proposer", "defend": "proposer", "critique": "skeptic", "synthesize": "synthesis"}
_COMPLETE = {"TURN": "proposer_complete", "CRITIQUE": "skeptic_complete", "SYNTHESIS": "synthesis_complete"}


def spoken(event: Event, trace: Json) -> Json | None:
    """An event as such a client reads it; None: it knows no such thing. `trace` is needed for VERDICT only."""
    turn = event.turn
    if event.type == "RAG":
        found: Any = turn.data["found"] if turn and turn.data else event.data.get("found", [])
        return {"type": "rag_complete", "templates": [_camel(each) for each in found]}
    if event.type == "ROUND":
        return {"type": "round_start", "round": event.data["round"]}
    if event.type in _COMPLETE and turn is not None:
        said = turn.content if turn.failure is None else turn.written
        return {"type": _COMPLETE[event.type], **_round(turn), "content": said, "durationMs": turn.duration_ms}
    if event.type == "ENDING":
        return {"type": "synthesis_start"}
    if event.type == "VERDICT":
        return {"type": "complete", "trace": _camel(trace)}
    if event.type == "status" and event.data.get("status") == "failed":
        return {"type": "error", "error": str(event.data.get("error", ""))}
    return None


def chunk(phase: str, round: int, content: str) -> Json | None:
    """New text of a step in flight."""
    who = _WHO.get(phase)
    if who is None:
        return None
    where = {} if who == "synthesis" else {"round": round}
    return {"type": f"{who}_chunk", **where, "content": content}


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
