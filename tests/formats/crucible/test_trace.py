"""The trace of a crucible, and its events for clients of its own protocol."""

from __future__ import annotations

from dataclasses import replace

from moot.core.types import Event
from moot.formats.crucible.dialect import CrucibleDialect
from moot.formats.crucible.trace import Trace, trace_of
from tests.formats.crucible.answers import BAD, STUCK, TOPIC, critique, marked, run
from tests.playing import debate_of, finished

DIALECT = CrucibleDialect()


def timed(played):
    """The turns, each of a tenth of a second, one after the other."""
    return [
        replace(turn, duration_ms=100, started_at=float(turn.seq), created_at=turn.seq + 0.1, raw=turn.raw)
        for turn in played.turns
    ]


def test_the_trace_has_the_documents_fields_and_is_computed_from_turns():
    played = run(STUCK, BAD, critique(score=9, ready=True, earlier=marked(i1="resolved")))
    debate = replace(finished("crucible", played, TOPIC), created_at=86_400.0, user_rating=4)
    trace = trace_of(debate, timed(played))
    assert list(trace) == list(Trace.__dataclass_fields__)
    assert (trace["created_at"], trace["query"]) == ("1970-01-02T00:00:00+00:00", TOPIC)
    assert trace["templates_used"] == ("contradiction", "descent")
    assert trace["final_answer"] == "The final answer."
    assert (trace["total_rounds"], trace["early_stopped"], trace["user_rating"]) == (3, True, 4)
    assert (trace["quality_score"], trace["auto_score"]) == (9, 9)
    assert trace["models"] == {
        "proposer": "scripted:none",
        "skeptic": "scripted:none",
        "synthesizer": "scripted:none",
        "embedding": "bm25",
    }
    assert trace["timing"] == {"total_ms": 800, "rag_ms": 100, "rounds_ms": (200, 200, 200), "synthesis_ms": 100}
    first = trace["rounds"][0]
    assert (first["round"], first["proposer_response"], first["proposer_duration_ms"]) == (
        1,
        "Answer 1 of the proposer.",
        100,
    )
    assert trace["rounds"][1]["skeptic_response"] == BAD.message


def test_a_trace_of_a_debate_that_is_not_over_has_what_there_is():
    played = run(STUCK)
    trace = trace_of(debate_of("crucible", topic=TOPIC), timed(played)[:2])
    assert (trace["total_rounds"], trace["final_answer"], trace["auto_score"]) == (1, "", None)
    assert trace["rounds"][0]["skeptic_response"] == ""
    assert trace_of(debate_of("crucible", topic=TOPIC), [])["rounds"] == ()


def test_the_dialect_of_what_is_in_flight_and_of_failures():
    assert DIALECT.chunk("propose", 1, "Hello") == {"type": "proposer_chunk", "round": 1, "content": "Hello"}
    assert DIALECT.chunk("defend", 2, " ") == {"type": "proposer_chunk", "round": 2, "content": " "}
    assert DIALECT.chunk("critique", 2, "{") == {"type": "skeptic_chunk", "round": 2, "content": "{"}
    assert DIALECT.chunk("synthesize", 3, "So") == {"type": "synthesis_chunk", "content": "So"}
    assert DIALECT.chunk("rag", 0, "x") is None
    failed = Event(seq=1, type="status", key="", data={"status": "failed", "error": "No server."}, created_at=0.0)
    debate = debate_of("crucible")
    assert DIALECT.event(failed, debate, None) == {"type": "error", "error": "No server."}
    assert DIALECT.event(replace(failed, data={"status": "running"}), debate, None) is None
    nothing = Event(seq=1, type="RAG", key="", data={"found": [], "by": ""}, created_at=0.0)
    assert DIALECT.event(nothing, debate, None) == {"type": "rag_complete", "templates": []}
