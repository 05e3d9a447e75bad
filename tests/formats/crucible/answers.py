"""Answers for a whole crucible."""

from __future__ import annotations

from moot.core.types import Failure
from tests.playing import play, script_of

TOPIC = "Prove that the square root of 2 is irrational."


TEMPLATES = [
    {"id": "contradiction", "title": "Proof by Contradiction", "text": "Suppose the opposite.", "score": 2.5},
    {"id": "descent", "title": "Infinite Descent", "text": "Find a smaller one.", "score": 1.5},
]


FOUND = {"found": TEMPLATES, "by": "bm25", "note": ""}


def issue(severity="critical", problem="A step is missing.", about="p is even", fix="Show it."):
    return {"about": about, "problem": problem, "fix": fix, "severity": severity}


def critique(*issues, score=5, ready=False, earlier=None, text="It is not there yet."):
    given = {"assessment": text, "issues": list(issues), "score": score, "ready": ready}
    return given if earlier is None else {**given, "earlier": earlier}


def marked(**statuses):
    return [{"id": id, "why": f"Because of {id}.", "status": status} for id, status in statuses.items()]


def rounds(*by_round, proposer=None, final="The final answer.", found=FOUND):
    """Answers with these critiques by round; the last one repeats."""

    def answer(step):
        if step.phase == "rag":
            return found
        if step.phase == "critique":
            given = by_round[min(step.round, len(by_round)) - 1]
            return given(step) if callable(given) else given
        if step.phase == "synthesize":
            return final
        return (proposer or (lambda s: f"Answer {s.round} of the proposer."))(step)

    return answer


def run(*by_round, settings=None, **more):
    return play(script_of("crucible", topic=TOPIC, **(settings or {})), rounds(*by_round, **more))


CONTENT = critique(score=9, ready=True, text="It holds.")


STUCK = critique(issue())


BAD = Failure(kind="invalid", message="no valid Critique in 3 tries")
