"""What is remembered of a completed debate: its question, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from moot.reasoning.bm25 import words
from moot.reasoning.fence import clean, shorten
from moot.store import Memorized
from moot.types import Debate, Json

MAX_TOPIC_CHARS = 2000
MAX_STATEMENT_CHARS = 2000

_NO_DECISION = ("", "undecided", "tie")


def is_decided(debate: Debate) -> bool:
    return str(_outcome(debate).get("winner", "")) not in _NO_DECISION


def headline(debate: Debate) -> str:
    return " ".join(clean(str(_outcome(debate).get("headline", ""))).split())


def statement(debate: Debate) -> str:
    """What is recommended, or else the judge's own words."""
    outcome = _outcome(debate)
    record = _mapping(_mapping(outcome.get("details")).get("record"))
    said = record.get("recommendation") or outcome.get("statement") or ""
    return shorten(clean(str(said)).strip(), MAX_STATEMENT_CHARS)


def topic(debate: Debate) -> str:
    return shortly(debate.topic)


def shortly(topic: str) -> str:
    return shorten(clean(topic).strip(), MAX_TOPIC_CHARS)


def text(debate: Debate) -> str:
    """What a search looks at."""
    return "\n".join(part for part in (topic(debate), headline(debate), statement(debate)) if part)


def memorized(debate: Debate, *, demonstration: bool, embedder: str = "", embedding: bytes | None = None) -> Memorized:
    return Memorized(
        debate_id=debate.id,
        words=words(text(debate)),
        decided=is_decided(debate),
        demonstration=demonstration,
        embedder=embedder if embedding is not None else "",
        embedding=embedding,
    )


def earlier(debate: Debate, score: float, by: str) -> Json:
    """What a new debate is told of this one."""
    return {
        "id": debate.id,
        "topic": topic(debate),
        "decided_at": debate.completed_at,
        "headline": headline(debate),
        "text": statement(debate),
        "likeness": round(score, 3),
        "by": by,
    }


def decided_before(earlier: Json) -> str:
    """That, in a sentence for people."""
    day = datetime.fromtimestamp(earlier["decided_at"] or 0, UTC).date().isoformat()
    question = " ".join(earlier["topic"].split())
    question = question if len(question) <= 160 else f"{question[:159]}…"
    when = f"in {earlier['id'][:8]} on {day}"
    return f"A question much like this was decided before, {when}: “{question}” {earlier['headline']}"


def _outcome(debate: Debate) -> Mapping[str, Any]:
    return debate.outcome or {}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
