"""Runs test files in the sandbox, together with the code that they test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from moot.core.errors import ToolError
from moot.core.values import Json
from moot.reasoning.code.requests import TestOutcome, TestRun
from moot.reasoning.code.test_files import marked_skips
from moot.tools.runners.cases import inside
from moot.tools.runners.declared import Runner
from moot.tools.runners.toolchain import NODE_INSIDE, installed, node, packages
from moot.tools.sandbox import Job, Limits, Mount, Run

TEST_SECONDS = 20.0
PROCESSES = 256
MOST_TESTS = 1000
WHOLE = "the file"
SKIPPED = "It was skipped under a condition that the code can change, which is no pass."
_OUTCOMES = ("passed", "failed", "error", "skipped", "timed_out", "died")


def script_job(runner: Runner, code: str, tests: str, more: Mapping[str, str], limits: Limits) -> Job:
    """Raises ToolError when the language needs something that is not installed."""
    if missing := runner.missing:
        raise ToolError(f"This machine lacks {', '.join(missing)}, which is needed to run such code.")
    files = {**more, runner.source: code, runner.test_source: tests}
    limits = replace(limits, processes=max(limits.processes, PROCESSES))
    if runner.tests == "python":
        given: Json = {"files": files, "tests": tests, "tests_name": runner.test_source, "test_seconds": TEST_SECONDS}
        there = packages() if installed("pytest") else None
        return Job(
            program=inside("python_script.py"),
            files={"pytest_results.py": inside("pytest_results.py").encode()},
            input=json.dumps({**given, "packages": there.path if there else ""}).encode(),
            mounts=there.mounts if there else (),
            script=True,
            limits=limits,
        )
    if not runner.test:
        raise ToolError("The language is declared without a command for tests: give it `test` in runners.yaml.")
    commands = [(name, command) for name, command in (("build", runner.build), ("test", runner.test)) if command]
    mounts = tuple(Mount(source=each, target=each) for each in runner.mounts)
    paths = [f"{each}/bin" for each in runner.mounts]
    found = node() if "node" in runner.needs else None
    if found is not None:
        mounts, paths = (*mounts, *found.mounts), [*paths, NODE_INSIDE.rpartition("/")[0]]
    path = ":".join((*paths, "/usr/local/bin", "/usr/bin", "/bin"))
    return Job(
        program=inside("commands.py"),
        input=json.dumps({"files": files, "commands": commands}).encode(),
        mounts=mounts,
        environment={"PATH": path, **runner.environment},
        script=True,
        limits=limits,
    )


def read_script(runner: Runner, run: Run, text: str) -> tuple[tuple[TestRun, ...], int]:
    """The outcome of each test of a file with this `text`, and the exit code of the last command."""
    lines = _lines(run.results)
    if runner.tests == "python":
        prefix = f"{runner.test_source}::"  # of the names that pytest has
        for line in lines:
            line[0] = WHOLE if line[0] == runner.test_source else str(line[0]).removeprefix(prefix)
        return without_skips(_tests(lines, run), text), 0
    tests: list[TestRun] = []
    code = 0
    for name, ended, problem, _ in lines:
        code = ended if type(ended) is int else 127
        tests.append(TestRun(name=str(name), outcome="failed" if code else "passed", message=str(problem)))
    built = not runner.build or any(test.name == "build" and test.outcome == "passed" for test in tests)
    if run.ended_by != "ended" or not lines:
        tests.append(_unfinished("test" if built else "build", run))
    return tuple(tests), code


def read_results(run: Run) -> tuple[TestRun, ...]:
    """The outcome of each test of a run that tells tests apart."""
    return _tests(_lines(run.results), run)


def without_skips(tests: Iterable[TestRun], text: str, path: str = "") -> tuple[TestRun, ...]:
    """Tests of a file, of which those have failed that were skipped by no mark in its `text`, or by one that the code
    can change. With a `path`, tests of other files are left as they are."""
    marked = marked_skips(text)
    begin = f"{path}::" if path else ""
    return tuple(
        test.model_copy(update={"outcome": "failed", "message": f"{SKIPPED} {test.message}".strip()})
        if test.outcome == "skipped"
        and test.name.startswith(begin)
        and test.name.removeprefix(begin).partition("[")[0] not in marked
        else test
        for test in tests
    )


def _tests(lines: list[list[Any]], run: Run) -> tuple[TestRun, ...]:
    found: dict[str, TestRun] = {}
    collected: dict[str, None] = {}
    for line in lines:
        name, outcome, message = str(line[0]), line[1], str(line[2])
        if outcome == "collected":
            collected[name] = None
        if outcome not in _OUTCOMES or (name not in found and len(found) >= MOST_TESTS):
            continue
        said = name in found or any(each.startswith(f"{name}[") for each in found)
        if outcome == "died" and said:
            continue  # the last lines name all tests once more
        found[name] = TestRun(name=name, outcome=outcome, message=message)
    for name in [each for each in collected if each not in found][: max(0, MOST_TESTS - len(found))]:
        found[name] = TestRun(name=name, outcome="died", message="It did not come to an end.")
    if run.ended_by != "ended" or not found:
        found[WHOLE] = _unfinished(WHOLE, run)
    return tuple(found.values())


def _unfinished(name: str, run: Run) -> TestRun:
    if run.ended_by == "ended":
        return TestRun(name=name, outcome="died", message="The process ended without a result.")
    outcome: TestOutcome = "timed_out" if run.ended_by in ("wall", "cpu") else "died"
    return TestRun(name=name, outcome=outcome, message=f"The run was at its limit ({run.ended_by}).")


def _lines(results: bytes) -> list[list[Any]]:
    """Lines of JSON lists; others are none of ours."""
    found: list[list[Any]] = []
    for line in results.splitlines():
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(given, list) and len(cast("list[Any]", given)) >= 3:
            found.append(cast("list[Any]", given))
    return found
