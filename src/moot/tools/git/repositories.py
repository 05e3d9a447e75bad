"""The tool `repository`: work on a repository of the user's in a private clone, and one branch delivered at the end.

Its tests run in the sandbox, as they are in the commit that the debate began with: a change can't alter what it is
measured by."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from moot.core.errors import InputError, ToolError
from moot.core.types import Json
from moot.reasoning.bm25 import Bm25, words
from moot.reasoning.code.changes import change_in
from moot.reasoning.code.requests import (
    ApplyChange,
    ChangeApplied,
    CloseRepository,
    Deliver,
    Delivered,
    OpenRepository,
    RepositoryClosed,
    RepositoryOpened,
    RunRepository,
    ScriptRun,
    ShownFile,
    TestRun,
)
from moot.reasoning.code.test_files import is_test_path
from moot.tools.code import limits_of, read_request, text_of
from moot.tools.git.changes import LINK, SUBMODULE, Entry, contents, entries, patch_of, tree_of
from moot.tools.git.command import GitError
from moot.tools.git.workspace import Workspace, branch_of, open_workspace, sweep
from moot.tools.runners.cases import inside
from moot.tools.runners.inside.python_script import tests_in
from moot.tools.runners.scripts import PROCESSES, read_results, without_skips
from moot.tools.runners.toolchain import fingerprint, installed, packages
from moot.tools.sandbox import Job, Limits, Sandbox

MOST_FILES = 2_000
MOST_BYTES = 8 * 1024 * 1024  # of all files that go into the sandbox
MOST_LISTED = 200
SHOWN_CHARS = 12_000  # of all files that are shown
FILE_CHARS = 6_000
GIVEN = "test_given.py"
WAIT_SECONDS = 60.0

TextOf = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class Repositories:
    """Clones lie below `root`, one for each debate; they are removed when it ends, and those of debates that never end
    by the next process that uses this tool. `asking`: the debate whose step is being executed."""

    root: Callable[[], Path]
    sandbox: Sandbox
    asking: Callable[[], str]
    limits: Limits = field(default_factory=Limits)
    swept: set[Path] = field(default_factory=set[Path])

    async def repository(self, arguments: Json, texts: Mapping[str, str]) -> Json:
        def text(name: str) -> str:
            return text_of(name, texts)

        root, session = self.root(), self.asking() or "none"
        if root not in self.swept:
            self.swept.add(root)
            await asyncio.to_thread(sweep, root, (session,))
        request = _request(arguments)
        if isinstance(request, CloseRepository):
            await asyncio.to_thread(_remove, root, session)
            return RepositoryClosed().model_dump(mode="json")
        try:
            async with open_workspace(root, session, Path(request.path), wait_seconds=WAIT_SECONDS) as workspace:
                match request:
                    case OpenRepository():
                        done = await self._opened(workspace, request, text)
                    case ApplyChange():
                        return (await _applied(workspace, request, text)).model_dump(mode="json")
                    case RunRepository():
                        tree = await tree_of(workspace, request.base, text(request.version))
                        given = "" if request.tests is None else text(request.tests)
                        done = await self._tested(workspace, request.base, tree, given)
                    case Deliver():
                        done = await _delivered(workspace, request, text)
                        await asyncio.to_thread(shutil.rmtree, workspace.folder, ignore_errors=True)
        except InputError as wrong:
            raise ToolError(str(wrong)) from None
        return done.model_dump(mode="json")

    async def _opened(self, workspace: Workspace, request: OpenRepository, text: TextOf) -> RepositoryOpened:
        found = await entries(workspace, workspace.base)
        plain = {path: entry for path, entry in found.items() if entry.mode not in (LINK, SUBMODULE)}
        given = "" if request.tests is None else text(request.tests)
        return RepositoryOpened(
            base=workspace.base,
            files=tuple(sorted(plain)[:MOST_LISTED]),
            count=len(plain),
            shown=await _about(workspace, plain, request.about),
            notes=workspace.notes,
            tests=await self._tested(workspace, workspace.base, workspace.base, given),
        )

    async def _tested(self, workspace: Workspace, base: str, tree: str, given: str) -> ScriptRun:
        """Run the tests of `base` over the files of `tree`."""
        if installed("pytest") is None:
            raise ToolError("The tests of a repository are run with pytest, which is not installed beside moot.")
        before, now = await entries(workspace, base), await entries(workspace, tree)
        kept = {path: entry for path, entry in now.items() if not is_test_path(path)}
        kept |= {path: entry for path, entry in before.items() if is_test_path(path)}
        plain = {path: entry for path, entry in kept.items() if entry.mode not in (LINK, SUBMODULE)}
        size = sum(entry.size for entry in plain.values())
        if len(plain) > MOST_FILES or size > MOST_BYTES:
            raise ToolError(
                f"The repository has {len(plain):,} files of {size:,} bytes; {MOST_FILES:,} files of {MOST_BYTES:,} "
                "bytes are the most that tests are run over."
            )
        files = await contents(workspace, plain)
        files |= {GIVEN: given.encode()} if given else {}
        encoded = {path: base64.b64encode(data).decode() for path, data in files.items()}
        there = packages()
        job = Job(
            program=inside("repository_tests.py"),
            files={"pytest_results.py": inside("pytest_results.py").encode()},
            input=json.dumps({"files": encoded, "packages": there.path, "test_file": GIVEN}).encode(),
            mounts=there.mounts,
            script=True,
            limits=replace(self.limits, processes=max(self.limits.processes, PROCESSES)),
        )
        run = await self.sandbox.run(job)
        return ScriptRun(
            tests=_complete(without_skips(read_results(run), given, GIVEN), given),
            ended_by=run.ended_by,
            output=run.output,
            truncated=run.truncated,
            ms=run.wall_ms,
            limits=limits_of(job),
            fingerprint=await asyncio.to_thread(fingerprint),
        )


def _complete(tests: tuple[TestRun, ...], given: str) -> tuple[TestRun, ...]:
    """With every test of the user's file: one of which nothing was heard has died, and took the others with it."""
    try:
        names = [f"{GIVEN}::{name}" for name in tests_in(given)[0]]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return tests
    heard = {test.name.partition("[")[0] for test in tests}
    silent = (TestRun(name=name, outcome="died", message="It did not run.") for name in names if name not in heard)
    return (*tests, *silent)


def _remove(root: Path, session: str) -> None:
    """Remove the clone of one debate, unless it is in use."""
    others = [each.name for each in root.iterdir() if each.name != session] if root.is_dir() else []
    sweep(root, others)


def _request(arguments: Json) -> OpenRepository | ApplyChange | RunRepository | Deliver | CloseRepository:
    """What is asked, by the fields that it has."""
    if "closes" in arguments:
        return read_request(CloseRepository, arguments)
    if "about" in arguments:
        return read_request(OpenRepository, arguments)
    if "change" in arguments:
        return read_request(ApplyChange, arguments)
    if "message" in arguments:
        return read_request(Deliver, arguments)
    return read_request(RunRepository, arguments)


async def _applied(workspace: Workspace, request: ApplyChange, text: TextOf) -> ChangeApplied:
    try:
        change = change_in(text(request.change))
        return ChangeApplied(patch=await patch_of(workspace, request.base, change))
    except ValueError as wrong:
        return ChangeApplied(problem=str(wrong))
    except InputError as wrong:
        return ChangeApplied(problem=str(wrong))
    except GitError as wrong:
        return ChangeApplied(problem=f"The diff does not apply: {wrong}")


async def _delivered(workspace: Workspace, request: Deliver, text: TextOf) -> Delivered:
    """Commit the patch over the base and fetch it into the user's repository. A repetition gives the same commit."""
    tree = await tree_of(workspace, request.base, text(request.version))
    at = await workspace.git.line(workspace.clone, "show", "-s", "--no-show-signature", "--format=%ct", request.base)
    commit = await workspace.commit(tree, request.base, message=f"{request.message}\n", at=float(at))
    await workspace.deliver(commit)
    return Delivered(branch=branch_of(workspace.session), commit=commit)


async def _about(workspace: Workspace, files: Mapping[str, Entry], task: str) -> tuple[ShownFile, ...]:
    """The files that a task is about: those that it names, then those whose words are nearest to its own."""
    small = {path: entry for path, entry in files.items() if entry.size <= FILE_CHARS * 4}
    texts: dict[str, str] = {}
    for path, data in (await contents(workspace, dict(list(small.items())[:MOST_FILES]))).items():
        with suppress(UnicodeDecodeError):
            texts[path] = data.decode()
    paths = list(texts)
    index = Bm25([Counter(words(f"{path.replace('/', ' ')} {texts[path]}")) for path in paths])
    scores = dict(zip(paths, index.scores(words(task)), strict=True))
    ranked = sorted(paths, key=lambda path: (path not in task and PurePosixPath(path).stem not in task, -scores[path]))
    shown: list[ShownFile] = []
    room = SHOWN_CHARS
    for path in ranked:
        text = texts[path]
        if text.strip() and len(text) <= min(room, FILE_CHARS):
            shown.append(ShownFile(path=path, text=text))
            room -= len(text)
    return tuple(shown)
