"""Snapshots for rules: versions as commits whose ids depend on nothing but the request."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

from moot.core.errors import ToolError
from moot.core.values import sha256_of
from moot.reasoning.code.requests import Snapshot, SnapshotCommit, SnapshotRun, SnapshotVersion
from moot.tools.git.workspace import Workspace, open_workspace, sweep

BASE = "What the debate begins with"
WAIT_SECONDS = 60.0  # for another process that takes the same snapshot
MAX_DIFF_CHARS = 2_000_000

TextOf = Callable[[str], str]  # the text that a request names


class Snapshots:
    """Takes snapshots in a folder below `root`, which is removed again. One that a killed process has left behind is
    removed by the next that takes any."""

    def __init__(self, root: Callable[[], Path]) -> None:
        self._root = root
        self._swept = False

    async def taken(self, request: Snapshot, text_of: TextOf) -> SnapshotRun:
        """Raises InputError for paths that leave the tree, and ToolError if git can't do it."""
        root = self._root()
        if not self._swept:
            await asyncio.to_thread(sweep, root, ())
            self._swept = True
        session = sha256_of(request.model_dump_json())[:40]
        async with open_workspace(root, session, wait_seconds=WAIT_SECONDS) as workspace:
            try:
                return await _committed(workspace, request, text_of)
            finally:
                await asyncio.to_thread(shutil.rmtree, workspace.folder, ignore_errors=True)


async def _committed(workspace: Workspace, request: Snapshot, text_of: TextOf) -> SnapshotRun:
    base = workspace.base
    if request.base:
        files = {file.path: text_of(file.text) for file in request.base}
        base = (await workspace.snapshot(files, message=BASE, at=0)).commit
    made: list[SnapshotCommit] = []
    for version in request.versions:
        done = await workspace.snapshot(_files(version, text_of), message=version.message, at=version.at)
        made.append(SnapshotCommit(commit=done.commit, diff=done.diff))
    if sum(len(each.diff) for each in made) > MAX_DIFF_CHARS:
        raise ToolError(f"The changes have more than {MAX_DIFF_CHARS:,} characters; snapshot fewer versions at once.")
    return SnapshotRun(
        commits=tuple(made),
        diff=await workspace.diff(base, made[-1].commit),
        fingerprint=await asyncio.to_thread(git_version),
    )


def _files(version: SnapshotVersion, text_of: TextOf) -> dict[str, str | None]:
    changed: dict[str, str | None] = {file.path: text_of(file.text) for file in version.files}
    return changed | dict.fromkeys(version.deleted)


@cache
def git_version() -> str:
    """Name and version of git; empty where it is not installed."""
    program = shutil.which("git")
    if program is None:
        return ""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    return said.strip()
