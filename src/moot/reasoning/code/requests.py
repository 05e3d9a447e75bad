"""What rules ask of the tools that run and check code, and what they get.

Requests name texts by their sha256. The texts are handed over beside them, so that each is stored once: in the turn in
which it was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from moot.core.types import Answer, Json, NonEmpty
from moot.reasoning.code.cases import Call, CaseRun

MAX_CODE_CHARS = 200_000
MAX_CALLS = 500
MAX_VERSIONS = 200
MAX_MESSAGE_CHARS = 2_000

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Ending = Literal["ended", "wall", "cpu", "memory", "processes", "files", "results"]
TestOutcome = Literal["passed", "failed", "error", "skipped", "timed_out", "died"]
CheckTool = Literal["ruff", "mypy", "bandit", "radon", "servers", "timing"]
Severity = Literal["low", "medium", "high"]


def _counted(outcomes: Iterable[str]) -> str:
    return ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in Counter(outcomes).items())


class RunLimits(Answer):
    """What a run was allowed to use, over all its processes together."""

    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    processes: int
    output_bytes: int
    case_cpu_seconds: float | None = None  # of one call
    case_wall_seconds: float | None = None


class RunCases(Answer):
    """Make calls to a version of some code, each in a process of its own."""

    version: Sha256
    language: NonEmpty = "python"
    calls: Annotated[tuple[Call, ...], Field(min_length=1, max_length=MAX_CALLS)]


class CasesRun(Answer):
    results: tuple[CaseRun, ...]  # one for each call
    ended_by: Ending = "ended"
    output: str = ""  # what the code printed, over all calls
    truncated: bool = False  # it printed more
    ms: int = 0
    limits: RunLimits
    fingerprint: str  # of the tools that ran it
    code: int = 0  # the exit code of the run, as shells have it

    def prose(self) -> str:
        words = _counted(each.outcome for each in self.results)
        ended = "" if self.ended_by == "ended" else f" The run ended at its limit ({self.ended_by})."
        return f"{len(self.results)} calls: {words}.{ended}"

    def tests_run(self, arguments: Json) -> list[Json]:
        """Whether a call passes is not known here: only the rules know what it should lead to."""
        calls = ["; ".join(call) for call in arguments["calls"]]
        return [
            {"case": call, "outcome": each.outcome, "got": each.value or each.error}
            for call, each in zip(calls, self.results, strict=False)
        ]


FILE_PATH = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$"
FilePath = Annotated[str, StringConstraints(pattern=FILE_PATH)]


class ExtraFile(Answer):
    path: FilePath
    text: Sha256


class RunScript(Answer):
    """Run a test file over a version of some code, in the process of that code."""

    version: Sha256
    language: NonEmpty = "python"
    tests: Sha256
    base: tuple[ExtraFile, ...] = ()  # files that lie beside them


class TestRun(Answer):
    __test__ = False  # for pytest: it is none

    name: str
    outcome: TestOutcome
    message: str = ""


class ScriptRun(Answer):
    """Weaker than cases: tests that run in one process with the code could be fooled by it."""

    tests: tuple[TestRun, ...]
    in_process: Literal[True] = True
    ended_by: Ending = "ended"
    code: int = 0  # the exit code of the command, where there was one
    output: str = ""
    truncated: bool = False
    ms: int = 0
    limits: RunLimits
    fingerprint: str

    @property
    def passed(self) -> bool:
        """Whether there were tests, and none but passed ones and such as their file marks as skipped."""
        outcomes = {test.outcome for test in self.tests}
        return "passed" in outcomes and outcomes <= {"passed", "skipped"} and self.ended_by == "ended"

    def prose(self) -> str:
        words = _counted(test.outcome for test in self.tests) or "none"
        return f"Tests, run in the process of the code: {words}."

    def tests_run(self, arguments: Json) -> list[Json]:
        return [{"case": each.name, "outcome": each.outcome, "got": each.message} for each in self.tests]


class Check(Answer):
    """Have tools look at a version of some code."""

    version: Sha256
    language: NonEmpty = "python"
    tools: Annotated[tuple[CheckTool, ...], Field(min_length=1)]
    previous: Sha256 | None = None  # the version that timing is compared with
    calls: Annotated[tuple[Call, ...], Field(max_length=MAX_CALLS)] = ()  # for timing


class Finding(Answer):
    """Something that a tool found wrong."""

    tool: NonEmpty  # a check tool, or a language server
    rule: str
    message: str
    line: int | None = None
    severity: Severity = "low"


class Metrics(Answer):
    """What was measured. None: it was not."""

    complexity: float | None = None  # cyclomatic, the worst function's
    maintainability: float | None = None  # 0 to 100
    time_ratio: float | None = None  # CPU time of the calls, over that of the previous version


class CheckRun(Answer):
    findings: tuple[Finding, ...] = ()
    metrics: Metrics = Metrics()
    done: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # tools that are not installed: nothing is known of what they would find
    failed: tuple[str, ...] = ()  # tools that gave no result, and why
    ms: int = 0
    limits: RunLimits | None = None  # None: nothing was run
    fingerprint: str

    def prose(self) -> str:
        parts = [f"{len(self.findings)} findings by {', '.join(self.done) or 'no tool'}."]
        parts += [f"Not installed: {', '.join(self.missing)}."] if self.missing else []
        parts += [f"Without a result: {'; '.join(self.failed)}."] if self.failed else []
        return " ".join(parts)


class SnapshotVersion(Answer):
    """Files as one version has them; those that it does not name stay as they were."""

    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MESSAGE_CHARS)]
    files: tuple[ExtraFile, ...]
    deleted: tuple[FilePath, ...] = ()
    at: Annotated[int, Field(ge=0)] = 0  # the date of the commit, in seconds since 1970


class Snapshot(Answer):
    """Commit versions, each over the one before it. The same request gives the same commits, wherever it is made."""

    base: tuple[ExtraFile, ...] = ()  # what the first one changes
    versions: Annotated[tuple[SnapshotVersion, ...], Field(min_length=1, max_length=MAX_VERSIONS)]


class SnapshotCommit(Answer):
    commit: str
    diff: str  # against the one before it


class SnapshotRun(Answer):
    commits: tuple[SnapshotCommit, ...]  # one for each version
    diff: str  # of the last against the base
    fingerprint: str

    @property
    def commit(self) -> str:
        return self.commits[-1].commit

    def prose(self) -> str:
        return f"{len(self.commits)} commits; the last is {self.commit[:12]}."


# A repository of the user's, of which debates have a private clone. `path` is where it lies on the machine.


class OpenRepository(Answer):
    """Look at a repository, and run its tests as they are."""

    path: NonEmpty
    about: str  # the task: files that it is about are shown
    tests: Sha256 | None = None  # a test file of the user's that is added to its own


class ShownFile(Answer):
    path: str
    text: str


class RepositoryOpened(Answer):
    base: str  # the commit that changes begin with
    files: tuple[str, ...]  # paths, as many as are listed
    count: int  # of all files
    shown: tuple[ShownFile, ...]
    notes: tuple[str, ...] = ()
    tests: ScriptRun  # as they are without any change

    def prose(self) -> str:
        return f"{self.count} files at {self.base[:12]}. {self.tests.prose()}"

    def tests_run(self, arguments: Json) -> list[Json]:
        return self.tests.tests_run(arguments)


class ApplyChange(Answer):
    """Turn a change, as an engineer wrote it, into a patch."""

    path: NonEmpty
    base: str
    change: Sha256


class ChangeApplied(Answer):
    patch: str = ""  # empty: it changes nothing, or can't be applied
    problem: str = ""  # why it can't

    def prose(self) -> str:
        return self.problem or self.patch or "It changes nothing."


class RunRepository(Answer):
    """Run the tests of a repository, as they are in its base, over a patch. Its result is a ScriptRun."""

    path: NonEmpty
    base: str
    version: Sha256  # a patch
    tests: Sha256 | None = None


class Deliver(Answer):
    """Bring a patch into the user's repository, as a commit on a branch of its own."""

    path: NonEmpty
    base: str
    version: Sha256
    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MESSAGE_CHARS)]


class Delivered(Answer):
    branch: str
    commit: str

    def prose(self) -> str:
        return f"The branch {self.branch} is at {self.commit[:12]}."


class CloseRepository(Answer):
    """Remove the private clone: nothing is delivered."""

    path: NonEmpty
    closes: Literal[True] = True


class RepositoryClosed(Answer):
    def prose(self) -> str:
        return "The private clone is removed."
