from typing import Any

from moot.core.types import Json
from moot.formats.commands import COMMANDS
from moot.formats.forge.bounds import calls_of_people
from moot.formats.forge.cast import parts
from moot.formats.forge.matrix import matrix_candidates, matrix_grid, matrix_lines, standing
from moot.formats.forge.rules import play
from moot.formats.forge.settings import WORDS, ForgeSettings
from moot.formats.forge.task import settle
from moot.formats.format import Chart, EventType, Example, Format, Hears, Mark, Series

_STEPS = {
    "recall": "Lessons of earlier debates",
    "clarify": "Questions about the task",
    "readings": "Answers to questions about the task",
    "meant": "What is meant",
    "plan": "Plan",
    "negotiate": "Plan, knowing the others'",
    "write": "Code",
    "write-anew": "Code, asked for once more",
    "write-afresh": "Code, from nothing",
    "run-afresh": "Run of code from nothing",
    "tests": "Tests",
    "run": "Run of own tests",
    "repair": "Repair",
    "pool": "Run of all inputs",
    "predict": "Predictions",
    "confirm": "Predictions by the tester",
    "predict-issues": "Predictions for tests from issues",
    "confirm-issues": "Predictions for tests from issues, by the tester",
    "predict-attack": "Predictions for attacks",
    "confirm-attack": "Predictions for attacks, by the tester",
    "critique": "Issues",
    "test-issues": "Run of tests from issues",
    "review": "Answers to issues",
    "run-revised": "Run of revised versions",
    "refactor": "Simpler version",
    "speed": "Faster version",
    "run-improved": "Run of improved versions",
    "time-improved": "Timing of improved versions",
    "revise": "Revision after a rejection",
    "tests-rejected": "Tests after a rejection",
    "run-rejected": "Run after a rejection",
    "predict-rejected": "Predictions after a rejection",
    "confirm-rejected": "Predictions after a rejection, by the tester",
    "attack": "Attack",
    "run-attack": "Run of attacks",
    "run-attacked": "Run of attacks on all versions",
    "defend": "Patch",
    "run-patched": "Run of the patch",
    "final": "Last run",
    "open-repository": "The repository, and its tests as they are",
    "apply-write": "Change as a patch",
    "apply-repair": "Repair as a patch",
    "apply-review": "Revised change as a patch",
    "deliver": "Delivery",
    "close-repository": "Removal of the private clone",
    "check": "Checks",
    "vote": "Ballot",
    "teach": "Explanation and lessons",
    **{f"approve-{name}": f"Approval after {words.lower()}" for name, words in WORDS.items()},
}


def _header(data: Json) -> list[str]:
    if "reading" not in data:
        return []
    tests = f"{data['given']} given test{'s' * (data['given'] != 1)}"
    if data.get("repository"):
        tests = f"the repository's own tests and {tests}" if data["given"] else "the repository's own tests"
    phases = f"phases: {', '.join(data['phases'])}{'; off: ' if data['off'] else ''}{', '.join(data['off'])}"
    return [f"In {data['language']}, with {tests}; {phases}", data["reading"]]


def _ran(data: dict[str, Any]) -> str:
    if not data["passed"]:
        return f"The code of {data['name']} was run: there is no test for it yet"
    return f"The code of {data['name']} passes, of the tests that its author knows, {standing(data['passed'])}"


def _version(data: dict[str, Any]) -> str:
    if not data["ran"]:
        return f"{data['name']}: not run yet"
    if not data["counted"]:
        return f"{data['name']}: run, but no test counts yet"
    return f"{data['name']}: {data['passed']} of {data['counted']} tests that count"


FORMAT = Format(
    name="forge",
    version=3,
    purpose="Write code",
    summary="Engineers write code that is run in a sandbox; tests count when those who saw no code agree on them.",
    settings=ForgeSettings,
    parts=parts,
    play=play,
    settle=settle,
    command=COMMANDS["forge"],
    needs=("code",),
    calls_of_people=calls_of_people,
    answers=("code",),
    efforts={
        "quick": {"preset": "quick"},
        "thorough": {"max_calls": 80, "max_total_output_tokens": 300_000, "max_runtime_seconds": 7200},
    },
    unattended={"clarify": "judge"},
    small={
        "preset": "quick",
        "engineers": 3,
        "attempts": 0,
        "fresh_starts": 3,
        "by_need": 1,
        "adversarial": False,
        "convergence": False,
        "debater_max_tokens": 500,
        "judge_max_tokens": 400,
    },
    small_note="The model is small, so the forge is a quick one: engineers write one after another until one of three "
    "has code that passes the given tests, and start afresh instead of repairing; without given tests all write, and "
    "one oracle predicts; no attacks, ballots or explanation, 12 calls at most, unless you ask for more.",
    events={
        "PHASE_BEGINS": EventType(heading="{name}, phase {number} of {of}", quiet=True),
        "PHASE_NOTE": EventType(heading="{words}", quiet=True),
        "LESSONS": EventType(heading="Lessons of earlier debates", lines=lambda data: data["lines"], quiet=True),
        "QUESTIONS": EventType(
            verb="asks about the task",
            marks=(Mark(path="confidence", text="confidence {}"), Mark(path="ambiguity", text="ambiguity {}")),
        ),
        "READINGS": EventType(verb="answers from the task"),
        "PLAN": EventType(verb="plans", quiet=True),
        "CODE": EventType(verb="writes code", failed="writes no valid code"),
        "TESTS": EventType(verb="writes tests", failed="writes no valid tests"),
        "REPAIR": EventType(
            verb="repairs",
            failed="gives no valid repair",
            marks=(Mark(path="confidence", text="confidence {}"),),
        ),
        "PREDICTION": EventType(verb="predicts", failed="gives no valid prediction"),
        "ISSUES": EventType(verb="raises issues", failed="raises no valid issue"),
        "REVIEW": EventType(verb="answers the issues", failed="gives no valid answer to the issues"),
        "IMPROVED": EventType(verb="improves the leading version", failed="gives no valid improvement"),
        "ATTACK": EventType(verb="attacks", failed="gives no valid attack"),
        "PATCHED": EventType(verb="patches", failed="gives no valid patch"),
        "CODE_VERSION": EventType(
            heading=_version,
            marks=(Mark(path="quality", text="quality {}"), Mark(path="parent", text="changes {}")),
        ),
        "RAN": EventType(
            heading=_ran,
            quiet=True,
            candidates=lambda data: {data["name"]: standing(data["passed"])},
        ),
        "MATRIX": EventType(
            heading="The case matrix", lines=matrix_lines, grid=matrix_grid, candidates=matrix_candidates
        ),
        "BALLOT": EventType(verb="ranks", failed="abstains", marks=(Mark(path="ranks", join=" > ", tone="strong"),)),
        "TALLY": EventType(heading="The vote, counted by {method}", lines=lambda data: data["lines"]),
        "TEACHING": EventType(verb="explains", failed="gives no valid explanation"),
    },
    phases=_STEPS,
    header=_header,
    endings={
        "played": "all phases were played",
        "no_code": "no engineer wrote any code",
        "no_tests": "there was no test to measure a change by",
        "rejected": "a person rejected the result",
        "timed_out": "no one answered in time, so it was rejected, as `on_timeout` says",
    },
    length="",
    chapters="PHASE_BEGINS",
    hears=(
        Hears(listener="engineer", speaker="engineer"),
        Hears(listener="engineer", speaker="critic"),
        Hears(listener="critic", speaker="engineer"),
        Hears(listener="judge", speaker="engineer"),
    ),
    chart=Chart(
        title="Tests passed, by version",
        series=(Series(event="CODE_VERSION", path="pass_rate", seat="author"),),
        most=100,
        unit="%",
    ),
    examples=(
        Example(
            title="A function, quickly",
            topic="Write a function add(a, b) that returns the sum of two numbers.",
            settings={"preset": "quick", "cases": ["add(1, 2) == 3"]},
        ),
        Example(
            title="All eight phases",
            topic="Write a class Stack with push(x), pop() and size(); pop on an empty stack raises IndexError.",
        ),
    ),
)
