"""One debate of each installed format that goes through all its kinds of steps, for tests that hold for every format.

A new format needs an entry here; the tests fail without one."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moot.core.script import Step
from moot.core.steps import Use
from moot.formats import installed
from tests.formats.crucible.answers import critique, issue
from tests.formats.forge.tools import used
from tests.formats.panel import answers as panel

TOPIC = "Should we use Redis or PostgreSQL for caching?"


@dataclass(frozen=True, kw_only=True)
class Example:
    settings: Mapping[str, Any]
    answers: Mapping[str, Any]  # by key or pattern, as in the file of a scripted model; the first that fits counts
    people: Mapping[str, Any] = field(default_factory=dict)  # what is answered at gates

    def answer(self, step: Step) -> Any:
        if isinstance(step, Use):
            return used(step)
        return filled(fitting({**self.people, **MEMORY, **self.answers}, step.key), step)


def topic_of(format: str) -> str:
    """TOPIC, or a task for code where a format needs one."""
    return "Sum two numbers." if "code" in installed()[format].needs else TOPIC


def fitting(answers: Mapping[str, Any], key: str) -> Any:
    if key in answers:
        return answers[key]
    return next(answer for pattern, answer in answers.items() if fnmatch.fnmatchcase(key, pattern))


def filled(value: Any, step: Step) -> Any:
    if isinstance(value, str):
        return value.replace("{key}", step.key).replace("{seat}", step.seat.id)
    if isinstance(value, dict):
        return {name: filled(inner, step) for name, inner in value.items()}
    return [filled(inner, step) for inner in value] if isinstance(value, list) else value


def unlike(key: str, words: int = 80) -> str:
    """Words that occur in no other text."""
    return " ".join(f"{key.replace('/', '')}w{n}" for n in range(words)) + "."


# What memory answers.
FOUND = {"id": "m-1", "title": "An earlier one", "text": "What memory holds.", "score": 1.5}
MEMORY: dict[str, Any] = {
    "*/compare/memory": {"scores": [], "by": "", "note": ""},
    "*/memory": {"found": [FOUND], "by": "bm25", "note": ""},
}

# Where a ledger is kept.
CLAIM = {
    "text": "Claim of {seat} at {key}.",
    "stance": "none",
    "target": "",
    "quote": "",
    "evidence": "",
    "concedes": [],
}
CLAIMS = {"*/claims-*/*": {"claims": [CLAIM]}}

SCORES = {"reasoning": "It holds.", "score": 7}
BALLOT = {"reasoning": "The first is clearer.", "score_first": 6, "score_second": 4}
SECOND = {"reasoning": "The second is clearer.", "score_first": 4, "score_second": 6}
RULING = {"summary": "A was clearer.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False}

CLASSIC = Example(
    settings={"max_rounds": 2, "judge_every_round": True, "swap": True, "claims": True},
    answers={**CLAIMS, "*/rule/*": RULING, "*/ballot/*": SECOND, "*/speak/*": "Words of {seat} at {key}."},
)

DUEL = Example(
    settings={"turns": 4, "jury": 2, "premise": "Redis is worth it."},
    answers={
        "*/score/*": SCORES,
        "*/confirm*": {"winner": "Ada"},
        "*/extract/*": {"winner": "Ada", "scores": {"Ada": 8, "Basil": 6}},
        "*/ballot/*": BALLOT,
        "*": "Words of {seat} at {key}.",
    },
)

SEEN = {
    "constraints": ["One team."],
    "debaters": 3,
    "perspectives": ["Performance Advocate", "Operational Simplicity", "Cost Steward"],
}

PANEL = Example(
    settings={"max_rounds": 2, "perspectives": 3, "claims": True},
    answers={
        **CLAIMS,
        "*/analyze/*": panel.analysis(**SEEN, clarifying_question="Which data?"),
        "*/frame/*": panel.framing(**SEEN, framing="Redis or PostgreSQL as a cache for sessions?"),
        **{f"{round}/argue/p{n}": unlike(f"{round}/argue/p{n}") for round in (1, 2) for n in (1, 2, 3)},
        "*/rebut/*": panel.rebuttal(
            text="Rebuttal of {seat} at {key}.", recommendation="What {seat} would do at {key}."
        ),
        "*/evaluate/*": panel.assessment(summary="The panel has heard three sides."),
        "*/synthesize/*": panel.SYNTHESIS,
    },
    people={
        "*/clarify/*": {"text": "For sessions."},
        "*/checkpoint/*": {"choice": "guide", "text": "Mind our PostgreSQL experience."},
    },
)

HELD = {"position": "Position of {seat}.", "answer": "Answer of {seat}.", "reasons": ["Reason of {seat}."]}

COUNCIL = Example(
    settings={
        "members": [{"name": "Ines"}, {"name": "Jonas"}, {"name": "Karin"}],
        "depth": "debate",
        "max_rounds": 1,
        "claims": True,
    },
    answers={
        **CLAIMS,
        "*/answer/*": {**HELD, "confidence": 70},
        "0/rank/*": {"reasoning": "Ranked by {seat}.", "ranking": ["A", "B"], "stands_behind": []},
        "*/object/*": {"against": "A", "objection": "Objection of {seat}."},
        "*/rebut/m1": {
            "rebuttal": "Rebuttal of {seat}.",
            "revised": {**HELD, "answer": "New answer of {seat}.", "confidence": 60},
        },
        "*/rebut/*": {"rebuttal": "Rebuttal of {seat}.", "revised": None},
        "1/rank/m1": {"reasoning": "Ranked by {seat}.", "ranking": ["A", "B"], "stands_behind": ["A"]},
        "1/rank/*": {"reasoning": "Ranked by {seat}.", "ranking": ["B", "A", "C"], "stands_behind": ["B"]},
        "*/synthesize/*": {"answer": "The council's answer.", "departs": False},
    },
)

SAID = "Critique of {seat} at {key}."
AGAIN = {"id": "i1", "why": "Why, says {seat}."}

CRUCIBLE = Example(
    settings={"min_rounds": 1, "max_rounds": 3, "claims": True},
    answers={
        **CLAIMS,
        "1/critique/*": critique(
            issue(about="What {seat} quotes.", problem="Problem of {seat}.", fix="Fix of {seat}."), score=4, text=SAID
        ),
        "2/critique/*": critique(earlier=[{**AGAIN, "status": "open"}], text=SAID),
        "3/critique/*": critique(earlier=[{**AGAIN, "status": "resolved"}], score=9, ready=True, text=SAID),
        "*": "Words of {seat} at {key}.",
    },
)

# A third party's format: tests/plugins/interview.
INTERVIEW = Example(
    settings={"questions": 2, "confirm": True},
    answers={
        "*/mark/*": {"reasoning": "It settles most of it.", "mark": 8, "complete": False},
        "*/close/*": {"recommendation": "Keep PostgreSQL.", "gaps": ["The load is not known."]},
        "*": "Words of {seat} at {key}.",
    },
    people={"*/confirm*": {"choice": "approve", "text": ""}},
)

LARGER = "def pick(a, b):\n    return max(a, b)  # by {seat} at {key}\n"
FIRST = "def pick(a, b):\n    return a  # by {seat} at {key}\n"
PICKS = [{"call": [f"pick({n}, 2)"], "expected": str(max(n, 2))} for n in (1, 2, 3)]
TOLD = {"root_cause": "Cause, says {seat}.", "went_wrong": "Wrong, says {seat}.", "change_next": "Change of {seat}."}
FORGE = Example(
    settings={"attempts": 1, "red_rounds": 1, "clarify": "judge", "planning": "cpde"},
    answers={
        "*/clarify/*": {
            "confidence": 0.5,
            "complexity": "simple",
            "ambiguity": 0.2,
            "questions": [{"question": "Which, asks {seat}?", "category": "requirements", "priority": "high"}],
        },
        "*/recall/*": {"found": [], "by": "bm25", "note": ""},
        "*/readings/*": {"answers": [{"number": 1, "answer": "The larger, says {seat}.", "stated": False}]},
        "*/plan/*": {"interface": "pick(a, b), says {seat}", "approaches": ["Plainly, says {seat}.", "By a sort."]},
        "*/write/e1": {"code": FIRST, "cases": [PICKS[0]]},
        "*/write/*": {"code": LARGER, "cases": [PICKS[0]]},
        "*/tests/*": {"cases": PICKS},
        "*/repair/*": {**TOLD, "confidence": 0.8, "code": LARGER},
        "*/predict*": {"predictions": [{"number": 1, "expected": "2"}, {"number": 2, "expected": "2"}]},
        "*/confirm*": {"predictions": [{"number": 1, "expected": "2"}]},
        "*/critique/*": {"issues": []},
        "*/review/*": {"answers": [{"number": 1, "accepted": False, "reason": "No, says {seat}."}], "code": None},
        "*/attack/*": {"cases": [{"call": ["pick(9, 1)"], "expected": "1"}]},
        "*/defend/*": {**TOLD, "confidence": 0.8, "code": LARGER},
        "*/teach/*": {
            "explanation": "Explained by {seat}.",
            "lessons": [{"lesson": "Lesson of {seat}.", "cites": [1]}],
        },
        "*/vote/*": {"reasoning": "Ranked by {seat}.", "ranking": ["V2"]},
        "*": {"code": LARGER},
    },
)

SOLO = Example(
    settings={"samples": 3, "method": "judge", "answer": {"kind": "text"}, "reflections": 1},
    answers={
        "*/pick/*": {"reasoning": "Picked by {seat}.", "best": "2"},
        "*": {"reasoning": "Reasons of {seat} at {key}.", "final": "Answer of {seat} at {key}", "confidence": 60},
    },
)

EXAMPLES: Mapping[str, Example] = {
    "classic": CLASSIC,
    "council": COUNCIL,
    "crucible": CRUCIBLE,
    "duel": DUEL,
    "forge": FORGE,
    "interview": INTERVIEW,
    "panel": PANEL,
    "solo": SOLO,
}
