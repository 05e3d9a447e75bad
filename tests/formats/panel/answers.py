"""Answers for a whole panel."""

from __future__ import annotations

from tests.playing import play, script_of

TOPIC = "Should we use Redis or PostgreSQL for caching?"


def analysis(**changes):
    base = {
        "framing": "Redis or PostgreSQL as a cache?",
        "domain": "architecture",
        "constraints": [],
        "debaters": 2,
        "perspectives": ["Performance Advocate", "Operational Simplicity"],
        "clarifying_question": "",
    }
    return {**base, **changes}


def framing(**changes):
    given = analysis(**changes)
    del given["clarifying_question"]
    return given


def rebuttal(position="hold", to="", text="I answer.", recommendation=None):
    recommended = recommendation or f"Do it ({position})."
    return {"rebuttal": text, "recommendation": recommended, "position": position, "concedes_to": to}


def assessment(state="new_ground", **changes):
    base = {"summary": "Both spoke.", "state": state, "off_topic": [], "redirect": "Look at cost.", "mute": []}
    return {**base, **changes}


SYNTHESIS = {
    "recommendation": "Start with PostgreSQL.",
    "confidence": "High",
    "caveats": ["Until load grows."],
    "agreements": ["Caching is needed."],
    "tensions": ["Latency."],
    "dissent": "",
}


NOT_MEASURED = {"scores": [], "by": "", "note": ""}


def alike(*scores):
    """The scores of an embedder; the last one repeats."""

    def answer(step):
        given = [scores[min(at, len(scores) - 1)] for at in range(len(step.pairs))]
        return {"scores": given, "by": "offline", "note": ""}

    return answer


def answers(**by_phase):
    """Valid answers; a callable or a value for a phase replaces them."""
    fresh = iter(range(10_000))

    def answer(step):
        given = by_phase.get(step.phase)
        if given is not None:
            return given(step) if callable(given) else given
        return {
            "analyze": analysis(),
            "frame": framing(),
            "rebut": rebuttal(),
            "evaluate": assessment(),
            "synthesize": SYNTHESIS,
            "checkpoint": {"choice": "continue", "text": ""},
            "clarify": {"text": "For sessions."},
            "compare": NOT_MEASURED,
        }.get(step.phase) or " ".join(f"{step.seat.id}w{next(fresh)}" for _ in range(12))

    return answer


def run(answer=None, **options):
    return play(script_of("panel", topic=TOPIC, **options), answer or answers())


THREE = analysis(debaters=3, perspectives=["Performance Advocate", "Operational Simplicity", "Cost Steward"])
