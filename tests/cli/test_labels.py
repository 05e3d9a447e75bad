"""`moot rename`, `moot pin`, `moot tag` and `moot archive`, with the real executable."""

from __future__ import annotations

import json

from tests.cli.conftest import Moot
from tests.cli.test_delete import a_debate


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


def test_labels_go_with_an_export(moot: Moot, tmp_path):
    one = a_debate(moot)
    moot("rename", one, "Mine")
    moot("tag", one, "kept")
    moot("export", one, "--out", str(tmp_path / "one.jsonl"))
    moot("import", str(tmp_path / "one.jsonl"), "--db", str(tmp_path / "other.db"))
    (there,) = json.loads(moot("list", "--json", "--db", str(tmp_path / "other.db")).out)["debates"]
    assert (there["title"], there["tags"], there["pinned"]) == ("Mine", ["kept"], False)
