"""`moot rename`, `pin`, `tag`, `archive` and `share`, with the real executable."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import Moot
from tests.cli.test_delete import a_debate

pytestmark = pytest.mark.slow


def listed(moot: Moot, *flags: str) -> list[str]:
    return [each["id"] for each in json.loads(moot("list", "--json", *flags).out)["debates"]]


def test_labels_at_the_terminal(moot: Moot):
    one, two = a_debate(moot), a_debate(moot, "Tabs or spaces?")
    assert "is called “The cache question”" in moot("rename", one[:8], "The", "cache question").out
    assert "is pinned" in moot("pin", one).out
    assert moot("tag", one, "Redis", "#infra").out.endswith("has the tags infra, redis.\n")
    assert "no longer in the list" in moot("archive", two).out

    line = moot("list").out.splitlines()[1]
    assert "(pinned) #infra #redis The cache question" in line
    assert "Tabs or spaces?" not in moot("list").out
    assert listed(moot) == listed(moot, "--pinned") == listed(moot, "--tag", "INFRA") == [one]
    assert listed(moot, "--archived") == [two]
    assert listed(moot, "--contains", "cache q") == [one]
    assert "Called “The cache question”, pinned, tags infra, redis" in moot("show", one).err
    assert "No debate matches" in moot("list", "--tag", "other").err

    assert moot("tag", one, "infra", "--remove").out.endswith("has the tags redis.\n")
    assert moot("tag", two).out.endswith("has no tags.\n")
    assert "no longer pinned" in moot("pin", one, "--off").out
    assert "by its question: “Redis or PostgreSQL?”" in moot("rename", one).out
    assert "back in the list" in moot("archive", one, two, "--off").out
    assert listed(moot) == [two, one]
    refused = moot("tag", one, "a,b")
    assert (refused.code, "comma" in refused.err) == (2, True)


def test_what_is_pinned_comes_first_on_every_page(moot: Moot):
    made = [a_debate(moot, f"Question {n}?") for n in range(4)]
    for pinned in made[:2]:
        moot("pin", pinned)
    wanted = [made[1], made[0], made[3], made[2]]
    assert listed(moot) == wanted
    first = json.loads(moot("list", "--json", "--limit", "3").out)
    assert [each["id"] for each in first["debates"]] == wanted[:3]
    assert listed(moot, "--after", first["next"]) == wanted[3:]


def test_a_debate_is_shared_by_link_and_as_a_file(moot: Moot, tmp_path):
    one = a_debate(moot, "Is <i>this</i> safe?")
    made = moot("share", one[:8], "--expires", "7d")
    assert re.fullmatch(r"http://127\.0\.0\.1:8421/shared/[\w-]{43}\n", made.out)
    (link,) = re.findall(r"--revoke (\w{8})", made.err)
    listed = moot("share", one, "--list").out.splitlines()
    assert [line.split()[0] for line in listed] == ["LINK", link]
    assert "1 link is no longer valid" in moot("share", one, "--revoke", link).out
    assert "No link shows" in moot("share", one, "--list").err
    assert moot("share", one, "--revoke", "nothing").code == 2

    file = tmp_path / "one.html"
    assert str(file) in moot("share", one, "--html", str(file)).out
    text = file.read_text(encoding="utf-8")
    assert "Is &lt;i&gt;this&lt;/i&gt; safe?" in text
    assert "a speaks." in text
    assert moot.folder.name not in text, "nor does it say where models are read from"
    again = moot("share", one, "--html", str(file))
    assert (again.code, "exists already" in again.err) == (2, True)


def test_a_question_is_asked_after_a_debate(moot: Moot):
    one = a_debate(moot)
    model = moot.script({"*/speak/*": "{seat} speaks."})
    done = moot("And for two?", "--follows", one[:8], "--format", "classic", "--rounds", "1", "--model", model)
    assert done.code == 0, done.err
    (two,) = [each for each in moot.ids if each != one]
    assert f"Asked after {one[:8]}" in moot("show", two).err
    assert f"Asked further: {two[:8]}" in moot("show", one).err
    assert listed(moot, "--follows", one[:8]) == [two]
    assert moot.sql("select follows from debate_sessions where id = ?", two) == [(one,)]
    missing = moot("And?", "--follows", "00000000", "--format", "classic", "--model", model)
    assert missing.code == 2
    assert len(moot.ids) == 2
