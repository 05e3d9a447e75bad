"""Unified diffs: what applies, what does not, and that git agrees."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from moot.corpus import repository_tasks
from moot.reasoning.code.patches import applied, diff_of

FILES = {"a.py": "one\ntwo\n\nthree\nfour\n", "pkg/b.py": "x = 1\n"}


def patch(*lines: str, path: str = "a.py") -> str:
    return "\n".join((f"--- a/{path}", f"+++ b/{path}", *lines)) + "\n"


def test_every_patch_of_the_corpus_leads_where_it_came_from():
    for each in repository_tasks():
        for made in (each.solution, *each.mistakes):
            now = applied(each.files, made)
            assert now != each.files
            assert diff_of(each.files, now) == made


@pytest.mark.slow
def test_git_applies_them_to_the_same(tmp_path: Path):
    for n, each in enumerate(repository_tasks()):
        folder = tmp_path / str(n)
        for path, text in each.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        done = subprocess.run(("git", "apply", "-"), cwd=folder, input=each.solution, text=True, check=False)
        assert done.returncode == 0
        assert {path: (folder / path).read_text() for path in each.files} == applied(each.files, each.solution)


def test_files_are_made_deleted_and_renamed():
    made = "--- /dev/null\n+++ b/new/c.py\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    gone = "--- a/pkg/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
    moved = "diff --git a/a.py b/z.py\nsimilarity index 100%\nrename from a.py\nrename to z.py\n"
    assert applied(FILES, made + gone + moved) == {"new/c.py": "one\ntwo\n", "z.py": FILES["a.py"]}
    assert applied(FILES, diff_of(FILES, {"a.py": "1\n"})) == {"a.py": "1\n"}


@pytest.mark.parametrize(
    "hunk",
    [
        ("@@ -1,3 +1,3 @@", " one", "-two", "+2", " "),
        ("@@ -4,9 +40,1 @@", " one", "-two", "+2", ""),  # wrong numbers, and a blank line without its mark
        ("@@ -2 +2 @@", "-two", "+2"),
        ("@@ -1,3 +1,3 @@ def f():", " one", "-two", "+2", "\\ No newline at end of file"),
        ("@@ -1,5 +1,5 @@", " one", "-two", "+2", "", " three", " four", "", ""),
    ],
)
def test_sloppy_hunks_apply(hunk: tuple[str, ...]):
    assert applied(FILES, patch(*hunk))["a.py"] == "one\n2\n\nthree\nfour\n"


def test_of_equal_places_the_nearest_is_taken_and_hunks_keep_their_order():
    files = {"a.py": "x\n" * 10}
    assert applied(files, patch("@@ -7 +7 @@", "-x", "+y"))["a.py"] == "x\n" * 6 + "y\n" + "x\n" * 3
    twice = patch("@@ -2 +2,2 @@", "-x", "+y", "+y", "@@ -9 +10 @@", "-x", "+z")
    assert applied(files, twice)["a.py"] == "x\n" + "y\ny\n" + "x\n" * 6 + "z\n" + "x\n"
    assert applied(files, patch("@@ -3,0 +4 @@", "+new"))["a.py"] == "x\n" * 3 + "new\n" + "x\n" * 7


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "no unified diff"),
        ("Just rename two.", "no unified diff"),
        (patch(), "changes nothing"),
        (patch("@@ -1 +1 @@", "-zero", "+0"), "does not fit a.py"),
        (patch("@@ -1,2 +1,1 @@", " one", "-three"), "does not fit a.py"),
        (patch("@@ ... @@", "-two", "+2"), "no head of a hunk"),
        (patch("@@ -1 +1 @@", "-one", "+1", path="nowhere.py"), "no file nowhere.py"),
        ("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+1\n", "there already"),
        ("--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "leaves some"),
        ("@@ -1 +1 @@\n-one\n+1\n", "before the name"),
        ("diff --git a/x b/x\nGIT binary patch\n", "binary"),
        ('--- "a/\\303"\n+++ "b/\\303"\n@@ -1 +1 @@\n-one\n+1\n', "quoted"),
        (patch("@@ -9,0 +9 @@", "+far"), "does not fit"),
    ],
)
def test_what_does_not_apply_is_refused_in_words(given: str, said: str):
    with pytest.raises(ValueError, match=said):
        applied(FILES, given)
