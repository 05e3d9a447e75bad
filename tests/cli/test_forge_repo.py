"""`moot forge --repo`: a real repository, a real branch, and nothing else of it touched."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from moot.corpus import repository_tasks

pytestmark = pytest.mark.slow

TASK = "Make add(a, b) in calc.py add its numbers."
RIGHT = "FILE: calc.py\n```python\ndef add(a, b):\n    return a + b\n```\n"
ANSWERS = {
    "0/write/e1": "FILE: ../out.py\n```python\nx = 1\n```\n",
    "0/write/e2": RIGHT,
    "0/write/e3": "FILE: calc.py\n```python\ndef add(a, b):\n    return 0\n```\n",
    "*/repair/*": f"Cause: the sum\nWrong: 0\nChange: add\nConfidence: 0.9\n{RIGHT}",
    "*/critique/*": {"issues": []},
    "*/vote/*": {"reasoning": "It adds.", "ranking": ["V1"]},
    "*/teach/*": {"explanation": "It adds.", "lessons": []},
}


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a staged change, a hook that would leave a trace, and a link out of the tree."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "test_calc.py").write_text("import calc\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n")
    (folder / "passwords").symlink_to("/etc/passwd")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Begin")
    for name in ("post-checkout", "reference-transaction", "post-commit", "post-merge"):
        hook = folder / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked-{name}\n")
        hook.chmod(0o755)
    (folder / "calc.py").write_text("def add(a, b):\n    return None\n")
    git(folder, "add", "calc.py")
    return folder


def state(repo: Path) -> dict[str, str]:
    """What must not change: index, configuration, hooks and files."""
    watched = [repo / ".git" / name for name in ("index", "config", "HEAD")]
    watched += [*(repo / ".git" / "hooks").iterdir(), repo / "calc.py", repo / "test_calc.py"]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in watched}


def test_a_branch_is_delivered_and_nothing_else_is_touched(moot, repo: Path, tmp_path: Path):
    given, before = tmp_path / "test_add.py", state(repo)
    given.write_text("from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    out = tmp_path / "won.patch"
    result = moot(
        *("forge", TASK, "--repo", str(repo), "--tests", str(given), "--model", moot.script(ANSWERS)),
        *("--no-checkpoints", "--plain", "--out", str(out), "--set", "planning=none"),
    )
    assert result.code == 0, result.err + result.out
    assert state(repo) == before
    assert not list(tmp_path.glob("hooked-*"))
    [branch] = [line.strip("* ") for line in git(repo, "branch").splitlines() if "debate/" in line]
    assert branch in result.err
    assert git(repo, "show", f"{branch}:calc.py") == "def add(a, b):\n    return a + b\n"
    assert git(repo, "rev-parse", f"{branch}^") == git(repo, "rev-parse", "main")
    assert "A change of Engineer A could not be used: '../out.py' can't be the path of a file" in result.out, result.out
    clean = tmp_path / "clean"
    subprocess.run(["git", "clone", "-q", repo, clean], check=True)
    git(clean, "apply", str(out))
    assert (clean / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(("skills", "code"), [("skill=0&repair=1", 0), ("skill=0&repair=0", 1)])
def test_a_simulated_engineer_resolves_the_issue_as_often_as_its_skill(moot, tmp_path: Path, skills: str, code: int):
    task, folder = next(iter(repository_tasks())), tmp_path / "corpus"
    for name, text in task.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "Begin")
    given = tmp_path / "test_issue.py"
    given.write_text(task.tests)
    model = f"sim:?seed=3&{skills}"
    result = moot("forge", task.issue, "--repo", str(folder), "--tests", str(given), "--model", model, "--plain")
    assert result.code == code, result.err
    assert "could not be used" not in result.out
    assert len(git(folder, "branch", "--list", "debate/*").split()) == (code == 0)
    assert list(tmp_path.rglob("repositories/*")) == []  # private clones are removed, with a winner or without one
