"""A plugin of pytest that writes the outcome of each test, by its whole name, as a line of JSON. Runs inside the
sandbox."""

from __future__ import annotations

import json
import os
from typing import Any

RESULTS = 3
MAX_MESSAGE = 2000


def tell(name: str, outcome: str, problem: object) -> None:
    line = json.dumps([name, outcome, str(problem or "")[-MAX_MESSAGE:]])
    os.write(RESULTS, line.encode() + b"\n")


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "call" or report.outcome != "passed":
        bad_set_up = report.when != "call" and report.outcome != "skipped"
        tell(report.nodeid, "error" if bad_set_up else report.outcome, report.longrepr)


def pytest_collectreport(report: Any) -> None:
    if report.outcome == "failed":
        tell(report.nodeid or "the tests", "error", report.longrepr)
