"""Git for debates: snapshots that repeat, a branch that is delivered, and a user's repository that stays as it was."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import InputError, ToolError
from moot.tools.git import Git, GitError, open_workspace, sweep

SESSION = "3f2a9c41-0000-4000-8000-000000000000"
FILES = {"src/app.py": "print('hello')\n", "README.md": "# App\n"}


def git(folder: Path, *arguments: str) -> str:
    environ = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        **{f"GIT_{role}_{part}": "u" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
    }
    done = subprocess.run(["git", *arguments], cwd=folder, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def source(tmp_path) -> Path:
    """A repository with one commit, one staged change and one change that is not staged."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "First")
    (folder / "staged.txt").write_text("staged")
    git(folder, "add", "staged.txt")
    (folder / "README.md").write_text("# Changed\n")
    return folder


def state(folder: Path) -> dict[str, bytes]:
    """Every file of a repository but its objects and the debate's branch."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "objects" not in path.parts and "debate" not in path.parts
    }


async def patched(root: Path, source: Path | None) -> tuple[str, str]:
    """Two snapshots, delivered where there is a source; the ids of both."""
    async with open_workspace(root, SESSION, source) as work:
        one = await work.snapshot(
            {"src/app.py": "print('hi')\n", "new.py": "x = 1\n"}, message="One", at=1000.5, parent=work.base
        )
        two = await work.snapshot({"new.py": None}, message="Two", at=2000, parent=one.commit)
        if source is not None:
            assert await work.deliver() == two.commit
        return one.commit, two.commit


def test_snapshots_become_a_branch_of_the_users_repository_and_nothing_else_changes(tmp_path, source):
    before = state(source)
    one, two = asyncio.run(patched(tmp_path / "work", source))
    assert git(source, "rev-parse", f"debate/{SESSION}") == two
    assert git(source, "log", "--format=%s %ct %an", f"debate/{SESSION}").splitlines() == [
        "Two 2000 moot",
        "One 1000 moot",
        f"First {git(source, 'log', '-1', '--format=%ct', 'trunk')} u",
    ]
    assert git(source, "show", f"{one}:new.py") == "x = 1"
    assert git(source, "show", f"{two}:src/app.py") == "print('hi')"
    assert state(source) == before
    assert git(source, "status", "--porcelain").splitlines() == ["M README.md", "A  staged.txt"]


def test_the_diff_applies_to_a_clean_base(tmp_path, source):
    async def main():
        async with open_workspace(tmp_path / "work", SESSION, source) as work:
            made = await work.snapshot({"src/app.py": "print('é')\n", "new.bin": "\x01\x02"}, message="One", at=1)
            return made.diff

    diff = asyncio.run(main())
    clean = tmp_path / "clean"
    git(tmp_path, "clone", "-q", str(source), str(clean))
    subprocess.run(["git", "apply", "--index"], cwd=clean, input=diff.encode(), check=True)
    assert (clean / "src/app.py").read_text() == "print('é')\n"
    assert (clean / "new.bin").read_text() == "\x01\x02"


def test_the_same_snapshot_has_the_same_id_everywhere(tmp_path):
    ids = [asyncio.run(patched(tmp_path / name, None)) for name in ("one", "two", "one")]
    assert ids[0] == ids[1] == ids[2]


def test_history_blame_and_files_of_any_snapshot(tmp_path):
    async def main():
        async with open_workspace(tmp_path, SESSION) as work:
            one = await work.snapshot({"a.py": "x = 1\ny = 2\n"}, message="One", at=1)
            two = await work.snapshot({"a.py": "x = 1\ny = 3\n", "b.py": ""}, message="Two", at=2)
            history = await work.history("a.py")
            assert [(each.id, each.at, each.subject) for each in history] == [
                (two.commit, 2, "Two"),
                (one.commit, 1, "One"),
            ]
            lines = [(each.commit, each.line, each.text) for each in await work.blame("a.py")]
            assert lines == [(one.commit, 1, "x = 1"), (two.commit, 2, "y = 3")]
            assert await work.read("a.py", one.commit) == "x = 1\ny = 2\n"
            assert await work.head() == two.commit
            async with work.worktree(one.commit) as folder:
                assert (folder / "a.py").read_text() == "x = 1\ny = 2\n"
                assert not (folder / "b.py").exists()
            assert not folder.exists()

    asyncio.run(main())


def test_nothing_that_a_repository_names_is_run(tmp_path, source):
    """Hooks, filters, monitors, address rewriting, external diffs: each would leave a file behind."""
    canary = tmp_path / "ran"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    program.chmod(0o755)
    hooks = source / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change", "post-merge"):
        (hooks / name).write_bytes(program.read_bytes())
        (hooks / name).chmod(0o755)
    other = tmp_path / "other.git"
    git(tmp_path, "init", "-q", "--bare", str(other))
    (source / ".git/objects/info").mkdir(exist_ok=True)
    (source / ".git/objects/info/alternates").write_text(f"{other}/objects\n")
    (source / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    git(source, "add", ".gitattributes")
    git(source, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "Second")
    for name, value in {
        "core.fsmonitor": str(program),
        "core.hooksPath": str(hooks),
        "core.alternateRefsCommand": str(program),
        "core.sshCommand": str(program),
        "filter.evil.clean": str(program),
        "filter.evil.smudge": str(program),
        "diff.evil.command": str(program),
        "diff.evil.textconv": str(program),
        "diff.external": str(program),
        "gpg.program": str(program),
        "uploadpack.packObjectsHook": str(program),
        "commit.gpgSign": "true",
    }.items():
        git(source, "config", name, value)
    canary.unlink(missing_ok=True)  # the commands of this test were not so careful

    async def main():
        async with open_workspace(tmp_path / "work", SESSION, source) as work:
            made = await work.snapshot({"src/app.py": "x = 1\n"}, message="One", at=1)
            async with work.worktree(made.commit) as folder:
                assert (folder / "src/app.py").read_text() == "x = 1\n"
            await work.blame("src/app.py")
            return made.commit, await work.deliver()

    made, delivered = asyncio.run(main())
    assert made == delivered
    assert not canary.exists()
    subprocess.run([str(hooks / "post-merge")], stdin=subprocess.DEVNULL, check=True)
    assert canary.exists()  # the canary does sing


def test_an_address_that_is_rewritten_delivers_nothing_and_says_so(tmp_path, source):
    git(source, "config", f"url.ext::sh -c touch% {tmp_path}/ran.insteadOf", str(tmp_path))
    with pytest.raises(GitError, match="could not be delivered"):
        asyncio.run(patched(tmp_path / "work", source))
    assert not (tmp_path / "ran").exists()


def test_links_are_plain_files_and_submodules_stay_out(tmp_path, source):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "Inner")
    (source / "escape").symlink_to("/etc")
    git(source, "add", "escape")
    git(source, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    git(source, "commit", "-q", "-m", "Second")

    async def main():
        async with open_workspace(tmp_path / "work", SESSION, source) as work:
            async with work.worktree(work.base) as folder:
                assert not (folder / "escape").is_symlink()
                assert (folder / "escape").read_text() == "/etc"
                assert list((folder / "inner").iterdir()) == []
            return work.notes

    notes = " ".join(asyncio.run(main()))
    assert "submodules" in notes
    assert "symbolic links" in notes


@pytest.mark.parametrize(
    "path",
    ["../out", "/etc/passwd", "a/../b", ".git/config", "a/.GIT/hooks/x", "a\nb", "", "a//b", "a/", "GIT~1/x", 'q"x'],
)
def test_paths_that_leave_the_tree_are_refused(tmp_path, path):
    async def main():
        async with open_workspace(tmp_path, SESSION) as work:
            with pytest.raises(InputError, match="must lie inside of the tree"):
                await work.snapshot({path: "x"}, message="m", at=1)

    asyncio.run(main())


def test_sources_that_can_not_be_used_say_why(tmp_path, source):
    empty, plain = tmp_path / "empty", tmp_path / "plain"
    for folder in (empty, plain):
        folder.mkdir()
    git(empty, "init", "-q")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", str(source), str(partial))
    git(partial, "config", "extensions.partialClone", "origin")
    for folder, words in {
        empty: "has no commits yet",
        plain: "is no git repository",
        tmp_path / "none": "There is no folder",
        partial: "is a partial clone",
    }.items():
        with pytest.raises(InputError, match=words):
            asyncio.run(patched(tmp_path / "work", folder))
    with pytest.raises(InputError, match="can't name a branch"):
        asyncio.run(_opened(tmp_path / "work", "../x"))


async def _opened(root: Path, session: str, **options: float) -> None:
    async with open_workspace(root, session, **options):
        pass


def test_a_workspace_belongs_to_one_process_at_a_time_and_is_swept_when_it_is_not_needed(tmp_path):
    async def main():
        async with open_workspace(tmp_path, SESSION):
            with pytest.raises(ToolError, match="in use by another process"):
                await _opened(tmp_path, SESSION, wait_seconds=0)
            assert sweep(tmp_path, ()) == []

    asyncio.run(main())
    assert sweep(tmp_path, {SESSION}) == []
    assert sweep(tmp_path, ()) == [SESSION]
    assert list(tmp_path.iterdir()) == []


async def _killed_at(place: int, during: bool, root: Path, source: Path) -> None:
    """In a child process: kill it before the command at this place, or while that command runs."""
    call, counted = Git.__call__, 0

    async def counting(self: Git, folder: Path, *arguments: str, **options: Any) -> bytes:
        nonlocal counted
        running = None
        if counted == place and during:
            running = asyncio.ensure_future(call(self, folder, *arguments, **options))
            await asyncio.sleep(0)  # until its process is being started
        if counted == place:
            os.kill(os.getpid(), signal.SIGKILL)
        counted += 1
        return await (running or call(self, folder, *arguments, **options))

    Git.__call__ = counting  # type: ignore[method-assign]
    await patched(root, source)


def _in_child(place: int, during: bool, root: Path, source: Path) -> bool:
    """Whether it was killed there; False when there are fewer commands."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            asyncio.run(_killed_at(place, during, root, source))
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert status in (0, signal.SIGKILL)
    return status == signal.SIGKILL


@pytest.mark.slow
def test_killed_at_any_command_it_is_repeated_with_the_same_result(tmp_path, source):
    """SIGKILL at each command of a clone, two snapshots and a delivery, before it begins or while it runs."""
    undisturbed = tmp_path / "undisturbed"
    git(tmp_path, "clone", "-q", "--no-local", str(source), str(undisturbed))
    expected = asyncio.run(patched(tmp_path / "work", undisturbed))
    place = 0
    while True:
        root, target = tmp_path / f"work{place}", tmp_path / f"target{place}"
        git(tmp_path, "clone", "-q", str(source), str(target))
        killed = _in_child(place, place % 2 == 1, root, target)
        assert asyncio.run(patched(root, target)) == expected
        assert git(target, "rev-parse", f"debate/{SESSION}") == expected[1]
        assert not list(root.glob("*/index.*"))
        assert not list(root.glob("*/*.new"))
        assert sweep(root, ()) == [SESSION]
        if not killed:
            break
        place += 1
    assert place > 20
