"""A forge without models and without a sandbox: answers by phase, and calls that are made here. Only for code that the
tests themselves wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from moot.core.steps import Step, Use
from moot.core.types import Confidence, Failure, Outcome
from tests.formats.forge.tools import used
from tests.playing import Played, play, script_of

TASK = "Write a function mid(a, b) that gives the larger of two numbers, and 0 if both are negative."
RIGHT = "def mid(a, b):\n    return max(a, b, 0) if a < 0 and b < 0 else max(a, b)\n"
ALSO_RIGHT = "def mid(a, b):\n    if a < 0 and b < 0:\n        return 0\n    return a if a > b else b\n"
WRONG = "def mid(a, b):\n    return max(a, b)\n"
WORSE = "def mid(a, b):\n    return a\n"
ALL_WRONG: dict[str, str] = dict.fromkeys(("e1", "e2", "e3"), WRONG)
TIED = {"e1": "def mid(a, b):\n    return a + 1\n", "e2": "def mid(a, b):\n    return b + 1\n", "e3": WORSE}
TESTS = {"mid(1, 2)": "2", "mid(3, 2)": "3", "mid(-1, -2)": "0", "mid(0, -5)": "0", "mid(-4, 7)": "7", "mid(2, 2)": "2"}

INVALID = Failure(kind="invalid", message="three bad tries")
GONE = Failure(kind="unavailable", message="no such model")
LIMIT = Failure(kind="limit", message="none left")
Answer = Any | Callable[[Step], Any]


def case(call: str, expected: str) -> dict[str, Any]:
    return {"call": [call], "expected": expected, "raises": ""}


def cases(given: Mapping[str, str]) -> list[dict[str, Any]]:
    return [case(call, expected) for call, expected in given.items()]


def truth(step: Step, known: Mapping[str, str] = TESTS) -> dict[str, Any]:
    """What an oracle says that knows the right values: of the others, that they are unspecified."""
    lines = [line.split(": ", 1) for line in step.prompt.text.split("Calls:")[1].splitlines() if ": " in line]
    numbered = [(int(n), call) for n, call in lines if n.isdigit()]
    return {
        "predictions": [
            {"number": n, "expected": known.get(call, ""), "raises": "", "unspecified": call not in known}
            for n, call in numbered
            if n <= len(numbered)
        ]
    }


def solution(code: str, own: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {"code": code, "cases": cases(own or {})}


def repair(code: str) -> dict[str, Any]:
    told = {"root_cause": "The sign.", "went_wrong": "It was ignored.", "change_next": "Look at it.", "confidence": 0.7}
    return {**told, "code": code}


def kind_of(step: Step) -> str:
    """The phase of a step without what led to it: `predict` for `predict-attack`."""
    phase = step.phase.removesuffix("-again")
    return phase if phase.startswith("approve-") else phase.partition("-")[0].replace("revise", "repair")


class World:
    """Answers for a whole forge. `exact` overrides by key, or by phase; `code` is what engineers write, by seat."""

    def __init__(self, code: Mapping[str, str] | None = None, **exact: Answer) -> None:
        self.code = {"e1": RIGHT, "e2": ALSO_RIGHT, "e3": WRONG, **(code or {})}
        self.exact = {key.replace("__", "/"): value for key, value in exact.items()}
        self.asked = 0

    def __call__(self, step: Step) -> Any:
        if isinstance(step, Use):
            return used(step)
        self.asked += step.kind == "ask"
        phase = step.phase.removesuffix("-again")
        kind = kind_of(step)
        for name in (step.key, f"{phase}/{step.seat.id}", phase, f"{kind}/{step.seat.id}", kind):
            if name in self.exact:
                own = self.exact[name]
                return own(step) if callable(own) else own
        return self.usual(step, kind)

    def usual(self, step: Step, phase: str) -> Any:
        match phase:
            case "recall":
                return {"found": [], "by": "bm25", "note": ""}
            case "clarify":
                return {"confidence": 0.95, "complexity": "simple", "ambiguity": 0.1, "questions": []}
            case "readings":
                return {"answers": [{"number": 1, "answer": "Numbers only.", "stated": False}]}
            case "plan" if step.returns and step.returns.__name__ == "Approaches":
                return {"interface": "mid(a, b)", "approaches": ["Plainly.", "By branches.", "In one line."]}
            case "plan" | "negotiate":
                return {"interface": "mid(a, b)", "approach": f"As {step.seat.id} likes."}
            case "write":
                return solution(self.code[step.seat.id], {"mid(5, 6)": "6"})
            case "tests":
                return {"cases": cases(TESTS)}
            case "predict" | "confirm":
                return truth(step, {**TESTS, "mid(5, 6)": "6", "mid(-9, -9)": "0"})
            case "repair" | "defend":
                return repair(RIGHT)
            case "critique":
                return {"issues": []}
            case "review":
                return {"answers": [{"number": 1, "accepted": True, "reason": ""}], "code": None}
            case "refactor" | "speed":
                return {"code": RIGHT}
            case "attack":
                return {"cases": []}
            case "vote":
                return {"reasoning": "It reads well.", "ranking": list(labels(step))[:1]}
            case "teach":
                lesson = {"lesson": "Mind the sign.", "cites": [1]}
                return {"explanation": "It takes the larger one.", "lessons": [lesson]}
            case _ if phase.startswith("approve"):
                return {"choice": "approve", "text": ""}
            case _:
                raise AssertionError(f"no answer for {step.key}")


def labels(step: Step) -> list[str]:
    assert step.returns is not None
    items = step.returns.model_json_schema()["properties"]["ranking"]["items"]
    return items.get("enum") or [items["const"]]


def forge(answer: Callable[[Step], Any] | None = None, topic: str = TASK, **settings: Any) -> Played:
    return play(script_of("forge", topic, **settings), answer or World())


def delivered(outcome: Outcome) -> Any:
    """The code that was chosen, or None."""
    return outcome.answer and outcome.answer.value


def confidence_of(outcome: Outcome) -> Confidence:
    assert outcome.confidence is not None
    return outcome.confidence


ATTACK = {"cases": [case("mid(-9, -9)", "0")]}


def surprised(**exact: Answer) -> World:
    """All engineers are wrong about what no test looks at, and an attack shows it."""
    unseen = {"cases": cases({"mid(1, 2)": "2", "mid(3, 2)": "3"})}
    return World(ALL_WRONG, **{"tests": unseen, "1/attack/critic": ATTACK, **exact})


def doubts(*questions: str) -> dict[str, Any]:
    """What an engineer says who does not know what is meant."""
    asks = [{"question": each, "category": "requirements", "priority": "high"} for each in questions]
    return {"confidence": 0.3, "complexity": "simple", "ambiguity": 0.9, "questions": asks}


def phases(played) -> list[str]:
    return [event.data["phase"] for event in played.shown if event.type == "PHASE_BEGINS"]


def asked(played, phase: str) -> list[str]:
    return [step.seat.id for step in played.steps if step.phase == phase]


def tied(**exact) -> World:
    """Three versions that do different things, and no test that counts."""
    exact = {"repair": INVALID, "predict": lambda step: truth(step, {}), **exact}
    return World(TIED, confirm=lambda step: truth(step, {}), tests={"cases": cases({"mid(3, 5)": "4"})}, **exact)


def issue(label: str, line: str = "") -> dict:
    return {"version": label, "severity": "high", "claim": "It ignores the sign.", "case": line}


def worst(step):
    """Everything takes as long as it can: doubts, failures, issues, attacks that hold, a tie."""
    n = step.round
    match kind_of(step):
        case "clarify":
            return {**doubts("What?"), "confidence": 0.1, "complexity": "complex"}
        case "meant":
            return {"text": ""}
        case "repair" | "defend":
            return repair(f"def mid(a, b):\n    return 'x{n}{step.seat.id}'\n")
        case "critique":
            return criticize(step)
        case "attack":
            return {"cases": [case(f"mid({n}00, {n})", f"{n}00")]}
        case "predict" | "confirm":
            return truth(step, {f"mid({k}00, {k})": f"{k}00" for k in range(9)} | {"mid(0, 77)": "77"})
        case "refactor" | "speed":
            return {"code": f"def mid(a, b):\n    return '{step.phase}'\n"}
        case _:
            return World(TIED)(step)


def bounded(answer: Callable[[Step], Any], most: int) -> Callable[[Step], Any]:
    """Refuse calls as the runtime does: closing steps may use all, others leave what is reserved."""
    made = 0

    def limited(step):
        nonlocal made
        if step.kind != "ask":
            return answer(step)
        left = most - made - (step.leave.calls if step.leave else 0)
        if left < 1:
            return LIMIT
        made += 1
        return answer(step)

    return limited


def calls(played) -> int:
    return sum(turn.kind == "ask" and turn.failure != LIMIT for turn in played.turns)


def criticize(step):
    label = step.returns.model_json_schema()["$defs"]["Issue"]["properties"]["version"]
    return {"issues": [issue((label.get("enum") or [label["const"]])[0], f"mid({step.round}, 77) == 77")]}
