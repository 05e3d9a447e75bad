"""The tool `repository` on what users really have: taken, or refused in words, and nothing of theirs is touched."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import ToolError
from moot.core.values import sha256_of
from moot.reasoning.code.requests import ChangeApplied, RepositoryOpened, ScriptRun
from moot.tools.git.repositories import Repositories
from moot.tools.sandbox import PROCESS
from tests.tools.test_git import SESSION, git, source, state

pytestmark = pytest.mark.slow

__all__ = ["source"]

PASSES = "def test_it():\n    assert True\n"


def use(folder: Path, path: Path, *texts: str, **request: Any) -> Any:
    tool = Repositories(root=lambda: folder / "clones", sandbox=PROCESS, asking=lambda: SESSION)
    given = {sha256_of(text): text for text in texts}
    return asyncio.run(tool.repository({"path": str(path), **request}, given))


def opened(folder: Path, path: Path) -> RepositoryOpened:
    return RepositoryOpened.model_validate(use(folder, path, about="Change the app."))


def change(folder: Path, path: Path, base: str, text: str) -> ChangeApplied:
    made = use(folder, path, text, base=base, change=sha256_of(text))
    return ChangeApplied.model_validate(made)


@pytest.fixture
def odd(tmp_path: Path, source: Path) -> Path:
    """A repository with hooks, a submodule, links out of the tree, a binary, and an index with changes."""
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "Inner")
    git(source, "stash", "-q", "-u")
    git(source, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    (source / "escape").symlink_to("/etc")
    (source / "out.py").symlink_to("/etc/passwd")
    (source / "picture.py").write_bytes(bytes(range(256)) * 8)
    (source / "test_it.py").write_text(PASSES)
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "Second")
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        hook = source / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    (source / "README.md").write_text("# Not committed\n")
    git(source, "-c", "core.hooksPath=/dev/null", "add", "README.md")
    return source


def test_hooks_submodules_links_binaries_and_an_index_with_changes(tmp_path, odd):
    before = state(odd)
    found = opened(tmp_path, odd)
    assert [(test.name.rpartition("::")[2], test.outcome) for test in found.tests.tests] == [("test_it", "passed")]
    assert not {"escape", "out.py", "inner"} & set(found.files)
    assert "picture.py" in found.files
    assert "picture.py" not in {file.path for file in found.shown}
    assert "Not committed" not in "".join(file.text for file in found.shown)
    notes = " ".join(found.notes)
    assert all(word in notes for word in ("not committed", "submodules", "symbolic links"))
    for path, problem in {
        "out.py": "is a symbolic link or a submodule",
        "escape/passwd": "lies below escape, which is no folder",
        "inner/x.py": "lies below inner, which is no folder",
        "../x.py": "must lie inside of the tree",
        ".git/hooks/pre-commit": "must lie inside of the tree",
    }.items():
        refused = change(tmp_path, odd, found.base, f"FILE: {path}\n```python\nx = 1\n```\n")
        assert refused.patch == ""
        assert problem in refused.problem
    assert state(odd) == before
    assert not (tmp_path / "ran").exists()


def test_a_patch_that_makes_a_link_is_refused(tmp_path, odd):
    patch = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n"
    base = git(odd, "rev-parse", "HEAD")
    refused = change(tmp_path, odd, base, f"```diff\n{patch}```\n")
    assert "would be a symbolic link" in refused.problem, refused


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("import unittest; raise unittest.SkipTest", "failed"),
        ("import os; os._exit(0)", "died"),
        ("return 1", "passed"),
    ],
)
def test_every_test_of_the_users_file_must_run_to_its_end(tmp_path, source, body, outcome):
    git(source, "stash", "-q", "-u")
    base = git(source, "rev-parse", "HEAD").strip()
    made = change(tmp_path, source, base, f"FILE: one.py\n```python\ndef one():\n    {body}\n```\n")
    given = "from one import one\n\ndef test_a():\n    assert True\n\ndef test_b():\n    assert one() == 1\n"
    names = {"version": sha256_of(made.patch), "tests": sha256_of(given)}
    run = ScriptRun.model_validate(use(tmp_path, source, made.patch, given, base=base, **names))
    assert {test.name: test.outcome for test in run.tests} == {
        "test_given.py::test_a": "passed",
        "test_given.py::test_b": outcome,
    }


def test_one_that_is_too_large_for_the_sandbox_says_how_much_fits(tmp_path, source):
    (source / "data.bin").write_bytes(bytes(10_000_000))
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "Large")
    before = state(source)
    with pytest.raises(ToolError, match=r"files of 10,000,\d+ bytes; 2,000 files of 8,388,608 bytes are the most"):
        opened(tmp_path, source)
    assert state(source) == before


def test_one_without_commits_says_what_to_do(tmp_path):
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(ToolError, match="has no commits yet. Commit what the debate should begin with"):
        opened(tmp_path, tmp_path / "empty")
