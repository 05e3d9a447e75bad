"""Runs a Python test file, each test in a forked process of its own together with the code. Runs inside the sandbox.

A test is a function `test_…`, a method of a `unittest.TestCase`, or, where there is neither, the file as a whole. Which
tests there are is read from the file before anything of it runs, so that one that says nothing is missed.

Input: JSON. Results: a line of JSON for each test.
"""

from __future__ import annotations

import ast
import json
import os
import select
import signal
import sys
import time
import traceback
from typing import Any

RESULTS = 3
FOLDER = "/tmp/work"
WHOLE = "the file"
MAX_MESSAGE = 4000


def tests_in(text: str) -> tuple[list[str], bool]:
    """The tests of a file, and whether they need pytest. Raises SyntaxError."""
    names: list[str] = []
    pytest = False
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names_of = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            pytest = pytest or any(name.split(".")[0] == "pytest" for name in names_of)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            if any(map(is_fixture, node.decorator_list)):
                continue
            names.append(node.name)
            pytest = pytest or bool(node.args.args) or isinstance(node, ast.AsyncFunctionDef)
        elif isinstance(node, ast.ClassDef):
            inside = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test")]
            unit = any("TestCase" in ast.unparse(base) for base in node.bases)
            if inside and not unit and node.name.startswith("Test"):
                pytest = True
            if unit or node.name.startswith("Test"):
                names += [f"{node.name}::{each.name}" for each in inside]
    return names, pytest


def is_fixture(decorator: ast.expr) -> bool:
    """Whether it is `fixture`, `pytest.fixture`, or a call of one. Others may well have the word in them."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(named, "attr", None) == "fixture" or getattr(named, "id", None) == "fixture"


def tell(name: str, outcome: str, message: str = "") -> None:
    os.write(RESULTS, json.dumps([name, outcome, message[-MAX_MESSAGE:]]).encode() + b"\n")


def run_one(given: dict[str, Any], name: str, report: int) -> None:
    """In a child: load the code and the tests, and run one of them."""
    outcome, message = "passed", ""
    space: dict[str, Any] = {"__name__": "__main__" if name == WHOLE else "tests", "__file__": given["tests_name"]}
    try:
        exec(compile(given["tests"], given["tests_name"], "exec"), space)
        holder, _, method = name.partition("::")
        if method:
            outcome, message = run_method(space[holder], method)
        elif name != WHOLE:
            space[name]()
    except AssertionError:
        outcome, message = "failed", traceback.format_exc(limit=-3)
    except BaseException as error:
        outcome, message = "error", traceback.format_exc(limit=-3)
        if type(error).__name__ == "SkipTest":
            outcome = "skipped" if is_marked(space.get(name)) else "failed"
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        pass
    os.write(report, json.dumps([outcome, message[-MAX_MESSAGE:]]).encode())
    os._exit(0)


def is_marked(test: Any) -> bool:
    """Whether a mark of `unittest` applies to a test, so that it is skipped. Otherwise the code can have skipped it."""
    return bool(getattr(test, "__unittest_skip__", False))


def run_method(holder: Any, method: str) -> tuple[str, str]:
    import unittest

    marked = is_marked(holder) or is_marked(getattr(holder, method))
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromName(method, holder).run(result)
    if result.skipped:
        return ("skipped" if marked else "failed"), result.skipped[0][1]
    for outcome, problems in (("failed", result.failures), ("error", result.errors)):
        if problems:
            return outcome, problems[0][1]
    return ("passed", "") if result.testsRun else ("error", "It did not run.")


def watch(given: dict[str, Any], name: str) -> None:
    ready, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ready)
        os.close(RESULTS)
        run_one(given, name, report)
    os.close(report)
    deadline = time.monotonic() + given["test_seconds"]
    said, late = b"", False
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            late = True
            break
        if not select.select([ready], [], [], min(left, 0.05))[0]:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                break
            continue
        said = os.read(ready, 1 << 16)
        break
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(ready)
    try:
        outcome, message = json.loads(said)
    except ValueError:
        outcome = "timed_out" if late else "died"
        message = "" if late else f"Its process ended with {ended} before the test did."
    tell(name, outcome, message)


def run_pytest(given: dict[str, Any], names: list[str]) -> None:
    """Tests that need pytest run in one process of it, each by its own name."""
    pid = os.fork()
    if pid == 0:
        plugins = ("-p", "no:cacheprovider", "-p", "pytest_results")
        options = ("-q", "--tb=short", "--noconftest", "-c", "/dev/null", "--rootdir", ".", *plugins)
        paths = os.pathsep.join((os.getcwd(), given["packages"], "/moot"))
        environment = {**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment["TEST_FILE"] = given["tests_name"]
        command = [sys.executable, "-S", "-B", "-m", "pytest", *options, given["tests_name"]]
        os.execve(sys.executable, command, environment)
    os.waitpid(pid, 0)
    for name in names:
        tell(name, "died", "Its process ended before the test did.")  # unless it has said something else


def main() -> None:
    with open(0, "rb", closefd=False) as request:
        given: dict[str, Any] = json.load(request)
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    for path, text in given["files"].items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
    try:
        names, needs_pytest = tests_in(given["tests"])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        tell(WHOLE, "error", f"The tests can't be read: {type(error).__name__}: {error}")
        return
    sys.path.insert(0, FOLDER)
    if needs_pytest and not given["packages"]:
        tell(WHOLE, "error", "These tests need pytest, which is not installed.")
    elif needs_pytest:
        run_pytest(given, names)
    else:
        for name in names or [WHOLE]:
            watch(given, name)


if __name__ == "__main__":
    main()
