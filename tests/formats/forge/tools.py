"""The tools for code, without a sandbox. Only for code that the tests themselves wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.core.steps import Use
from moot.core.types import Json, Tool
from moot.reasoning.code.cases import CaseRun
from moot.reasoning.code.values import NotAValue

LIMITS = {
    "wall_seconds": 60.0,
    "cpu_seconds": 60.0,
    "memory_bytes": 1,
    "processes": 1,
    "output_bytes": 1,
}


def in_process(name: str) -> Tool:
    """The tool of that name, as an app has it."""

    async def tool(arguments: Json, texts: Mapping[str, str], /) -> Json:
        return made(name, arguments, texts)

    return tool


def used(step: Use) -> dict[str, Any]:
    return made(step.tool, step.arguments, step.texts)


def repository(asked: Json, texts: Mapping[str, str]) -> dict[str, Any]:
    """A repository of one file, whose one test fails with the code WRONG and is skipped by a SkipTest. A change is
    its own patch."""
    if "closes" in asked:
        return {}
    if "change" in asked:
        return {"patch": texts[asked["change"]]}
    if "message" in asked:
        return {"branch": "debate/0", "commit": "c" * 40}
    patch = texts.get(asked.get("version", ""), "")
    outcome = "failed" if "return max(a, b)\n" in patch else "skipped" if "SkipTest" in patch else "passed"
    run = {"tests": [{"name": "test_mid.py::test_mid", "outcome": outcome}], "limits": LIMITS, "fingerprint": "x"}
    if "about" not in asked:
        return run
    run["tests"] = [] if asked["path"].endswith("empty") else run["tests"]
    shown = [{"path": "mid.py", "text": "def mid(a, b): ...\n"}]
    return {"base": "b" * 40, "files": ["mid.py"], "count": 1, "shown": shown, "notes": ["A note."], "tests": run}


def made(tool: str, arguments: Json, texts: Mapping[str, str]) -> dict[str, Any]:
    if tool == "repository":
        return repository(arguments, texts)
    code = texts[arguments["version"]]
    code = "".join(f"{line}\n" for line in code.splitlines() if not line.startswith("#"))
    if tool == "checks":
        complexity = float(code.count("if ") + code.count("max"))
        done = [tool for tool in arguments["tools"] if tool != "mypy"]
        metrics = {"complexity": complexity, "maintainability": 80.0}
        return {"findings": [], "metrics": metrics, "done": done, "missing": ["mypy"], "fingerprint": "x"}
    if tool == "script":
        tests = texts[arguments["tests"]]
        outcome = "passed" if _passes(code, tests) else "failed"
        return {"tests": [{"name": "test", "outcome": outcome}], "limits": LIMITS, "fingerprint": "x"}
    results = [run(code, call).model_dump(mode="json") for call in arguments["calls"]]
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
