"""Git for debates: snapshots that repeat, a branch that is delivered, and a user's repository that stays as it was."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import InputError, ToolError
from moot.tools.git import Git, GitError, open_workspace, sweep
from moot.tools.git.changes import with_heads

pytestmark = pytest.mark.slow

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


async def test_the_diff_applies_to_a_clean_base(tmp_path, source):
    async with open_workspace(tmp_path / "work", SESSION, source) as work:
        made = await work.snapshot({"src/app.py": "print('é')\n", "new.bin": "\x01\x02"}, message="One", at=1)
    clean = tmp_path / "clean"
    git(tmp_path, "clone", "-q", str(source), str(clean))
    subprocess.run(["git", "apply", "--index"], cwd=clean, input=made.diff.encode(), check=True)
    assert (clean / "src/app.py").read_text() == "print('é')\n"
    assert (clean / "new.bin").read_text() == "\x01\x02"


def test_the_same_snapshot_has_the_same_id_everywhere(tmp_path):
    ids = [asyncio.run(patched(tmp_path / name, None)) for name in ("one", "two", "one")]
    assert ids[0] == ids[1] == ids[2]


async def test_history_blame_and_files_of_any_snapshot(tmp_path):
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


async def test_nothing_that_a_repository_names_is_run(tmp_path, source):
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

    async with open_workspace(tmp_path / "work", SESSION, source) as work:
        made = await work.snapshot({"src/app.py": "x = 1\n"}, message="One", at=1)
        async with work.worktree(made.commit) as folder:
            assert (folder / "src/app.py").read_text() == "x = 1\n"
        await work.blame("src/app.py")
        assert await work.deliver() == made.commit
    assert not canary.exists()
    subprocess.run([str(hooks / "post-merge")], stdin=subprocess.DEVNULL, check=True)
    assert canary.exists()  # the canary does sing


def test_an_address_that_is_rewritten_delivers_nothing_and_says_so(tmp_path, source):
    git(source, "config", f"url.ext::sh -c touch% {tmp_path}/ran.insteadOf", str(tmp_path))
    with pytest.raises(GitError, match="could not be delivered"):
        asyncio.run(patched(tmp_path / "work", source))
    assert not (tmp_path / "ran").exists()


async def test_links_are_plain_files_and_submodules_stay_out(tmp_path, source):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "Inner")
    (source / "escape").symlink_to("/etc")
    git(source, "add", "escape")
    git(source, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    git(source, "commit", "-q", "-m", "Second")

    async with open_workspace(tmp_path / "work", SESSION, source) as work, work.worktree(work.base) as folder:
        assert not (folder / "escape").is_symlink()
        assert (folder / "escape").read_text() == "/etc"
        assert list((folder / "inner").iterdir()) == []
    notes = " ".join(work.notes)
    assert "submodules" in notes
    assert "symbolic links" in notes


@pytest.mark.parametrize(
    "path",
    ["../out", "/etc/passwd", "a/../b", "a/.GIT/hooks/x", "a\nb", "", "a//b", "GIT~1/x", 'q"x'],
)
async def test_paths_that_leave_the_tree_are_refused(tmp_path, path):
    async with open_workspace(tmp_path, SESSION) as work:
        with pytest.raises(InputError, match="must lie inside of the tree"):
            await work.snapshot({path: "x"}, message="m", at=1)


async def test_sources_that_can_not_be_used_say_why(tmp_path, source):
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
            await patched(tmp_path / "work", folder)
    with pytest.raises(InputError, match="can't name a branch"):
        await open_workspace(tmp_path / "work", "../x").__aenter__()


async def test_a_workspace_belongs_to_one_process_at_a_time_and_is_swept_when_it_is_not_needed(tmp_path):
    async with open_workspace(tmp_path, SESSION):
        with pytest.raises(ToolError, match="in use by another process"):
            await open_workspace(tmp_path, SESSION, wait_seconds=0).__aenter__()
        assert sweep(tmp_path, ()) == []
    assert sweep(tmp_path, {SESSION}) == []
    assert sweep(tmp_path, ()) == [SESSION]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("fetch --quiet", r"could not be delivered to .* git fetch took longer than 5 s .* It is safe in"),
        ("rev-parse --git-dir", "^git rev-parse took longer than 5 s and was ended"),
    ],
)
def test_a_git_that_hangs_is_ended_with_all_that_it_started(tmp_path, source, monkeypatch, command, problem):
    before, real, pids = state(source), shutil.which("git"), tmp_path / "pids"
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    hangs = f"sleep 600 & echo $! $$ > {pids}; wait"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *"{command}"*) {hangs};; esac\nexec {real} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setattr("moot.tools.git.command.shutil.which", lambda name: str(slow))
    call, limit = Git.__call__, "moot.tools.git.command.TIMEOUT_SECONDS"

    async def hurried(self: Git, folder: Path, *arguments: str, **options: Any) -> bytes:
        monkeypatch.setattr(limit, 5.0 if " ".join(arguments).startswith(command) else 600.0)
        return await call(self, folder, *arguments, **options)

    monkeypatch.setattr(Git, "__call__", hurried)
    with pytest.raises(GitError, match=problem):
        asyncio.run(patched(tmp_path / "work", source))
    assert state(source) == before
    started = pids.read_text().split()
    assert len(started) == 2
    assert not any(_runs(pid) for pid in started)
    monkeypatch.undo()
    asyncio.run(patched(tmp_path / "work", source))


def _runs(pid: str) -> bool:
    """Whether a process is there that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_locks_that_a_killed_command_has_left_are_no_hindrance(tmp_path, source):
    expected = asyncio.run(patched(tmp_path / "work", source))
    git(source, "branch", "-q", "-D", f"debate/{SESSION}")
    clone = tmp_path / "work" / SESSION / "clone.git"
    locks = [clone / "packed-refs.lock", clone / f"refs/heads/debate/{SESSION}.lock"]
    locks.append(source / f".git/refs/heads/debate/{SESSION}.lock")
    for lock in locks:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    others = source / ".git/refs/heads/trunk.lock"
    others.touch()
    assert asyncio.run(patched(tmp_path / "work", source)) == expected
    assert git(source, "rev-parse", f"debate/{SESSION}") == expected[1]
    assert not any(lock.exists() for lock in locks)
    assert others.exists(), "a lock of the user's own is left alone"


@pytest.mark.parametrize("every", [(), pytest.param(("every",), marks=pytest.mark.soak)], ids=["some", "every"])
@pytest.mark.parametrize("what", ["snapshot", "delivery"])
def test_killed_at_any_moment_it_is_repeated_with_the_same_result_and_nothing_is_left(tmp_path, source, what, every):
    (tmp_path / "all/given").mkdir(parents=True)
    source.rename(tmp_path / "all/given/source")
    before = state(tmp_path / "all/given/source")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.killing_git", what, str(tmp_path / "all"), *every],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert {"os.mkdir", "os.rename", "shutil.rmtree", "os.remove", "fcntl.flock"} <= set(told["moments"])
    assert set(told["moments"]) == set(told["found"])
    assert len(told["found"]) > 40
    assert list(temporary.iterdir()) == []
    assert list((tmp_path / "all/whole/work").iterdir()) == []
    assert state(tmp_path / "all/whole/source") == before, "nothing of the user's has changed"
    if what == "delivery":
        assert "git fetch goes on" in told["moments"]
        delivered = git(tmp_path / "all/whole/source", "rev-parse", told["result"]["branch"])
        assert delivered == told["result"]["commit"]


def test_a_diff_of_several_files_gets_the_heads_that_git_needs_to_part_them():
    old = "--- a/b/one.py\n+++ b/b/one.py\n@@ -1 +1 @@\n-x\n+y\n"
    new = "--- /dev/null\n+++ b/two.py\n@@ -0,0 +1 @@\n+z\n"
    gone = "--- a/three.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n"
    assert with_heads(old + new + gone) == (
        f"diff --git a/b/one.py b/b/one.py\n{old}"
        f"diff --git a/two.py b/two.py\nnew file mode 100644\n{new}"
        f"diff --git a/three.py b/three.py\ndeleted file mode 100644\n{gone}"
    )
    assert with_heads(with_heads(old)) == with_heads(old)
