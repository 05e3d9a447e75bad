"""ruff, mypy, bandit and radon: how they are called, and what they say."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from moot.core.values import Json
from moot.reasoning.code.requests import CheckTool, Finding, Severity
from moot.tools.runners import toolchain
from moot.tools.runners.toolchain import installed, packages
from moot.tools.sandbox import Job, Limits, Mount, Run
from moot.tools.sandbox.mounts import interpreter

PROGRAM = Path(__file__).with_name("inside") / "tools.py"
LINTERS: tuple[CheckTool, ...] = ("ruff", "mypy", "bandit", "radon")
TOOL_SECONDS = 40.0
RUN_SECONDS = 120.0
PROCESSES = 256
MOST_FINDINGS = 200
MAX_MESSAGE = 500
RUFF_INSIDE = "/opt/tools/ruff"
RULES = "E4,E7,E9,F,B"
CACHE = "/tmp/cache"  # mypy's, inside
# What code imports most. mypy reads it once in a process: that takes most of the time of a check.
COMMON = "import bisect, collections, dataclasses, enum, functools, heapq, itertools, json, math, random, re, typing"
_warm: dict[str, str] = {}  # by version of mypy, its cache after it has read that

RADON = """
import json, sys
from radon.complexity import cc_visit
from radon.metrics import mi_visit
code = open(sys.argv[1], encoding="utf-8").read()
blocks = [block.complexity for block in cc_visit(code)]
print(json.dumps({"complexity": max(blocks, default=1), "maintainability": mi_visit(code, True)}))
"""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the linters said."""

    findings: tuple[Finding, ...] = ()
    complexity: float | None = None
    maintainability: float | None = None
    done: tuple[CheckTool, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass
class _Collected:
    findings: list[Finding] = field(default_factory=list[Finding])
    measures: dict[str, float] = field(default_factory=dict[str, float])


def missing(tools: Iterable[CheckTool]) -> list[CheckTool]:
    """Those of the linters that are not installed."""
    return [
        tool for tool in tools if tool in LINTERS and (ruff_program() if tool == "ruff" else installed(tool)) is None
    ]


def ruff_program() -> Path | None:
    """The program of the package; a script on the path may be a wrapper that needs more than itself."""
    try:
        files = metadata.files("ruff") or []
    except metadata.PackageNotFoundError:
        return None
    found = [Path(str(file.locate())).resolve() for file in files if file.name == "ruff" and not file.suffix]
    return next((file for file in found if file.is_file()), None)


def fingerprint(programs: Sequence[str], tools: Iterable[CheckTool]) -> str:
    """Names and versions of what has looked at code."""
    versions = [f"{tool} {installed(tool)}" for tool in tools if tool in LINTERS]
    return ", ".join((*versions, toolchain.fingerprint(*programs)))


async def warm_cache(run: Callable[[Job], Awaitable[Run]], limits: Limits) -> str:
    """The cache of mypy with the standard library in it, and none of the code that is checked; empty where it can't be
    made now. It changes how long a check takes, and nothing that it says."""
    version = installed("mypy") or ""
    if version not in _warm:
        done = await run(_job([("mypy", [*_mypy(), "-c", COMMON])], limits, keep=True))
        try:
            _warm[version] = str(json.loads(done.results.splitlines()[1]))
        except (ValueError, IndexError):  # the run was ended before its last line
            return ""
    return _warm[version]


def linters_job(tools: Sequence[CheckTool], code: str, source: str, limits: Limits, warm: str = "") -> Job:
    """Run installed linters over one file, mypy with a cache that was made before."""
    commands: dict[CheckTool, list[str]] = {
        "ruff": [
            *(RUFF_INSIDE, "check", "--isolated", "--no-cache", "--output-format", "json", "--select", RULES, source),
        ],
        "mypy": [*_mypy(), source],
        "bandit": [*_python(), "-m", "bandit", "-q", "-f", "json", source],
        "radon": [*_python(), "-c", RADON, source],
    }
    return _job([(tool, commands[tool]) for tool in tools], limits, code=code, source=source, kept=warm)


def _job(
    commands: list[tuple[CheckTool, list[str]]],
    limits: Limits,
    *,
    code: str = "",
    source: str = "nothing.py",
    kept: str = "",
    keep: bool = False,
) -> Job:
    there, ruff = packages(), ruff_program()
    tools = [tool for tool, _ in commands]
    given: Json = {"code": code, "source": source, "seconds": TOOL_SECONDS, "commands": commands}
    return Job(
        program=PROGRAM.read_text(),
        input=json.dumps({**given, "cache": CACHE, "kept": kept, "keep": keep}).encode(),
        mounts=(*there.mounts, *((Mount(source=str(ruff), target=RUFF_INSIDE),) if ruff and "ruff" in tools else ())),
        environment={"PYTHONPATH": there.path},
        script=True,
        limits=replace(limits, wall_seconds=RUN_SECONDS, cpu_seconds=RUN_SECONDS, processes=PROCESSES),
    )


def _python() -> list[str]:
    return [interpreter().program, "-S", "-B"]


def _mypy() -> list[str]:
    return [
        *(*_python(), "-m", "mypy", "--config-file=", f"--cache-dir={CACHE}", "--sqlite-cache", "--no-site-packages"),
        *("--check-untyped-defs", "--no-error-summary", "--output", "json"),
    ]


def read_linters(tools: Sequence[CheckTool], run: Run) -> Found:
    collected = _Collected()
    done: list[CheckTool] = []
    failed: dict[str, str] = dict.fromkeys(tools, "the run ended before its turn")
    for tool, code, output, errors in _lines(run.results):
        try:
            if code is None or code not in _READABLE[tool]:
                raise ValueError(errors.splitlines()[-1] if errors else f"it ended with {code}")
            _READERS[tool](output, collected)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            failed[tool] = " ".join(str(problem).split())[-MAX_MESSAGE:] or "its output can't be read"
            continue
        done.append(tool)
        del failed[tool]
    return Found(
        findings=tuple(collected.findings[:MOST_FINDINGS]),
        complexity=collected.measures.get("complexity"),
        maintainability=collected.measures.get("maintainability"),
        done=tuple(done),
        failed=tuple(f"{tool}: {why}" for tool, why in failed.items()),
    )


def _lines(results: bytes) -> list[tuple[CheckTool, int | None, str, str]]:
    return [cast("tuple[CheckTool, int | None, str, str]", tuple(json.loads(line))) for line in results.splitlines()]


def _ruff_said(output: str, collected: _Collected) -> None:
    for each in cast("list[Json]", json.loads(output)):
        code = str(each["code"] or "syntax")
        severity: Severity = "medium" if code.startswith(("E9", "F8", "invalid", "syntax")) else "low"
        _add(collected, "ruff", code, each["message"], each["location"]["row"], severity)


def _mypy_said(output: str, collected: _Collected) -> None:
    for line in output.splitlines():
        each = json.loads(line)
        if each["severity"] == "error":
            _add(collected, "mypy", each["code"] or "error", each["message"], each["line"], "medium")


def _bandit_said(output: str, collected: _Collected) -> None:
    said = json.loads(output)
    if said["errors"]:
        raise ValueError(str(said["errors"][0].get("reason", "it could not read the code")))
    for each in said["results"]:
        severity = cast(Severity, each["issue_severity"].lower())
        _add(collected, "bandit", each["test_id"], each["issue_text"], each["line_number"], severity)


def _radon_said(output: str, collected: _Collected) -> None:
    said = json.loads(output)
    collected.measures |= {name: round(float(said[name]), 2) for name in ("complexity", "maintainability")}


def _add(collected: _Collected, tool: CheckTool, rule: str, message: Any, line: Any, severity: Severity) -> None:
    collected.findings.append(
        Finding(tool=tool, rule=str(rule), message=str(message)[:MAX_MESSAGE], line=int(line), severity=severity)
    )


# Exit codes with which they still say what they have found.
_READABLE: dict[CheckTool, tuple[int, ...]] = {"ruff": (0, 1), "mypy": (0, 1, 2), "bandit": (0, 1), "radon": (0,)}
_READERS: dict[CheckTool, Callable[[str, _Collected], None]] = {
    "ruff": _ruff_said,
    "mypy": _mypy_said,
    "bandit": _bandit_said,
    "radon": _radon_said,
}
