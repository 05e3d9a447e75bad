"""A plugin of pytest that writes the outcome of each test as a line of JSON. Runs inside the sandbox.

A test of the file `TEST_FILE` (an environment variable) is skipped only where a mark of it applies, such as
`@pytest.mark.skip`. One that is skipped while it runs has failed: the code under test can have brought that about.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from typing import Any

import pytest

RESULTS = 3
MAX_MESSAGE = 2000
SKIPPED = "It was skipped while it ran, which is no pass: only a skip that the test file marks is."


def tell(name: str, outcome: str, problem: object) -> None:
    line = json.dumps([name, outcome, str(problem or "")[-MAX_MESSAGE:]])
    os.write(RESULTS, line.encode() + b"\n")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, Any]:
    report = yield
    if (
        report.skipped
        and item.nodeid.partition("::")[0] == os.environ["TEST_FILE"]
        and not is_marked(item, call, report)
    ):
        report.outcome, report.longrepr = "failed", f"{SKIPPED} {call.excinfo.value if call.excinfo else ''}".strip()
    return report


def is_marked(item: Any, call: Any, report: Any) -> bool:
    """Whether a test that was skipped is so by a mark."""
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, pytest.xfail.Exception):
        return call.when == "setup"  # a mark with run=False; while the test runs, it is a call of pytest.xfail
    if hasattr(report, "wasxfail"):
        return True
    if call.when == "setup" and getattr(error, "_use_item_location", False):
        return True
    return any(getattr(each, "__unittest_skip__", False) for each in (getattr(item, "obj", None), item.cls))


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "call" or report.outcome != "passed":
        bad_set_up = report.when != "call" and report.outcome == "failed"
        tell(report.nodeid, "error" if bad_set_up else report.outcome, report.longrepr)


def pytest_collection_finish(session: Any) -> None:
    for item in session.items:
        tell(item.nodeid, "collected", "")  # so that one that says nothing more is missed


def pytest_collectreport(report: Any) -> None:
    if report.outcome == "failed":
        tell(report.nodeid or "the tests", "error", report.longrepr)
