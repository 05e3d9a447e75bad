"""Ways to play each format that together produce every phase, event and ending that it declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from pydantic import ValidationError

from moot.core.gates import TIMED_OUT
from moot.core.script import Step
from moot.core.types import Failure
from moot.formats.forge.settings import PHASES
from moot.models.providers.sim import example, prose
from tests.formats.council.answers import ballot, council
from tests.formats.crucible.answers import CONTENT, FOUND, STUCK, critique, issue, rounds
from tests.formats.examples import EXAMPLES, RULING
from tests.formats.forge.tools import used
from tests.formats.forge.world import (
    ALL_WRONG,
    RIGHT,
    WRONG,
    World,
    criticize,
    doubts,
    repair,
    solution,
    surprised,
    tied,
    truth,
)
from tests.formats.forge.world import issue as issue_with
from tests.formats.panel.answers import THREE, analysis, assessment, rebuttal
from tests.formats.panel.answers import answers as panel
from tests.playing import Played, good, play, schema_of, script_of

INVALID = Failure(kind="invalid", message="three bad tries")
GONE = Failure(kind="unavailable", message="No model is left.")


@dataclass(frozen=True, kw_only=True)
class Way:
    answer: Callable[[Step], Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0  # that each step takes
    unanswered: bool = False  # what people are asked is decided by its time-out


STALE = {**RULING, "no_new_substantive_arguments": True}
AGREED = council()
CLAIMS = {"claims": [{"text": "So.", "stance": "none", "target": "", "quote": "", "evidence": "", "concedes": []}]}


def good_but(given: Any, *, at: str) -> Callable[[Step], Any]:
    """Good answers, and this one to the step of that key, or to each of that phase."""
    return lambda step: given if at in (step.key, step.phase) else good(step)


def listing_claims(answer: Callable[[Step], Any]) -> Callable[[Step], Any]:
    return lambda step: CLAIMS if step.phase.startswith("claims-") else answer(step)


def without(answer: Callable[[Step], Any], missing: Callable[[Step], bool]) -> Callable[[Step], Any]:
    """The answers, without those of steps whose model can't be had; what is asked again is answered."""
    return lambda step: (
        GONE if step.spared and missing(step) else answer(replace(step, phase=step.phase.removesuffix("-again")))
    )


def answering(a: str | None, b: str | None) -> Callable[[Step], Any]:
    """What the two debaters answer before the debate; None: nothing valid. The judge answers as the first does."""

    def answer(step: Step) -> Any:
        if not step.phase.startswith("first"):
            return good(step)
        value = b if step.seat.id == "b" else a
        return INVALID if value is None else {"reasoning": f"So says {step.seat.id}.", "final": float(value)}

    return answer


CODED = surprised(
    write=lambda step: solution(f"{WRONG}# {step.seat.id} has written this, and no one else has\n"),
    **{
        "1/predict-attack/o2": INVALID,
        "1/clarify/e1": doubts("Which?"),
        "1/meant/you": {"text": ""},
        "critique/critic": criticize,
        "predict/o1": lambda step: truth(step, {"mid(0, 77)": "77", "mid(-9, -9)": "0"}),
        "predict/o2": lambda step: truth(step, {"mid(0, 77)": "5", "mid(-9, -9)": "0"}),
        "speed": {"code": f"{WRONG}# faster\n"},
        "review": lambda step: {"answers": [], "code": f"{WRONG}# revised by {step.seat.id}\n"},
        "refactor": {"code": f"{WRONG}# shorter\n"},
    },
)

# One oracle gives no answers, so that the tester is asked; a person rejects the proposal.
DOUBTED = World(
    write=lambda step: solution({"e1": WRONG}.get(step.seat.id, RIGHT), {"mid(-3, -3)": "0"}),
    **{
        "predict/o1": lambda step: truth(step, {"mid(-3, -3)": "0"}),
        "predict/o2": INVALID,
        "confirm": lambda step: truth(step, {"mid(-3, -3)": "0"}),
        "0/approve-proposal/you": {"choice": "reject", "text": "No."},
        "revise": repair(f"{RIGHT}# heard\n"),
    },
)


LESSON = {"found": [{"id": "l1", "title": "Mind", "text": "Mind it.", "score": 1}], "by": "bm25", "note": ""}


def on_all(step: Step) -> Any:
    label = schema_of(step.returns)["$defs"]["Issue"]["properties"]["version"]  # type: ignore[union-attr]
    return {"issues": [issue_with(each) for each in label.get("enum") or [label["const"]]]}


WAYS: Mapping[str, tuple[Way, ...]] = {
    "forge": (
        Way(answer=CODED, settings={"planning": "dpde", "gates": list(PHASES)}),
        Way(answer=tied(), settings={"optimization": False}),
        Way(answer=DOUBTED, settings={"gates": ["proposal"]}),
        Way(
            answer=World(
                {"e1": WRONG}, **{"critique/critic": on_all, "review": {"answers": [], "code": f"{RIGHT}# again\n"}}
            ),
            settings={"repo": "/a/repository"},
        ),
        Way(answer=World(recall=LESSON), settings={"repo": "/an/empty"}),
        Way(answer=World(write=INVALID)),
        Way(
            answer=World(ALL_WRONG, **{"write-afresh": solution(RIGHT)}),
            settings={"attempts": 0, "fresh_starts": 1, "cases": ["mid(-1, -2) == 0"]},
        ),
        Way(answer=World(**{f"0/write/e{n}": GONE for n in (1, 2, 3)})),
        Way(answer=World(**{"approve-proposal": {"choice": "reject", "text": ""}}), settings={"gates": ["proposal"]}),
        Way(
            answer=World(**{"approve-proposal": {"choice": "reject", "text": ""}}),
            settings={"gates": ["proposal"]},
            unanswered=True,
        ),
        Way(answer=World(), settings={"proposal": False, "cases": ["mid(1, 2) == 2"]}),
        Way(
            answer=World(write=lambda step: solution(f"{RIGHT}# by {step.seat.id}\n")), settings={"optimization": False}
        ),
    ),
    "classic": (
        Way(answer=answering("5", "5"), settings={"answer": {"kind": "number"}}),
        Way(answer=answering("5", "6"), settings={"answer": {"kind": "number"}, "max_rounds": 1}),
        Way(answer=without(answering("5", "5"), lambda step: True), settings={"answer": {"kind": "number"}}),
        Way(answer=answering(None, None), settings={"answer": {"kind": "number"}}),
        Way(answer=good, settings={"max_rounds": 1, "jury": 1}),
        Way(
            answer=lambda step: STALE if step.phase == "rule" else good(step),
            settings={"judge_every_round": True, "stop_when_stale": True},
        ),
    ),
    "duel": (
        Way(answer=answering("5", "5"), settings={"answer": {"kind": "number"}}),
        Way(answer=answering("5", "6"), settings={"answer": {"kind": "number"}, "turns": 2}),
        Way(answer=without(answering("5", "5"), lambda step: True), settings={"answer": {"kind": "number"}}),
        Way(answer=answering(None, None), settings={"answer": {"kind": "number"}}),
        Way(answer=listing_claims(good), settings={"turns": 2, "swap": True, "claims": True}),
    ),
    "panel": (
        Way(answer=panel(rebut=rebuttal("agree"))),
        Way(answer=panel(rebut=lambda s: rebuttal("hold" if s.seat.id == "p1" else "concede", "Performance Advocate"))),
        Way(answer=panel(evaluate=assessment("stagnating"))),
        Way(answer=panel(checkpoint={"choice": "end", "text": ""})),
        Way(answer=panel(analyze=analysis(clarifying_question="Which data?"))),
        Way(answer=panel(rebut=rebuttal("agree", recommendation="Start with the database that we run already."))),
        Way(answer=panel(), settings={"token_budget_per_round": 5}),
        Way(
            answer=panel(analyze=THREE, evaluate=assessment(mute=["Operational Simplicity"])),
            settings={"max_rounds": 2},
        ),
        Way(answer=panel(), settings={"max_rounds": 1, "round_timeout_seconds": 1}, seconds=1.0),
        Way(answer=without(panel(), lambda step: step.seat.id == "p2"), settings={"checkpoints": False}),
        Way(
            answer=without(listing_claims(panel()), lambda step: step.round == 1),
            settings={"checkpoints": False, "max_rounds": 1, "claims": True},
        ),
    ),
    "council": (
        Way(answer=AGREED),
        Way(answer=AGREED, settings={"depth": "vote"}),
        Way(answer=council(rank=INVALID)),
        Way(
            answer=without(listing_claims(council(behind=())), lambda step: True),
            settings={"max_rounds": 1, "claims": True},
        ),
        Way(answer=without(council(behind=()), lambda step: step.seat.id == "m3"), settings={"depth": "debate"}),
        Way(answer=council(answer=INVALID)),
        Way(answer=council(rank=lambda step: ballot(step)), settings={"max_rounds": 1}),
    ),
    "crucible": (
        Way(answer=rounds(CONTENT), settings={"min_rounds": 1}),
        Way(answer=rounds(critique(issue("minor"))), settings={"rag_top_k": 0, "min_rounds": 1}),
        Way(answer=rounds(STUCK, found=FOUND), settings={"max_rounds": 1}),
    ),
    "solo": (
        Way(answer=without(EXAMPLES["solo"].answer, lambda step: True), settings={"samples": 2, "method": "plurality"}),
        Way(answer=EXAMPLES["solo"].answer, settings={"samples": 1, "reflections": 5}),
        Way(
            answer=lambda step: (
                used(step)
                if step.kind == "use"
                else {"reasoning": "", "final": f"def f():\n    return {step.seat.id!r}"}
            ),
            settings={"samples": 2, "answer": {"kind": "code"}, "tests": "def test_it():\n    pass\n"},
        ),
    ),
    "interview": (
        Way(
            answer=lambda step: (
                {"choice": "reject", "text": ""} if step.phase == "confirm" else EXAMPLES["interview"].answer(step)
            ),
            settings=EXAMPLES["interview"].settings,
        ),
    ),
}


def ways_of(name: str) -> list[Way]:
    """Those listed here, the example of the format, and simulated answers."""
    given = Way(answer=EXAMPLES[name].answer, settings=EXAMPLES[name].settings)
    simulated = [Way(answer=simulation(seed), settings=given.settings) for seed in range(2)]
    small = Way(answer=simulation(11), settings={**given.settings, "small": True})  # every seat has a small model
    return [*WAYS.get(name, ()), given, *simulated, small]


def simulation(seed: int) -> Callable[[Step], Any]:
    def answer(step: Step) -> Any:
        rng = Random(f"{seed}/{step.key}")
        if step.returns is None:
            return prose(rng, 200)
        schema = schema_of(step.returns)
        for _ in range(50):
            made = json.loads(json.dumps(example(schema, rng, schema.get("$defs", {}))))
            try:
                step.returns.model_validate(made)
                return made
            except ValidationError:
                continue
        assert step.tolerant, step.key
        return INVALID

    return answer


def played(name: str, way: Way) -> Played:
    clock = iter(range(1_000_000))

    def times(step: Step) -> Mapping[str, Any]:
        at = next(clock) * way.seconds
        untold = {"metadata": {"by": TIMED_OUT}} if way.unanswered and step.kind == "gate" else {}
        return {"started_at": at, "created_at": at + way.seconds, **untold}

    return play(script_of(name, **way.settings), way.answer, times=times)
