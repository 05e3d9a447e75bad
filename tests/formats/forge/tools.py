"""The tools for code, without a sandbox. Only for code that the tests themselves wrote."""

from __future__ import annotations

from typing import Any

from moot.core.steps import Use
from moot.reasoning.code.cases import CaseRun
from moot.reasoning.code.values import NotAValue

LIMITS = {
    "wall_seconds": 60.0,
    "cpu_seconds": 60.0,
    "memory_bytes": 1,
    "processes": 1,
    "output_bytes": 1,
}


def repository(step: Use) -> dict[str, Any]:
    """A repository of one file, whose one test fails with the code WRONG. A change is its own patch."""
    asked = step.arguments
    if "change" in asked:
        return {"patch": step.texts[asked["change"]]}
    if "message" in asked:
        return {"branch": "debate/0", "commit": "c" * 40}
    patch = step.texts.get(asked.get("version", ""), "")
    outcome = "failed" if "return max(a, b)\n" in patch else "passed"
    run = {"tests": [{"name": "test_mid.py::test_mid", "outcome": outcome}], "limits": LIMITS, "fingerprint": "x"}
    if "about" not in asked:
        return run
    run["tests"] = [] if asked["path"].endswith("empty") else run["tests"]
    shown = [{"path": "mid.py", "text": "def mid(a, b): ...\n"}]
    return {"base": "b" * 40, "files": ["mid.py"], "count": 1, "shown": shown, "notes": ["A note."], "tests": run}


def used(step: Use) -> dict[str, Any]:
    if step.tool == "repository":
        return repository(step)
    code = step.texts[step.arguments["version"]]
    code = "".join(f"{line}\n" for line in code.splitlines() if not line.startswith("#"))
    if step.tool == "checks":
        complexity = float(code.count("if ") + code.count("max"))
        done = [tool for tool in step.arguments["tools"] if tool != "mypy"]
        metrics = {"complexity": complexity, "maintainability": 80.0}
        return {"findings": [], "metrics": metrics, "done": done, "missing": ["mypy"], "fingerprint": "x"}
    if step.tool == "script":
        tests = step.texts[step.arguments["tests"]]
        outcome = "passed" if _passes(code, tests) else "failed"
        return {"tests": [{"name": "test", "outcome": outcome}], "limits": LIMITS, "fingerprint": "x"}
    results = [run(code, call).model_dump(mode="json") for call in step.arguments["calls"]]
    return {"results": results, "limits": LIMITS, "fingerprint": "x"}


def run(code: str, call: list[str]) -> CaseRun:
    names: dict[str, Any] = {}
    try:
        exec(code, names)
        for statement in call[:-1]:
            exec(statement, names)
        return CaseRun(outcome="returned", value=repr(eval(call[-1], names)))
    except (NotAValue, SyntaxError) as wrong:
        return CaseRun(outcome="raised", error=type(wrong).__name__)
    except Exception as error:
        return CaseRun(outcome="raised", error=type(error).__name__, message=str(error))


def _passes(code: str, tests: str) -> bool:
    names: dict[str, Any] = {}
    try:
        exec(code, names)
        exec("".join(line for line in tests.splitlines(True) if "import" not in line), names)
    except Exception:
        return False
    return True
