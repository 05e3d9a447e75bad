"""Makes calls to code in the sandbox, and reads what came of them."""

from __future__ import annotations

import marshal
import signal
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from moot.core.errors import ToolError
from moot.reasoning.code.cases import CaseRun
from moot.reasoning.code.values import MAX_DEPTH, NotAValue, decoded, literal
from moot.tools.runners.toolchain import node
from moot.tools.sandbox import Job, Limits, Run

INSIDE = Path(__file__).with_name("inside")
VALUE_BYTES = 64 * 1024
START_SECONDS = 20.0  # for Node
_LENGTH = struct.Struct(">I")
_REPORT = struct.Struct(">IIIi?")


@dataclass(frozen=True, kw_only=True)
class CaseLimits:
    """Limits of one call."""

    cpu_seconds: float = 2.0  # what counts: a busy machine makes no code slower by it
    wall_seconds: float = 10.0  # for code that waits


VersionCall = tuple[int, Sequence[str]]  # the number of a version of the code, and a call to it


def cases_job(
    harness: Literal["python", "javascript"],
    versions: Sequence[str],
    calls: Sequence[VersionCall],
    limits: Limits,
    each: CaseLimits,
) -> Job:
    """Make calls to versions of some code, in the order given. Raises ToolError if what runs them is not installed."""
    if harness == "python":
        return Job(program=inside("python_cases.py"), input=_input(versions, calls, each), limits=limits)
    found = node()
    if found is None:
        raise ToolError("Node is not installed on this machine, so JavaScript can't be run.")
    return Job(
        program=inside("javascript_cases.py"),
        files={"cases.js": inside("cases.js").encode()},
        input=_input(versions, calls, each, node=list(found.command), start_seconds=START_SECONDS),
        mounts=found.mounts,
        limits=limits,
    )


@cache
def inside(name: str) -> str:
    return (INSIDE / name).read_text()


def _input(versions: Sequence[str], calls: Sequence[VersionCall], each: CaseLimits, **more: Any) -> bytes:
    settings = {
        "versions": list(versions),
        "cpu_seconds": each.cpu_seconds,
        "wall_seconds": each.wall_seconds,
        "value_bytes": VALUE_BYTES,
        "depth": MAX_DEPTH,
        **more,
    }
    frames = [marshal.dumps(given) for given in (settings, *([number, list(call)] for number, call in calls))]
    return b"".join(_LENGTH.pack(len(frame)) + frame for frame in frames)


def read_cases(run: Run, count: int) -> tuple[CaseRun, ...]:
    """What came of each call. What the run has no result for was not run, or took the run down."""
    found: list[CaseRun] = []
    at = 0
    while at + _LENGTH.size <= len(run.results) and len(found) < count:
        (size,) = _LENGTH.unpack_from(run.results, at)
        report = run.results[at + _LENGTH.size : at + _LENGTH.size + size]
        if len(report) < size or size < _REPORT.size:
            break
        found.append(_case(report))
        at += _LENGTH.size + size
    if len(found) < count:
        at_limit = f"The run was at its limit ({run.ended_by})."
        why = "It took the whole run down." if run.ended_by == "ended" else at_limit
        found.append(CaseRun(outcome="died", message=why))
    found += [CaseRun(outcome="not_run", message="The run had ended before.") for _ in range(count - len(found))]
    return tuple(found)


def _case(report: bytes) -> CaseRun:
    ms, cpu_us, peak, ended, late = _REPORT.unpack_from(report)
    message = report[_REPORT.size :]
    peak_bytes = peak * 1024 if peak else None
    measured: dict[str, Any] = {"ms": ms, "cpu_ms": round(cpu_us / 1000, 1), "peak_bytes": peak_bytes}
    kind, content = message[:1], message[1:]
    if late or (not kind and ended == -signal.SIGXCPU):
        return CaseRun(outcome="timed_out", **measured)
    if not kind:
        return CaseRun(outcome="died", error=_ending(ended), message="It ended without a result.", **measured)
    if kind == b"R":
        try:
            return CaseRun(outcome="returned", value=literal(decoded(content)), **measured)
        except NotAValue as wrong:
            return CaseRun(outcome="unreadable", message=str(wrong), **measured)
    name, words = _fields(content)
    if kind == b"E":
        return CaseRun(outcome="raised", error=name, message=words, **measured)
    return CaseRun(outcome="invalid" if kind == b"I" else "unreadable", error=name, message=words, **measured)


def _fields(content: bytes) -> tuple[str, str]:
    texts = ["", ""]
    at = 0
    for number in range(2):
        if at + _LENGTH.size > len(content):
            break
        (size,) = _LENGTH.unpack_from(content, at)
        texts[number] = content[at + _LENGTH.size : at + _LENGTH.size + size].decode(errors="replace")
        at += _LENGTH.size + size
    return texts[0], texts[1]


def _ending(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        return f"signal {-code}"
