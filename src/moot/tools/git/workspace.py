"""A debate's workspace: a private bare clone, snapshots as commits on one branch, worktrees for those who run them."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import shutil
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from moot.core.errors import InputError
from moot.core.types import record
from moot.tools.git.command import AUTHOR, Git, GitError, GitTooSlow

MAX_FILES = 2_000
MAX_FILE_BYTES = 1024 * 1024
WAIT_SECONDS, LOOK_SECONDS = 10.0, 0.05  # for a workspace that is in use
CLONE, TREES, LOCK = "clone.git", "trees", "lock"
SNAPSHOTS = "refs/moot/snapshots"

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@record
class Snapshot:
    """Files as they stood, as a commit of the debate's branch."""

    commit: str
    diff: str  # against its parent


@record
class Commit:
    id: str
    at: int  # seconds since 1970
    subject: str


@record
class Blame:
    """A line of a file, and the commit that it comes from."""

    commit: str
    line: int
    text: str


def branch_of(session: str) -> str:
    return f"debate/{session}"


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A private clone for one session. Made by `open_workspace`; its folder outlives a crash and is used again."""

    git: Git
    folder: Path
    session: str
    source: Path | None  # the user's repository; None: the debate begins with nothing
    base: str  # the commit that it begins with
    notes: tuple[str, ...] = ()  # what of the user's repository is not in it

    @property
    def clone(self) -> Path:
        return self.folder / CLONE

    @property
    def branch(self) -> str:
        return branch_of(self.session)

    async def head(self) -> str:
        """Where the branch ends."""
        return await self.git.line(self.clone, "rev-parse", f"refs/heads/{self.branch}")

    async def snapshot(
        self, files: Mapping[str, str | None], *, message: str, at: float, parent: str | None = None
    ) -> Snapshot:
        """Commit files over `parent`, by default the end of the branch; None deletes one. The branch moves on if it
        ended there; another snapshot stands beside it. The same files, message, time and parent give the same commit,
        so a repetition after a crash changes nothing. Raises InputError for paths that leave the tree."""
        parent = await self.head() if parent is None else await self._commit(parent)
        edits = await self._edits(files)
        index = self.folder / f"index.{os.getpid()}.{id(edits)}"
        environ = {"GIT_INDEX_FILE": str(index)}
        try:
            await self.git(self.clone, "read-tree", parent, environ=environ)
            await self.git(self.clone, "update-index", "--index-info", given=edits, environ=environ)
            tree = await self.git.line(self.clone, "write-tree", environ=environ)
        finally:
            index.unlink(missing_ok=True)
        commit = await self.commit(tree, parent, message=message, at=at)
        if await self.head() == parent:
            await self.git(self.clone, "update-ref", f"refs/heads/{self.branch}", commit, parent)
        return Snapshot(commit=commit, diff=await self.diff(parent, commit))

    async def commit(self, tree: str, parent: str, *, message: str, at: float) -> str:
        """Commit a tree of the clone, beside the branch. The same arguments give the same commit."""
        made = await self.git(
            self.clone, "commit-tree", tree, "-p", parent, given=message.encode(), environ=_signature(at)
        )
        commit = made.decode().strip()
        await self.git(self.clone, "update-ref", f"{SNAPSHOTS}/{commit}", commit)
        return commit

    async def _edits(self, files: Mapping[str, str | None]) -> bytes:
        """Store files as objects; return what `update-index --index-info` reads."""
        if len(files) > MAX_FILES:
            raise InputError(f"A snapshot can have {MAX_FILES:,} files; these are {len(files):,}.")
        lines: list[str] = []
        for path, text in files.items():
            check_path(path)
            if text is None:
                lines.append(f"0 {'0' * 40}\t{path}")
                continue
            data = text.encode()
            if len(data) > MAX_FILE_BYTES:
                raise InputError(f"{path} has {len(data):,} bytes; {MAX_FILE_BYTES:,} is the most.")
            blob = (await self.git(self.clone, "hash-object", "-w", "--no-filters", "--stdin", given=data)).decode()
            lines.append(f"100644 {blob.strip()}\t{path}")
        return "".join(f"{line}\n" for line in lines).encode()

    async def diff(self, one: str, two: str) -> str:
        """A unified diff that `git apply` takes; binary files included."""
        given = [await self._commit(each) for each in (one, two)]
        shown = await self.git(
            self.clone, "diff-tree", "-p", "-r", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", *given
        )
        return shown.decode(errors="replace")

    async def history(self, path: str, commit: str | None = None) -> list[Commit]:
        """The commits that changed a file, newest first."""
        check_path(path)
        start = await self._commit(commit or await self.head())
        shown = await self.git.line(self.clone, "log", "--no-show-signature", "--format=%H %ct %s", start, "--", path)
        found = [line.split(" ", 2) for line in shown.splitlines()]
        return [Commit(id=each[0], at=int(each[1]), subject=each[2] if len(each) > 2 else "") for each in found]

    async def blame(self, path: str, commit: str | None = None) -> list[Blame]:
        """Each line of a file with the commit that it comes from."""
        check_path(path)
        start = await self._commit(commit or await self.head())
        shown = await self.git(self.clone, "blame", "--porcelain", start, "--", path)
        found: list[Blame] = []
        at, number = "", 0
        for line in shown.decode(errors="replace").split("\n"):
            head = line.split(" ")
            if line.startswith("\t"):
                found.append(Blame(commit=at, line=number, text=line[1:]))
            elif _COMMIT.fullmatch(head[0]) and len(head) >= 3:
                at, number = head[0], int(head[2])
        return found

    async def read(self, path: str, commit: str | None = None) -> str:
        """A file of a commit. Raises GitError if it has none."""
        check_path(path)
        start = await self._commit(commit or await self.head())
        return (await self.git(self.clone, "cat-file", "blob", f"{start}:{path}")).decode(errors="replace")

    @asynccontextmanager
    async def worktree(self, commit: str) -> AsyncGenerator[Path]:
        """The files of a commit in a folder of their own, removed at the end. Links are plain files in it."""
        commit = await self._commit(commit)
        folder = self.folder / TREES / f"{commit[:12]}.{os.getpid()}.{os.urandom(4).hex()}"
        await self.git(self.clone, "worktree", "add", "--detach", "--quiet", str(folder), commit)
        try:
            yield folder
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            with suppress(GitError):  # the next sweep removes what is left of it
                await self.git(self.clone, "worktree", "prune")

    async def deliver(self, commit: str | None = None) -> str:
        """Bring a snapshot, by default the end of the branch, into the user's repository as its branch
        `debate/<session>`, by one fetch; return its commit. A repetition changes nothing. The user's index, files,
        hooks and other branches are not touched."""
        if self.source is None:
            raise InputError("There is no repository to deliver to.")
        commit, ref = await self._commit(commit or await self.head()), f"refs/heads/{self.branch}"
        try:
            try:
                await self._fetch(self.source, commit, ref)
            except GitError:
                if not await self._unlock(self.source, ref):
                    raise
                await self._fetch(self.source, commit, ref)
        except GitError as error:
            raise GitError(
                f"The branch {self.branch} could not be delivered to {self.source}. {error} "
                f"It is safe in {self.clone}.",
                said=error.said,
            ) from None
        arrived = await self.git.line(self.source, "rev-parse", "--verify", "--quiet", ref)
        if arrived != commit:
            raise GitError(f"{self.source} has another commit on {self.branch} than was delivered: it was not changed.")
        return commit

    async def _fetch(self, source: Path, commit: str, ref: str) -> None:
        await self.git(
            source,
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--upload-pack=git-upload-pack",
            str(self.clone),
            f"+{SNAPSHOTS}/{commit}:{ref}",
        )

    async def _unlock(self, source: Path, ref: str) -> bool:
        """Remove the lock of the delivered branch, which a fetch that was killed has left; False if there is none. No
        fetch of ours is under way: it would hold the workspace."""
        lock = source / await self.git.line(source, "rev-parse", "--git-path", f"{ref}.lock")
        try:
            await asyncio.to_thread(lock.unlink)
        except FileNotFoundError:
            return False
        return True

    async def _commit(self, name: str) -> str:
        if not _COMMIT.fullmatch(name):
            raise InputError(f"{name[:80]!r} is no id of a commit.")
        return name


@asynccontextmanager
async def open_workspace(
    root: Path, session: str, source: Path | None = None, *, wait_seconds: float = WAIT_SECONDS
) -> AsyncGenerator[Workspace]:
    """The workspace of a session, made or found again. `source` is read and not changed. Only one process at a time has
    a workspace: raises GitError if another has it for longer than `wait_seconds`. Raises InputError if the source can't
    be used."""
    if not _SESSION.fullmatch(session):
        raise InputError(f"{session[:80]!r} can't name a branch: use letters, digits and hyphens.")
    folder = root / session
    source = None if source is None else Path.cwd() / source
    async with _locked_folder(folder, wait_seconds) as lock:
        # Commands of git that outlive a process which was killed hold its lock until they end.
        git = Git(folder / "home", holds=lock)
        for left in folder.glob("index.*"):  # of a process that was killed
            left.unlink(missing_ok=True)
        await asyncio.to_thread(shutil.rmtree, folder / TREES, ignore_errors=True)
        notes = await _check_source(git, source) if source is not None else ()
        base = await _cloned(git, folder, session, source)
        yield Workspace(git=git, folder=folder, session=session, source=source, base=base, notes=notes)


async def _cloned(git: Git, folder: Path, session: str, source: Path | None) -> str:
    """Make the clone, unless it is there; return the commit that it begins with."""
    clone, ref = folder / CLONE, "refs/moot/base"
    if clone.is_dir():
        for left in (*clone.glob("*.lock"), *clone.glob("refs/**/*.lock")):  # of commands that were killed
            left.unlink(missing_ok=True)
        with suppress(GitError):  # killed while it was made: begin again
            base = await git.line(clone, "rev-parse", "--verify", "--quiet", ref)
            await git(clone, "worktree", "prune")
            return base
        await asyncio.to_thread(shutil.rmtree, clone)
    new = folder / f"{CLONE}.new"
    await asyncio.to_thread(shutil.rmtree, new, ignore_errors=True)
    if source is None:
        await git(folder, "init", "--quiet", "--bare", str(new))
        tree = (await git(new, "mktree", given=b"")).decode().strip()
        made = await git(new, "commit-tree", tree, given=b"Nothing yet\n", environ=_signature(0))
        base = made.decode().strip()
    else:
        wanted = await git.line(source, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        await git(folder, "clone", "--quiet", "--bare", "--no-local", "--no-tags", str(source), str(new))
        base = await git.line(new, "rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")
    await git(new, "update-ref", f"refs/heads/{branch_of(session)}", base)
    await git(new, "update-ref", f"{SNAPSHOTS}/{base}", base)
    await git(new, "update-ref", ref, base)  # last: with it, the clone is whole
    new.rename(clone)
    return base


async def check_repository(root: Path, source: Path) -> None:
    """Raises InputError if a debate can't work on a repository. `root`: a folder of moot's own."""
    async with _locked_folder(root / "checking", WAIT_SECONDS) as lock:
        await _check_source(Git(root / "checking" / "home", holds=lock), source)


async def _check_source(git: Git, source: Path) -> tuple[str, ...]:
    """Notes on what of a repository a clone leaves out. Raises InputError if it can't be cloned."""
    if not await asyncio.to_thread(source.is_dir):
        raise InputError(f"There is no folder {source}. Give the folder of a git repository.")
    try:
        await git(source, "rev-parse", "--git-dir")
    except GitTooSlow:
        raise
    except GitError:
        raise InputError(f"{source} is no git repository. Make it one with `git init`, and commit.") from None
    try:
        await git(source, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitTooSlow:
        raise
    except GitError:
        raise InputError(f"{source} has no commits yet. Commit what the debate should begin with.") from None
    with suppress(GitError):
        await git(source, "config", "--local", "--get", "extensions.partialClone")
        raise InputError(f"{source} is a partial clone, which lacks objects. Make a full clone of it, and give that.")
    notes = ["It begins with the last commit: changes that are not committed are not in the workspace."]
    tree = await git(source, "ls-tree", "-r", "-z", "--format=%(objectmode)", "HEAD")
    modes = set(tree.decode().split("\0"))
    if "160000" in modes:
        notes.append("Its submodules are not in the workspace.")
    if "120000" in modes:
        notes.append("Its symbolic links are plain files in the workspace.")
    return tuple(notes)


def _signature(at: float) -> dict[str, str]:
    """The same author for every commit: its id depends on nothing but files, message, parent and time."""
    values = {**AUTHOR, "DATE": f"@{int(at)} +0000"}
    return {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in values.items()}


def check_path(path: str) -> None:
    """Raises InputError unless a path stays in the tree and can't be taken for git's own files."""
    parts = PurePosixPath(path).parts
    bad = (
        not parts
        or path != "/".join(parts)
        or any(part in ("..", ".") or part.lower().rstrip(". ") == ".git" or "~" in part for part in parts)
        or parts[0] == "/"
        or any(ord(char) < 32 or char in '\\"\x7f' for char in path)
        or len(path) > 1_000
    )
    if bad:
        raise InputError(f"{path[:80]!r} can't be the path of a file in a snapshot: it must lie inside of the tree.")


def _open_lock(folder: Path) -> int:
    """The descriptor of a folder's lock. The system releases it when no process has the descriptor open."""
    return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _take(lock: int) -> bool:
    """Lock it; False if another process has."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@asynccontextmanager
async def _locked_folder(folder: Path, wait_seconds: float) -> AsyncGenerator[int]:
    """Make a folder, and hold its lock. Raises GitError if another process has it for too long."""
    clock = asyncio.get_running_loop().time
    until = clock() + wait_seconds
    while (lock := _try_lock(folder)) is None:
        if clock() >= until:
            raise GitError(f"The workspace of {folder.name} is in use by another process.")
        await asyncio.sleep(LOOK_SECONDS)
    try:
        yield lock
    finally:
        os.close(lock)


def _try_lock(folder: Path) -> int | None:
    """The descriptor of the folder's lock, once it is ours."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        lock = _open_lock(folder)
    except FileNotFoundError:  # another process has just removed the folder
        return None
    if _take(lock) and _is_there(folder, lock):
        return lock
    os.close(lock)
    return None


def _is_there(folder: Path, lock: int) -> bool:
    """Whether the lock is that of the folder, which another process may have removed meanwhile."""
    try:
        return os.path.samestat(os.stat(folder / LOCK), os.fstat(lock))
    except FileNotFoundError:
        return False


def sweep(root: Path, keep: Collection[str]) -> list[str]:
    """Remove the workspaces of all sessions but these, except those in use; return the sessions removed."""
    removed: list[str] = []
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if folder.name in keep or not _SESSION.fullmatch(folder.name):
            continue
        try:
            lock = _open_lock(folder)
        except FileNotFoundError:  # another process has just removed it
            continue
        try:
            if _take(lock):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder.name)
        finally:
            os.close(lock)
    return removed
