"""Past decisions that a search has found."""

from __future__ import annotations

from moot.core.types import record
from moot.memory.decisions import headline
from moot.memory.past import PastDebate


@record
class Match:
    """A completed debate that fits a search. `moot.get(match.id)` has the whole of it."""

    id: str
    topic: str
    format: str
    decision: str  # the answer in one sentence
    score: float  # 0 to 1
    demonstration: bool  # a demonstration model took part: the decision means nothing
    completed_at: float | None

    @classmethod
    def of(cls, past: PastDebate) -> Match:
        debate = past.debate
        return cls(
            id=debate.id,
            topic=debate.topic,
            format=debate.format,
            decision=headline(debate),
            score=round(past.score, 4),
            demonstration=past.demonstration,
            completed_at=debate.completed_at,
        )
