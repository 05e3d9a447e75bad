"""The marks of an interview for clients that read nothing else."""

from __future__ import annotations

from moot.core.types import Debate, Event, Json


class InterviewDialect:
    def event(self, event: Event, debate: Debate, trace: Json | None) -> Json | None:
        if event.type != "MARKED" or event.turn is None or event.turn.data is None:
            return None
        return {"type": "mark", "question": event.turn.round, "mark": event.turn.data["mark"]}

    def chunk(self, phase: str, round: int, text: str) -> Json | None:
        return {"type": "words", "text": text} if phase == "reply" else None
