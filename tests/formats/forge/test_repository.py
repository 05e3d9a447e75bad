"""A forge over a repository: patches, its own tests, one branch at the end."""

from __future__ import annotations

import pytest

from moot.core.errors import InputError
from moot.core.settings import folders_in, read
from moot.core.types import UNDECIDED, FinalAnswer
from moot.formats.forge import FORMAT
from moot.formats.forge.settings import ForgeSettings
from moot.reasoning.code.changes import change_in, written_change
from tests.formats.forge.world import ALL_WRONG, INVALID, RIGHT, WRONG, World, forge, repair

REPO = {"repo": "/a/repository"}


def test_the_patch_that_passes_the_tests_of_the_repository_is_delivered():
    played = forge(World({**ALL_WRONG, "e3": RIGHT}, repair=repair(WRONG)), **REPO)
    outcome = played.outcome
    assert outcome.answer == FinalAnswer(kind="patch", value=RIGHT)
    assert outcome.facts["Branch"] == "debate/0"
    assert outcome.headline == "Version 3 by Engineer C passes the one test that counts (1 of the repository)."
    assert "A note." in outcome.notes
    asked = {step.seat.role for step in played.steps if step.kind == "ask"}
    assert not asked & {"tester", "oracle"}
    assert "mid.py" in played.step("0/write/e1").prompt.text


def test_nothing_is_delivered_that_fails_the_tests_of_the_repository():
    played = forge(World(ALL_WRONG, repair=repair(WRONG)), **REPO)
    assert (played.outcome.winner, played.outcome.answer) == (UNDECIDED, None)
    assert not [step for step in played.steps if step.phase == "deliver"]
    assert played.outcome.headline.startswith("No version passes the test that must pass. In the test file, ")
    assert played.outcome.decided_by == "tests that were run"


def test_a_patch_that_skips_the_tests_of_the_repository_wins_nothing():
    skips = "import unittest\n\ndef mid(a, b):\n    raise unittest.SkipTest\n"
    played = forge(World(dict.fromkeys(("e1", "e2", "e3"), skips), repair=repair(skips)), **REPO)
    assert (played.outcome.winner, played.outcome.answer) == (UNDECIDED, None)
    assert "The change makes it skip, which is no pass." in played.outcome.headline


def test_without_any_test_no_model_is_asked():
    played = forge(World(), repo="/an/empty")
    assert not [step for step in played.steps if step.kind == "ask"]
    assert played.outcome.ended_by == "no_tests"
    assert played.outcome.headline.startswith("The repository has no test that passes")
    assert played.outcome.decided_by == "the rules, because there was no test"


TEST = "from mid import mid\n\n\ndef test_given():\n    assert mid(1, 2) == 2\n"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (REPO, "In python, with the repository's own tests; "),
        ({**REPO, "tests": TEST}, "In python, with the repository's own tests and 1 given test; "),
        ({"cases": ["mid(1, 2) == 2"]}, "In python, with 1 given test; "),
        ({}, "In python, with 0 given tests; "),
    ],
)
def test_the_header_counts_as_given_what_a_person_gave(settings, said):
    (header,) = [each.data for each in forge(**settings).shown if each.type == "HEADER"]
    assert FORMAT.header(header)[0].startswith(said)


def test_without_a_change_no_test_ran_in_the_process_of_one():
    words = "Tests ran in the process of the code, which could interfere with them."
    assert words in forge(**REPO).outcome.notes
    nothing = forge(World(write=INVALID), **REPO)
    assert words not in nothing.outcome.notes
    assert nothing.outcome.decided_by == "the rules, because nothing was run"
    file = "from solution import mid\nassert mid(-1, -2) == 0\n"
    assert not any("in the process" in note for note in forge(World(write=INVALID), tests=file).outcome.notes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"repo": "here"}, "must be a whole path"),
        ({**REPO, "cases": ["f(1) == 2"]}, "give a test file"),
        ({**REPO, "language": "javascript"}, "in python only"),
        ({**REPO, "adversarial": True}, "takes single calls"),
        ({**REPO, "gates": ["adversarial"]}, "it is off"),
    ],
)
def test_what_a_repository_can_not_have_is_refused(settings, said):
    with pytest.raises(InputError, match=said):
        read(ForgeSettings, settings)


def test_its_path_is_marked_as_a_folder_of_the_machine():
    assert folders_in(ForgeSettings, {**REPO, "tests": "x"}) == REPO


def test_changes_are_read_as_models_write_them():
    files = "FILE: a/b.py\n```python\nx = 1\n```\n**FILE: `c.py`**\n```\n```\n"
    text = f"Cause: x\n\n{files}DELETE: old.py\n```diff\n--- a/d\n+++ b/d\n```\n"
    change = change_in(text)
    assert change.files == (("a/b.py", "x = 1\n"), ("c.py", ""))
    assert change.deleted == ("old.py",)
    assert change.patch == "--- a/d\n+++ b/d\n"
    assert change_in(written_change(change)) == change
    for wrong in ("nothing", "FILE: a.py\n```\nnot closed"):
        with pytest.raises(ValueError, match=r"no change|not closed"):
            change_in(wrong)
