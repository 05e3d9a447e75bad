"""Language servers that the operator has listed in `language_servers`: where they are, and what they say of code. They
run in the sandbox, without a network and without any variable of moot's."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from moot.core.settings import LanguageServer
from moot.core.values import Json
from moot.reasoning.code.requests import Finding, Severity
from moot.tools.checks.linters import MAX_MESSAGE, MOST_FINDINGS, PROCESSES
from moot.tools.runners.declared import PATH
from moot.tools.runners.toolchain import packages
from moot.tools.sandbox import Job, Limits, Mount, Run
from moot.tools.sandbox.limits import MEGABYTE
from moot.tools.sandbox.mounts import interpreter

PROGRAM = Path(__file__).with_name("inside") / "language_server.py"
TOOLS = "/opt/tools"  # where programs lie inside that lie anywhere outside
MEMORY = 1024 * MEGABYTE  # what runs on Node reserves more than it uses
SPARE_SECONDS = 10.0  # beyond the time of a server, for the run to end by itself
LANGUAGE_IDS = {"shell": "shellscript"}  # where the protocol has another name
SEVERITIES: dict[int, Severity] = {1: "medium", 2: "low"}  # errors and warnings; others only inform
_PYTHON = re.compile(rb"#!.*\bpython[0-9.]*\s*$")


def tool_name(name: str) -> str:
    """What a server is called among tools. No server can take the name of a linter."""
    return f"language server {name}"


@dataclass(frozen=True, kw_only=True)
class Located:
    """A server as it is started inside."""

    command: tuple[str, ...]
    mounts: tuple[Mount, ...]
    environment: dict[str, str]

    @property
    def lacks(self) -> str:
        """A folder that it needs and that is not there; empty: none."""
        return next((each.source for each in self.mounts if not Path(each.source).exists()), "")


def located(server: LanguageServer) -> Located | None:
    """Where a server is; None if it is not installed. Programs of the environment that moot runs in are found first."""
    own = str(Path(sys.executable).parent)
    program = os.path.expanduser(server.command[0])
    found = shutil.which(program, path=os.pathsep.join((own, PATH, os.environ.get("PATH", ""))))
    if found is None:
        return None
    folders = [os.path.expanduser(each).rstrip("/") for each in server.mounts]
    mounts = tuple(Mount(source=each, target=each) for each in folders)
    paths = [f"{each}/bin" for each in folders]
    environment = {"PATH": ":".join((*paths, "/usr/local/bin", "/usr/bin", "/bin")), **server.environment}
    if Path(found).parent == Path(own) and _is_python(found):
        there, inside = packages(), f"{TOOLS}/{Path(found).name}"
        return Located(
            command=(interpreter().program, "-S", "-B", inside, *server.command[1:]),
            mounts=(*mounts, *there.mounts, Mount(source=found, target=inside)),
            environment={"PYTHONPATH": there.path, **environment},
        )
    if found.startswith("/usr/") or any(found.startswith(f"{each}/") for each in folders):
        return Located(command=(found, *server.command[1:]), mounts=mounts, environment=environment)
    inside = f"{TOOLS}/{Path(found).name}"
    return Located(
        command=(inside, *server.command[1:]),
        mounts=(*mounts, Mount(source=os.path.realpath(found), target=inside)),
        environment=environment,
    )


def _is_python(program: str) -> bool:
    with Path(program).open("rb") as file:
        return _PYTHON.match(file.readline(1_000)) is not None


def server_job(at: Located, server: LanguageServer, code: str, source: str, language: str, limits: Limits) -> Job:
    seconds = server.timeout_seconds
    given = {
        "command": at.command,
        "code": code,
        "source": source,
        "language": LANGUAGE_IDS.get(language, language),
        "seconds": seconds,
    }
    wall = seconds + SPARE_SECONDS
    return Job(
        program=PROGRAM.read_text(),
        input=json.dumps(given).encode(),
        mounts=at.mounts,
        environment=at.environment,
        script=True,
        limits=replace(limits, wall_seconds=wall, cpu_seconds=wall, memory_bytes=MEMORY, processes=PROCESSES),
    )


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a server said of code, or why it said nothing."""

    findings: tuple[Finding, ...] = ()
    problem: str = ""
    about: str = ""  # its own name and version


def read_server(name: str, run: Run) -> Said:
    if run.ended_by != "ended":
        return Said(problem=f"the run was at its limit ({run.ended_by})")
    try:
        said = cast(Json, json.loads(run.results))
        if "problem" in said:
            return Said(problem=_words(said["problem"]))
        found = [_finding(name, each) for each in said["diagnostics"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Said(problem="its diagnostics can't be read")
    wrong = tuple(each for each in found if each is not None)[:MOST_FINDINGS]
    return Said(findings=wrong, about=_words(said.get("server") or name)[:80])


def _finding(name: str, given: Any) -> Finding | None:
    """A diagnostic as a finding; None if it only informs."""
    severity = given.get("severity", 1)  # where a server leaves it open, the protocol leaves it to us
    if severity not in SEVERITIES:
        return None
    line = given["range"]["start"]["line"]
    return Finding(
        tool=tool_name(name),
        rule=_words(given.get("code") or given.get("source") or "diagnostic")[:100],
        message=_words(given["message"])[:MAX_MESSAGE],
        line=int(line) + 1,  # the protocol counts from 0
        severity=SEVERITIES[severity],
    )


def _words(said: Any) -> str:
    return " ".join(str(said).split())
