"""Templates: built in, the user's own, and invalid files."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import InputError, UnknownName
from moot.memory.library import DOOR, library

GOOD = """---
id: {id}
name: Two envelopes
summary: Compare what is in both.
keywords: [envelope, swap]
---
Open one. Then think.
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_the_built_in_ones_are_whole_and_sorted():
    templates = library(None).templates
    assert [template.id for template in templates] == sorted({template.id for template in DOOR.get("moot")})
    assert len(templates) >= 24
    assert {template.file for template in templates} == {None}


def test_a_users_own_is_added_and_replaces_one_of_ours(tmp_path):
    own = write(tmp_path, "mine.md", GOOD.format(id="two-envelopes"))
    ours = DOOR.get("moot")[0]
    other = write(tmp_path, "other.md", GOOD.format(id=ours.id))
    write(tmp_path, "notes.txt", "not a template")
    known = library(tmp_path)
    assert known.problems == []
    assert len(known.templates) == len(DOOR.get("moot")) + 1
    mine = known.get("two-envelopes")
    assert (mine.file, mine.front.name, mine.text) == (own, "Two envelopes", "Open one. Then think.")
    assert known.get(ours.id).file == other
    assert known.get("Two Envelopes") in (mine, known.get(ours.id))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Just text.", "has no front matter. Begin it with a line ---"),
        ("---\nid: x\nname: X\n---\nText.", "Field summary is missing"),
        ("---\nid: x\nname: X\nsummary: S\n---\n\n", "has no text below its front matter"),
        ("---\nid: x\nname: X\nsummary: S\nkeyword: [a]\n---\nText.", "Did you mean 'keywords'?"),
        ("---\nid: x\nname: [a\n---\nText.", "is not valid YAML"),
        ("---\n- a\n---\nText.", "should be a mapping"),
        ("---\nid: x\nname: X\nsummary: S\nkeywords: {a: 1}\n---\nText.", "Field keywords"),
        (b"---\nid: x\nname: X\nsummary: S\n---\n\xff\xfe", "is not UTF-8 text"),
        ("---\nid: x\nname: X\nsummary: S\n---\n" + "x" * 300_000, "more than 200,000 bytes"),
    ],
)
def test_a_bad_file_is_named_with_what_to_do_and_spoils_no_other(tmp_path, text, said):
    bad = write(tmp_path, "bad.md", text)
    write(tmp_path, "good.md", GOOD.format(id="good"))
    known = library(tmp_path)
    (problem,) = known.problems
    assert str(bad) in problem
    assert said in problem
    assert known.get("good").front.name == "Two envelopes"
    with pytest.raises(InputError, match=r"bad\.md"):
        known.get("bad")


def test_two_files_with_one_id_are_told_apart(tmp_path):
    one, two = (write(tmp_path, f"{name}.md", GOOD.format(id="same")) for name in ("a", "b"))
    known = library(tmp_path)
    assert known.get("same").file == one
    (problem,) = known.problems
    assert str(one) in problem
    assert str(two) in problem


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_folder_that_is_none(tmp_path, kind):
    folder = tmp_path / "templates"
    if kind == "file":
        folder.write_text("")
    known = library(folder)
    assert len(known.templates) == len(DOOR.get("moot"))
    assert str(folder) in known.problems[0]
    assert "templates_dir" in known.problems[0]


def test_a_name_that_is_not_there_gets_a_suggestion():
    with pytest.raises(UnknownName, match="Did you mean 'pigeonhole'"):
        library(None).get("pigenhole")


@pytest.mark.parametrize("text", ["\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), "\n\n" + GOOD, GOOD.rstrip()])
def test_what_editors_do_to_files_does_no_harm(tmp_path, text):
    write(tmp_path, "mine.md", text.format(id="mine"))
    known = library(tmp_path)
    assert known.problems == []
    assert known.get("mine").text == "Open one. Then think."
