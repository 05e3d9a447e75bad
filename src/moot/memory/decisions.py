"""What memory keeps of a completed debate: its question and its outcome."""

from __future__ import annotations

from datetime import UTC, datetime

from moot.core.types import Debate, Json
from moot.reasoning.bm25 import words
from moot.reasoning.fence import clean, one_line, shorten
from moot.store import MemoryEntry

MAX_TOPIC_CHARS = 2000
MAX_STATEMENT_CHARS = 2000
MAX_NAME_CHARS = 60


def is_decided(debate: Debate) -> bool:
    return debate.outcome is not None and debate.outcome.decided


def headline(debate: Debate) -> str:
    return one_line(debate.outcome.headline) if debate.outcome else ""


def statement(debate: Debate) -> str:
    """The recommendation, or else the ruling."""
    text = debate.outcome.recommendation if debate.outcome else ""
    return shorten(clean(text).strip(), MAX_STATEMENT_CHARS)


def topic(debate: Debate) -> str:
    return shorten_topic(debate.topic)


def shorten_topic(topic: str) -> str:
    return shorten(clean(topic).strip(), MAX_TOPIC_CHARS)


def text(debate: Debate) -> str:
    """The text that a search compares."""
    return "\n".join(part for part in (topic(debate), headline(debate), statement(debate)) if part)


def memory_entry(
    debate: Debate, *, demonstration: bool, embedder: str = "", embedding: bytes | None = None
) -> MemoryEntry:
    return MemoryEntry(
        debate_id=debate.id,
        words=words(text(debate)),
        decided=is_decided(debate),
        demonstration=demonstration,
        embedder=embedder if embedding is not None else "",
        embedding=embedding,
    )


def precedent(debate: Debate, score: float, by: str) -> Json:
    """This decision as the metadata of a new debate keep it."""
    return {
        "id": debate.id,
        "topic": topic(debate),
        "decided_at": debate.completed_at,
        "asked_by": one_line(debate.initiated_by, MAX_NAME_CHARS),
        "headline": headline(debate),
        "text": statement(debate),
        "likeness": round(score, 3),
        "by": by,
    }


def source(debate: Debate) -> str:
    """Where a recalled decision comes from, in one line."""
    day = datetime.fromtimestamp(debate.completed_at or 0, UTC).date().isoformat()
    who = one_line(debate.initiated_by, MAX_NAME_CHARS)
    return f"From debate {debate.short}, decided on {day}{f', asked by {who}' if who else ''}."


def precedent_notice(precedent: Json) -> str:
    """A precedent in one sentence."""
    day = datetime.fromtimestamp(precedent["decided_at"] or 0, UTC).date().isoformat()
    question = " ".join(precedent["topic"].split())
    question = question if len(question) <= 160 else f"{question[:159]}…"
    who = f", asked by {precedent['asked_by']}" if precedent.get("asked_by") else ""
    when = f"in {precedent['id'][:8]} on {day}{who}"
    return f"A question much like this was decided before, {when}: “{question}” {precedent['headline']}"
