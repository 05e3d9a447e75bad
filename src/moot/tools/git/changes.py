"""Changes to a private clone, without a work tree: patches against a commit, and the files of what comes of them."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from moot.core.errors import InputError
from moot.reasoning.code.changes import Change
from moot.tools.git.command import GitError
from moot.tools.git.workspace import Workspace, check_path

LINK, SUBMODULE, PLAIN = "120000", "160000", "100644"
MAX_PATCH_CHARS = 180_000
NOWHERE = "/dev/null"

_HEAD = re.compile(r"^diff --git ", re.MULTILINE)
_FILE = re.compile(
    r"^--- (?P<old>a/[^\t\n]+|/dev/null)(?:\t.*)?\n\+\+\+ (?P<new>b/[^\t\n]+|/dev/null)(?:\t.*)?\n(?=@@ )", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A file of a commit."""

    mode: str
    blob: str
    size: int


async def entries(workspace: Workspace, tree: str) -> dict[str, Entry]:
    """The files of a commit or a tree, by path."""
    listed = await workspace.git(
        workspace.clone, "ls-tree", "-r", "-z", "--format=%(objectmode) %(objectname) %(objectsize) %(path)", tree
    )
    found: dict[str, Entry] = {}
    for line in listed.decode(errors="surrogateescape").split("\0"):
        if line:
            mode, blob, size, path = line.split(" ", 3)
            found[path] = Entry(mode=mode, blob=blob, size=int(size) if size.isdigit() else 0)
    return found


async def contents(workspace: Workspace, files: Mapping[str, Entry]) -> dict[str, bytes]:
    """The bytes of files."""
    if not files:
        return {}
    wanted = "".join(f"{entry.blob}\n" for entry in files.values()).encode()
    given = await workspace.git(workspace.clone, "cat-file", "--batch", given=wanted)
    found: dict[str, bytes] = {}
    at = 0
    for path in files:
        end = given.index(b"\n", at)
        size = int(given[at:end].split(b" ")[2])
        found[path] = given[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found


async def patch_of(workspace: Workspace, base: str, change: Change) -> str:
    """A change as a patch against `base`. Raises InputError for paths that leave the tree or lead through a link, and
    GitError if a diff in it does not apply."""
    known = await entries(workspace, base)
    for path in (*dict(change.files), *change.deleted):
        check_path(path)
        _check_place(path, known)
    lines: list[str] = []
    for path, text in change.files:
        blob = await workspace.git(
            workspace.clone, "hash-object", "-w", "--no-filters", "--stdin", given=text.encode(errors="replace")
        )
        mode = known[path].mode if path in known else PLAIN
        lines.append(f"{mode} {blob.decode().strip()}\t{path}\n")
    for path in change.deleted:
        if path not in known:
            raise InputError(f"There is no file {path} to delete.")
        lines.append(f"0 {'0' * 40}\t{path}\n")
    async with _index(workspace, base) as environ:
        await workspace.git(
            workspace.clone, "update-index", "--index-info", given="".join(lines).encode(), environ=environ
        )
        if change.patch:
            await _apply(workspace, change.patch, environ)
        tree = await workspace.git.line(workspace.clone, "write-tree", environ=environ)
    return await _checked_patch(workspace, base, tree, known)


async def tree_of(workspace: Workspace, base: str, patch: str) -> str:
    """The tree that a patch makes of `base`."""
    async with _index(workspace, base) as environ:
        await _apply(workspace, patch, environ)
        return await workspace.git.line(workspace.clone, "write-tree", environ=environ)


async def _apply(workspace: Workspace, patch: str, environ: Mapping[str, str]) -> None:
    await workspace.git(
        workspace.clone,
        "apply",
        "--cached",
        "--recount",
        "--whitespace=nowarn",
        "-",
        given=with_heads(patch).encode(errors="replace"),
        environ=environ,
    )


def with_heads(patch: str) -> str:
    """A patch with a line `diff --git` before each file. Without it, git takes the `--- path` of a second file for a
    line that the first one loses, since it counts the lines of a hunk anew."""
    return patch if _HEAD.search(patch) else _FILE.sub(_headed, patch)


def _headed(file: re.Match[str]) -> str:
    old, new = file["old"], file["new"]
    path = new[2:] if old == NOWHERE else old[2:]
    mode = {old: "new file mode 100644\n", new: "deleted file mode 100644\n"}.get(NOWHERE, "")
    return f"diff --git a/{path} b/{path}\n{mode}{file[0]}"


@asynccontextmanager
async def _index(workspace: Workspace, base: str) -> AsyncGenerator[dict[str, str]]:
    """An index of its own with the files of a commit."""
    index = workspace.folder / f"index.{os.getpid()}.{os.urandom(4).hex()}"
    environ = {"GIT_INDEX_FILE": str(index), "GIT_DIR": str(workspace.clone)}
    try:
        await workspace.git(workspace.clone, "read-tree", base, environ=environ)
        yield environ
    finally:
        index.unlink(missing_ok=True)


async def _checked_patch(workspace: Workspace, base: str, tree: str, known: Mapping[str, Entry]) -> str:
    now = await entries(workspace, tree)
    for path, entry in now.items():
        if known.get(path) != entry:
            check_path(path)
            _check_place(path, known)
            if entry.mode in (LINK, SUBMODULE):
                raise InputError(f"{path} would be a symbolic link or a submodule: a change can have plain files only.")
    shown = await workspace.git(
        workspace.clone,
        "diff-tree",
        "-p",
        "-r",
        "--binary",
        "--full-index",
        "--no-ext-diff",
        "--no-textconv",
        base,
        tree,
    )
    try:
        patch = shown.decode()
    except UnicodeDecodeError:
        raise InputError("The change has files that are no text in UTF-8.") from None
    if len(patch) > MAX_PATCH_CHARS:
        raise InputError(f"The change has {len(patch):,} characters; {MAX_PATCH_CHARS:,} is the most.")
    return patch


def _check_place(path: str, known: Mapping[str, Entry]) -> None:
    """Raises InputError if a path is a link, or lies below something that is no folder."""
    parts = path.split("/")
    if path in known and known[path].mode in (LINK, SUBMODULE):
        raise InputError(f"{path} is a symbolic link or a submodule: a change can't write to it.")
    for n in range(1, len(parts)):
        above = "/".join(parts[:n])
        if above in known:
            raise InputError(f"{path} lies below {above}, which is no folder of the repository but a file or a link.")


__all__ = ["Entry", "GitError", "contents", "entries", "patch_of", "tree_of"]
